"""What every request passes before it is served: who asks, whether they may, how often, and the
audit log's lines.

On the Unix socket the kernel says who asks, and no header is believed; over TLS a token does.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler

from metabroker.access.audit import AuditError, AuditLog
from metabroker.access.rates import Buckets, Rate, TooOften
from metabroker.access.secret import Scope
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Caller

from .actions import Action, action_of
from .calls import DRY_RUN
from .fair_executor import FairExecutor
from .identity import NoName, UserNames, peer_uid
from .peers import host
from .service import Bearer, Failure, ServiceError, TokenService

_FAILURES = Rate(per_second=0.5, burst=20)  # of one address, each with a line and an answer

# Of one user, in the audit log: refusals, and changes other than submissions, which have rates of
# their own. So one user's lines fill at most some hundred megabytes in a day.
_REFUSALS = Rate(per_second=2.0, burst=1000)
_CHANGES = Rate(per_second=10.0, burst=5000)
_KILOBYTES = Rate(2048.0, 1 << 19)  # of one user's submissions

CALLER = web.RequestKey("caller", Caller)
"""Who asks, for the handlers."""
ABOUT: web.RequestKey[dict[str, Any]] = web.RequestKey("about", dict)
"""What a handler has found out for the audit log."""

log = logging.getLogger(__name__)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RateLimits:
    """How often one user may ask; None: as often as they like."""

    requests: Rate | None = None
    submissions: Rate | None = None


@dataclass(slots=True)
class _RequestContext:
    """One request: where it comes from, and who asks, as soon as that is known."""

    action: Action
    address: str | None  # None: the Unix socket
    uid: int | None = None
    caller: Caller | None = None
    request: str | None = None  # its number in the audit log
    told: bool = True  # a refusal of it is worth a line

    def origin(self) -> str:
        """Whose turn it is, before it is known who asks."""
        return f"uid {self.uid}" if self.address is None else host(self.address)

    def who(self) -> dict[str, Any]:
        """As the audit log tells it."""
        caller = self.caller
        return {
            "user": None if caller is None else caller.user,
            "uid": self.uid if caller is None else caller.uid,
            **({"token": caller.token} if caller is not None and caller.token else {}),
            "from": self.address or "socket",
        }


class Middleware:
    """The middleware, and what it remembers. `admit` may run in any thread."""

    def __init__(
        self,
        *,
        tokens: TokenService | None = None,
        audit: AuditLog | None = None,
        rates: RateLimits | None = None,
        refused: Callable[[str], None] = lambda _why: None,
        admits: Callable[[Caller, str], None] = lambda _caller, _action: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `tokens` nobody comes over TLS; without `audit` nothing is written down.

        `refused` is told each refusal's reason, in a word. `admits` says whether a caller may ask
        for such an action at all, before anything of the request is read: it raises `ServiceError`.
        """
        self.tokens = tokens
        self.names = UserNames()
        self._audit = audit
        self._refused = refused
        self._admits = admits
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = Buckets(_FAILURES)
        self._rejected = Buckets(_FAILURES)
        self._refusals = Buckets(_REFUSALS)
        self._changes = Buckets(_CHANGES)
        self._kilobytes = Buckets(_KILOBYTES)
        self.set_rates(rates or RateLimits())

    def set_rates(self, rates: RateLimits) -> None:
        """Go by these from now on."""
        with self._lock:
            self._rates = rates
            self._requests = None if rates.requests is None else Buckets(rates.requests)
            self._submissions = None if rates.submissions is None else Buckets(rates.submissions)

    def middleware(self, executor: Executor, admitting: FairExecutor) -> Any:
        """For the application. What may block runs in threads: who asks is found out in those of
        `admitting`, by turns, since a look at a name may take long; what was done is written down
        in `executor`, which is ended only once that is done."""

        @web.middleware
        async def received(request: web.Request, handler: Handler) -> web.StreamResponse:
            context = _RequestContext(action_of(request), _address(request))

            def call(work: Callable[[], _T]) -> asyncio.Future[_T]:
                return asyncio.get_running_loop().run_in_executor(executor, work)

            try:
                _origin(request, context)
                header = request.headers.get("Authorization", "")
                admit = functools.partial(self.admit, context, header)
                request[CALLER] = await admitting.call(context.origin(), admit)
                _plain(request)
                response = await handler(request)
            except asyncio.CancelledError:
                # Who asked has gone. A change that was handed over goes on without them.
                self._count_refusal(context)
                # In a thread, since the log's disk may hang; nobody is there to wait for it.
                about, why = request.get(ABOUT, {}), "the caller left before the answer"
                call(lambda: self._ended(context, about, "unknown", why)).add_done_callback(_heard)
                raise
            except Exception as error:
                outcome, why, reason = _told(error)
                about = request.get(ABOUT, {})
                await asyncio.shield(
                    call(lambda: self._failed(context, about, outcome, why, reason))
                )
                raise
            if context.request is not None:
                about = request.get(ABOUT, {})
                await asyncio.shield(call(lambda: self._ended(context, about, "done", "")))
            return response

        return received

    def admit(self, context: _RequestContext, header: str) -> Caller:
        """Who asks, if it may be. Raises `ServiceError`."""
        now = self._clock()
        if context.address is None:
            assert context.uid is not None
            uid = context.uid
            context.caller = _named(lambda: self.names.caller(uid))
            scope = Scope.SUBMIT
        else:
            bearer = self._bearer(context, context.address, header, now)
            context.caller, scope = bearer.caller, bearer.scope
        self._not_too_often(context, context.caller, now)
        if context.action.scope is Scope.SUBMIT and scope is Scope.READ:
            raise ServiceError(
                Failure.FORBIDDEN,
                f"token {context.caller.token} allows reading only",
                "use a token made with --scope submit",
            )
        if context.action.local and context.address is not None:
            raise ServiceError(
                Failure.FORBIDDEN,
                "a token cannot manage tokens",
                "log in on the daemon's host, and use its socket",
            )
        self._admits(context.caller, context.action.name)
        if context.action.changes and self._audit is not None:
            action = context.action
            try:
                context.request = self._audit.asked(context.who(), action.name, action.about)
            except AuditError as error:
                advice = "try again later; nothing was changed"
                raise ServiceError(Failure.UNAVAILABLE, str(error), advice) from error
        return context.caller

    def rejected(self, uid: int | None, address: str | None, why: str) -> Callable[[], None] | None:
        """A connection was ended before it asked for anything, or anything more. What writes the
        audit log's line of it, which may block; None: it has none."""
        self._refused(why.partition(":")[0].replace(" ", "_"))
        key = host(address) if address is not None else f"uid {uid}"
        with self._lock:
            refusal = self._rejected.take(key, self._clock())
        audit = self._audit
        if audit is None or (refusal is not None and not refusal.worth_telling):
            return None
        who = {"user": None, "uid": uid, "from": address or "socket"}
        times = "" if refusal is None else _times(refusal)
        return lambda: audit.told(None, who, "connect", {}, "refused", f"{why}{times}")

    def _bearer(self, context: _RequestContext, address: str, header: str, now: float) -> Bearer:
        kind, _, text = header.partition(" ")
        try:
            if kind.lower() != "bearer" or self.tokens is None:
                raise ServiceError(
                    Failure.UNAUTHENTICATED,
                    "there is no token in the request",
                    "make one on the daemon's host: metabroker token create",
                    {"WWW-Authenticate": 'Bearer realm="metabroker"'},
                )
            tokens = self.tokens
            return _named(lambda: tokens.check(text.strip()))
        except ServiceError as error:
            if error.failure is Failure.UNAVAILABLE:
                raise
            # A right token is never kept waiting: others may ask from the same host.
            with self._lock:
                refusal = self._failures.take(host(address), now)
            if refusal is None:
                raise
            context.told = refusal.worth_telling
            raise _too_often("wrong tokens from this address", _FAILURES, refusal) from error

    def _not_too_often(self, context: _RequestContext, caller: Caller, now: float) -> None:
        if caller.uid == 0:  # root, whom the socket lets in as well; never by a token
            return
        for what, rate, buckets in (
            ("requests", self._rates.requests, self._requests),
            ("submissions", self._rates.submissions, self._submissions),
        ):
            if rate is None or buckets is None or (what == "submissions" and not _submits(context)):
                continue
            with self._lock:
                refusal = buckets.take(caller.user, now)
            if refusal is not None:
                context.told = refusal.worth_telling
                raise _too_often(f"{what} of {caller.user}", rate, refusal)
        if context.action.changes:
            self._room_in_the_log(context, caller, now)

    def weigh(self, caller: Caller, size: int) -> None:
        """A submission of so many bytes is about to be taken: scripts are kept for long, also of
        jobs that were cancelled. Raises `ServiceError`: they are too many."""
        with self._lock:
            amount = max(1.0, size / 1024)
            refusal = self._kilobytes.take(caller.user, self._clock(), amount)
        if refusal is not None and caller.uid != 0:
            raise _too_often(f"kilobytes of submissions of {caller.user}", _KILOBYTES, refusal)

    def _room_in_the_log(self, context: _RequestContext, caller: Caller, now: float) -> None:
        """A change has two lines, whatever comes of it; who makes too many makes no more."""
        with self._lock:
            what, rate, refusal = f"refused requests of {caller.user}", _REFUSALS, None
            if self._refusals.level(caller.user, now) < 1.0:
                refusal = self._refusals.take(caller.user, now)
            elif not _submits(context):
                what, rate = f"changes of {caller.user}", _CHANGES
                refusal = self._changes.take(caller.user, now)
        if refusal is not None:
            context.told = refusal.worth_telling
            raise _too_often(what, rate, refusal)

    def _count_refusal(self, context: _RequestContext) -> None:
        """One more of a user, whose line may be one too many."""
        if context.caller is None or not context.told:
            return
        with self._lock:
            refusal = self._refusals.take(context.caller.user, self._clock())
        context.told = refusal is None or refusal.worth_telling

    def _failed(
        self,
        context: _RequestContext,
        about: Mapping[str, Any],
        outcome: str,
        why: str,
        reason: str,
    ) -> None:
        if outcome == "refused":
            self._refused(why)
            self._count_refusal(context)
        if context.told or context.request is not None:
            self._ended(context, about, outcome, reason)

    def _ended(
        self, context: _RequestContext, about: Mapping[str, Any], outcome: str, reason: str
    ) -> None:
        """Tell of a change's outcome, and of every refusal."""
        if self._audit is None or (context.request is None and outcome != "refused"):
            return
        action, who = context.action, context.who()
        told = {**action.about, **about}
        self._audit.told(context.request, who, action.name, told, outcome, reason)


def _plain(request: web.Request) -> None:
    """Nothing is unpacked: a few bytes may be gigabytes."""
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise ServiceError(
            Failure.ENCODED,
            "the request's body is compressed, which is not supported",
            "send it uncompressed",
        )


def _named(look: Callable[[], _T]) -> _T:
    """Who it is. A request of somebody whose name cannot be told now is not carried out."""
    try:
        return look()
    except NoName as error:
        raise ServiceError(
            Failure.UNAVAILABLE,
            f"your user name cannot be looked up now: {error}",
            "try again later",
        ) from error


def _submits(context: _RequestContext) -> bool:
    """A dry run costs as much."""
    return context.action.name in ("submit", DRY_RUN.name)


def _address(request: web.Request) -> str | None:
    """The far end over TLS; None for the Unix socket."""
    peer = _transport(request).get_extra_info("peername")
    return f"{peer[0]}" if isinstance(peer, tuple) else None


def _origin(request: web.Request, context: _RequestContext) -> None:
    if context.address is None:
        context.uid = peer_uid(_transport(request).get_extra_info("socket"))


def _transport(request: web.Request) -> asyncio.Transport:
    if request.transport is None:
        raise ServiceError(Failure.UNAVAILABLE, "the connection is closed")
    return request.transport


def _too_often(what: str, rate: Rate, refusal: TooOften) -> ServiceError:
    seconds = max(1, math.ceil(refusal.wait))
    return ServiceError(
        Failure.TOO_OFTEN,
        f"too many {what}: {rate.per_second:g} a second are allowed, and {rate.burst} at once",
        f"try again in {seconds} s",
        {"Retry-After": str(seconds)},
    )


def _times(refusal: TooOften) -> str:
    return f" ({refusal.refused} times in a row)"


def _told(error: Exception) -> tuple[str, str, str]:
    """Outcome, reason in a word, and reason as the audit log tells them. What is wrong with a
    submission is not told in its words: they may quote it."""
    if isinstance(error, SubmissionError):
        return "refused", "invalid", "the submission is not valid"
    if isinstance(error, ServiceError):
        why = error.failure.name.lower()
        if error.failure is Failure.UNDECIDED:
            return "unknown", why, error.message
        if error.failure is Failure.INVALID:
            return "refused", why, "the request is not valid"
        return "refused", why, error.message
    if isinstance(error, web.HTTPException):
        why = "too_large" if error.status == 413 else "invalid"
        return "refused", why, f"{error.status} {error.reason}"
    return "unknown", "error", type(error).__name__


def _heard(written: asyncio.Future[None]) -> None:
    """Nobody waits for a line of the audit log of one who has left."""
    error = None if written.cancelled() else written.exception()
    if error is not None:
        log.error("the audit log: %s", error)
