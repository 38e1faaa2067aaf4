"""What the API needs of the daemon: the one interface between them.

A call that cannot be carried out raises, or its future holds, a `ServiceError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from metabroker.access.secret import Scope
from metabroker.errors import AdvisedError
from metabroker.submission.model import Caller

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


class ServiceError(AdvisedError):
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
        super().__init__(message, advice)
        self.failure = failure
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

    def create(self, caller: Caller, wanted: TokenRequest) -> Json:
        """A new one: its object (`"id", "user", "name", "scope", "created", "created_by",
        "expires", "last_used", "revoked"`) with the `"token"` itself, told this once."""

    def listed(self, caller: Caller, *, user: str | None, all_users: bool) -> list[Json]:
        """The objects of the caller's tokens; an administrator may ask for others'."""

    def revoke(self, caller: Caller, id: str) -> Json:
        """Good for nothing from now on; its object."""


NOBODY = Caller(-1, "")
"""Who asks where the daemon itself does: it may only read."""


class Service(Protocol):
    """The daemon as the API sees it."""

    def call(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Future[Json]:
        """Carry out a call of `metabroker.api.calls`, as `metabroker.service.service` says of each.

        What is read is there when this returns; a change is done when it is durable, and a wait
        when the job has ended. Who waits may cancel the future. From any thread.
        """


def read(service: Service, name: str, **arguments: Any) -> Json:
    """What a call that only reads answers. Raises `ServiceError`."""
    return service.call(NOBODY, name, arguments).result()


def answered(answer: Json) -> Future[Json]:
    """An answer that is there."""
    future: Future[Json] = Future()
    future.set_result(answer)
    return future
