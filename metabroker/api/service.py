"""What the API needs of the daemon: the one interface between them.

Writing calls return futures that are done when the change is durable in the store; reading calls
are plain, thread-safe, and may be called from any thread. A call that cannot be carried out
raises (or its future holds) a `ServiceError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from metabroker.access.secret import Scope
from metabroker.submission.model import Caller, Submission

Json = dict[str, Any]


class Failure(Enum):
    """Why a request was not carried out, as the HTTP status that says so."""

    INVALID = 400
    UNAUTHENTICATED = 401
    FORBIDDEN = 403
    NOT_FOUND = 404
    TOO_SLOW = 408
    CONFLICT = 409
    TOO_LARGE = 413
    ENCODED = 415
    TOO_OFTEN = 429
    UNAVAILABLE = 503
    UNDECIDED = 504  # it may be carried out yet


class ServiceError(Exception):
    """A request that was refused: what is wrong, and what to do about it.

    `headers`: what the answer says besides, such as when to come again.
    """

    def __init__(
        self,
        failure: Failure,
        message: str,
        advice: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.message = message
        self.advice = advice
        self.headers = dict(headers or {})


@dataclass(frozen=True, slots=True)
class Bearer:
    """Who holds a token, and what it is good for."""

    caller: Caller
    scope: Scope


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A token that somebody asks for. `user`: for whom; None: for oneself. `seconds`: how long it
    is good for."""

    scope: Scope
    seconds: int
    user: str | None = None
    name: str = ""


class TokenService(Protocol):
    """The daemon's tokens as the API sees them. All calls may block; all raise `ServiceError`."""

    def check(self, text: str) -> Bearer:
        """Who holds this token. Refused as UNAUTHENTICATED if it is not, or no longer, good."""

    def create(self, caller: Caller, wish: TokenRequest) -> Json:
        """A new one: its object (`"id", "user", "name", "scope", "created", "created_by",
        "expires", "last_used", "revoked"`) with the `"token"` itself, told this once."""

    def listed(self, caller: Caller, *, user: str | None, all_users: bool) -> list[Json]:
        """The objects of the caller's tokens; an administrator may ask for others'."""

    def revoke(self, caller: Caller, id: str) -> Json:
        """Good for nothing from now on; its object."""


class Service(Protocol):
    """The daemon as the API sees it. Job and cluster objects are those of contracts C1 and C2."""

    def submit(self, caller: Caller, submission: Submission) -> Future[Json]:
        """Queue a job; done when it is durable. The same `request_id` gives the same job again."""

    def dry_run(self, caller: Caller, submission: Submission) -> Future[Json]:
        """Where and when the job would run now, and why; nothing is queued.

        Answers `{"dry_run": true, "starts_now": bool, "queue": str, "position": int,
        "components": [{"index", "cluster", "processors"}], "earliest_start": float | null,
        "reason": str}`.
        """

    def cancel(self, caller: Caller, job: int) -> Future[Json]:
        """Cancel one job; answers its object after the request is durable."""

    def hold(self, caller: Caller, job: int) -> Future[Json]:
        """Hold one waiting job; answers its object."""

    def release(self, caller: Caller, job: int) -> Future[Json]:
        """Release one held job to its queue's tail; answers its object."""

    def abandon(self, caller: Caller, job: int) -> Future[Json]:
        """Write off what clusters hold of one job and cannot be brought to an end; answers its
        object. For administrators."""

    def job(self, job: int) -> Json:
        """One job with its components, attempts and its history of events (`"events": [...]`)."""

    def active(self, *, user: str | None = None, limit: int | None = None) -> list[Json]:
        """Jobs that have not ended, in order of id, each with the reason why it waits."""

    def ended(
        self,
        *,
        user: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
    ) -> list[Json]:
        """Jobs that have ended, newest last; times in Unix seconds."""

    def ended_future(self, job: int) -> Future[Json]:
        """Done with the job's object once it has ended; at once if it has ended before.

        A future and not a call that blocks, so that thousands may wait without a thread each.
        The API cancels it when nobody waits any more; whoever completes it must bear with that
        (`Future.set_running_or_notify_cancel`).
        """

    def clusters(self) -> list[Json]:
        """Each cluster with its processors, health and the age of what is known of it; where the
        broker stands by and none leads, `"reachable"` is null."""

    def status(self) -> Json:
        """The daemon itself: version, instance, policy, uptime, owed effects, queue lengths, and
        its part among the brokers of its store: `"role"` ("leader" or "standby"), `"leader"` (the
        name of the one that leads; null: none, or no other is possible) and `"term"`. One that
        stands by adds `"answered"`: whether the numbers are the leader's, else they are empty."""

    def leftovers(self) -> Json:
        """After a restore, what clusters show that nobody remembers: `{"restored": {...} | null,
        "leftovers": [{"name", "cluster", "job", "attempt", "component", "known", "state",
        "processors", "native_id", "hosts", "start_time", "since", "removing"}]}`."""

    def remove_leftovers(self, caller: Caller, names: list[str] | None) -> Json:
        """Have those of these names removed, or all (None); answers them. For administrators."""

    def overview(self) -> Json:
        """All at one moment, as a page shows it: `{"time", "status": {...}, "clusters": [...],
        "reservations": [...], "jobs": [...]}`, with the jobs under way and the first ones of each
        queue, in this order."""
