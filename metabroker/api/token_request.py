"""The request for a token, as it crosses the daemon's socket. Nothing of it is believed."""

from __future__ import annotations

from metabroker.access.secret import Scope
from metabroker.submission.text import check_line

from .service import Failure, ServiceError, TokenRequest

_KEYS = frozenset({"scope", "seconds", "user", "name"})
_LONGEST_NAME = 100


def token_request(wire: object) -> TokenRequest:
    """What is asked for. Raises `ServiceError`, and `SubmissionError` for a bad name."""
    if not isinstance(wire, dict) or not wire.keys() <= _KEYS:
        raise _wrong("the request must be an object of scope, seconds, user and name")
    scope, seconds = wire.get("scope"), wire.get("seconds")
    user, name = wire.get("user"), wire.get("name", "")
    if scope not in [known.value for known in Scope]:
        raise _wrong("the scope must be read or submit")
    if not isinstance(seconds, int) or isinstance(seconds, bool) or abs(seconds) > 2**40:
        raise _wrong("the seconds must be a whole number")
    if not isinstance(name, str) or not (user is None or isinstance(user, str)):
        raise _wrong("user and name must be text")
    if user is not None:
        check_line("the user's name", user, 255)
    if name:
        check_line("the token's name", name, _LONGEST_NAME)
    return TokenRequest(Scope(scope), seconds, user, name)


def _wrong(what: str) -> ServiceError:
    advice = "use the `metabroker` command of the daemon's own version"
    return ServiceError(Failure.INVALID, what, advice)
