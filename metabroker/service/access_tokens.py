"""The daemon's tokens: made, checked, listed, revoked.

All that are in the store are in memory too, so that a request costs no query. Where other brokers
use the store, a token is read again each time: what one of them revokes holds for all at once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from metabroker.access import secret
from metabroker.api.identity import NoName, UserNames
from metabroker.api.service import Bearer, Failure, Json, ServiceError, TokenRequest
from metabroker.store import StoreUnavailable
from metabroker.store.access_tokens import TokenRow, TokenTable
from metabroker.submission.model import Caller

T = TypeVar("T")

LONGEST = 366 * 86400  # seconds that a token may be good for
_MOST = 100  # live ones of one user
_MOST_OVER = 100  # of one user, good for nothing any more, that are still listed
_REMEMBERED = 90 * 86400.0  # seconds that one is still listed after its end
_NOTED = 60.0  # seconds between two notes of a token's use

log = logging.getLogger(__name__)


class AccessTokens:
    """`metabroker.api.service.TokenService` over the store.

    Raises (when made):
        StoreUnavailable: they cannot be read.
    """

    def __init__(
        self,
        rows: TokenTable,
        clock: Callable[[], float],
        administers: Callable[[Caller], bool],
        *,
        shared: bool = False,
    ) -> None:
        """`administers`: whether a caller may make tokens for others; `shared`: other brokers make
        and revoke tokens in the same store."""
        self._rows = rows
        self._clock = clock
        self._administers = administers
        self._shared = shared
        self._names = UserNames()
        self._lock = threading.Lock()
        self._known = {row.id: row for row in rows.all()}
        self._noted: dict[str, float] = {}

    def check(self, text: str) -> Bearer:
        """Who holds it; see `Tokens`. Why it is refused is told only to who knows its secret."""
        given = secret.parsed(text)
        row = None if given is None else self._row(given.id)
        if given is None or row is None or not given.matches(row.digest):
            raise _refused("the token is not known here", "make a token on the daemon's host: ")
        now = self._clock()
        if row.revoked is not None:
            raise _refused(f"token {row.id} was revoked", "make another: ")
        if now >= row.expires:
            raise _refused(f"token {row.id} has expired", "make another: ")
        uid = self._names.uid(row.user)
        if uid is None:
            raise _refused(
                f"token {row.id} belongs to {row.user}, who is not known on the daemon's host", ""
            )
        if uid == 0:
            raise _refused(f"token {row.id} belongs to root, who may not use tokens", "")
        self._note_use(row, now)
        return Bearer(Caller(uid, row.user, row.id), row.scope)

    def create(self, caller: Caller, wish: TokenRequest) -> Json:
        """A new one; see `Tokens`."""
        user = wish.user or caller.user
        if user != caller.user:
            self._only_administrators(caller, f"make a token for {user!r}")
        self._possible(user, wish)
        now = self._clock()
        made = secret.new()
        row = TokenRow(
            id=made.id,
            user=user,
            name=wish.name,
            scope=wish.scope,
            digest=made.digest,
            created=now,
            created_by=caller.user,
            expires=now + wish.seconds,
        )
        with self._lock:
            self._read_all()
            live = sum(r.user == user and r.live(now) for r in self._known.values())
            if live >= _MOST:
                raise ServiceError(
                    Failure.CONFLICT,
                    f"{user} has {live} tokens already",
                    "revoke some: metabroker token list",
                )
            self._forget_old(now)
            self._forget_many(user, now)
            self._stored(lambda: self._rows.add(row))
            self._known[row.id] = row
        return {**_shown(row), "token": made.text}

    def listed(self, caller: Caller, *, user: str | None, all_users: bool) -> list[Json]:
        """The objects; see `Tokens`."""
        if all_users or user not in (None, caller.user):
            self._only_administrators(caller, "see tokens of others")
        wanted = user or caller.user
        with self._lock:
            self._read_all()
            rows = sorted(self._known.values(), key=lambda row: (row.created, row.id))
        return [_shown(row) for row in rows if all_users or row.user == wanted]

    def revoke(self, caller: Caller, id: str) -> Json:
        """Good for nothing from now on; see `Tokens`."""
        with self._lock:
            self._read_all()
            row = self._known.get(id)
            # Whether another's token exists is nobody's business.
            if row is None or not (row.user == caller.user or self._administers(caller)):
                raise ServiceError(
                    Failure.NOT_FOUND,
                    f"{caller.user} has no token {id[:40]!r}",
                    "list them with: metabroker token list",
                )
            if row.revoked is None:
                row = self._known[id] = replace(row, revoked=self._clock())
            # Written even if it was known before: an earlier try may have failed here.
            at = row.revoked or 0.0
            self._stored(
                lambda: self._rows.revoke(id, at),
                "it is still accepted: repeat this"
                if self._shared
                else "it is refused from now on, but repeat this: after a restart it would be "
                "accepted again",
            )
        return _shown(row)

    def _row(self, id: str) -> TokenRow | None:
        """The token of that id, as it is now."""
        if self._shared:
            return self._stored(lambda: self._rows.one(id))
        return self._known.get(id)

    def _read_all(self) -> None:
        """Know what other brokers have made and revoked. Under the lock."""
        if self._shared:
            self._known = self._stored(lambda: {row.id: row for row in self._rows.all()})

    def _only_administrators(self, caller: Caller, what: str) -> None:
        if not self._administers(caller):
            raise ServiceError(
                Failure.FORBIDDEN,
                f"{caller.user} may not {what}",
                "ask an administrator: users may make tokens for themselves only",
            )

    def _possible(self, user: str, wish: TokenRequest) -> None:
        try:
            uid = self._names.uid(user)
        except NoName as error:
            raise ServiceError(Failure.UNAVAILABLE, str(error), "try again later") from error
        if uid is None:
            raise ServiceError(
                Failure.INVALID,
                f"there is no user {user!r} on the daemon's host",
                "name a user of that host",
            )
        if uid == 0:
            raise ServiceError(
                Failure.FORBIDDEN,
                "root may not have tokens: a stolen one would allow too much",
                "make one for the user who needs it, with --user",
            )
        if not 0 < wish.seconds <= LONGEST:
            raise ServiceError(
                Failure.INVALID,
                f"a token is valid for at most {LONGEST // 86400} days",
                "give a shorter time with --expires",
            )

    def _forget_old(self, now: float) -> None:
        before = now - _REMEMBERED
        old = [
            row.id
            for row in self._known.values()
            if row.expires < before or (row.revoked or now) < before
        ]
        if old:
            self._stored(lambda: self._rows.forget(before))
        for id in old:
            del self._known[id]
            self._noted.pop(id, None)

    def _forget_many(self, user: str, now: float) -> None:
        """Of a user who makes very many, each for a moment, the last alone are still listed."""
        over = [row for row in self._known.values() if row.user == user and not row.live(now)]
        if len(over) <= _MOST_OVER:
            return
        over.sort(key=lambda row: (min(row.expires, row.revoked or row.expires), row.id))
        many = [row.id for row in over[:-_MOST_OVER]]
        self._stored(lambda: self._rows.remove(many))
        for id in many:
            del self._known[id]
            self._noted.pop(id, None)

    def _note_use(self, row: TokenRow, now: float) -> None:
        """When it was last used, to the minute: not every request writes to the store."""
        with self._lock:
            if now - self._noted.get(row.id, -_NOTED) < _NOTED:
                return
            self._noted[row.id] = now
            known = self._known.get(row.id)
            if known is not None:
                self._known[row.id] = replace(known, last_used=now)
        try:
            self._rows.used(row.id, now)
        except StoreUnavailable as error:
            log.warning("the use of token %s cannot be recorded: %s", row.id, error)

    @staticmethod
    def _stored(write: Callable[[], T], advice: str = "try again later; nothing was changed") -> T:
        try:
            return write()
        except StoreUnavailable as error:
            raise ServiceError(Failure.UNAVAILABLE, str(error), advice) from error


def _refused(message: str, advice: str) -> ServiceError:
    how = f"{advice}metabroker token create" if advice else "ask the administrator"
    return ServiceError(
        Failure.UNAUTHENTICATED, message, how, {"WWW-Authenticate": 'Bearer realm="metabroker"'}
    )


def _shown(row: TokenRow) -> dict[str, Any]:
    """All of it but its digest."""
    return {
        "id": row.id,
        "user": row.user,
        "name": row.name,
        "scope": row.scope.value,
        "created": row.created,
        "created_by": row.created_by,
        "expires": row.expires,
        "last_used": row.last_used,
        "revoked": row.revoked,
    }
