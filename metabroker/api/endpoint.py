"""How a daemon is reached by its clients: a way to it, a connection for each request, and what can
be wrong with these. This module must import little, as the client's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from metabroker.errors import AdvisedError

from .socket_http import SocketConnection


class ClientError(AdvisedError):
    """A request that was not carried out: what is wrong, and what to do about it."""

    def __init__(
        self,
        message: str,
        advice: str = "",
        status: int | None = None,
        again_after: float | None = None,
    ) -> None:
        """`status`: the daemon's answer as an HTTP status; None where it gave none. `again_after`:
        seconds after which it may be asked again, if it said so."""
        super().__init__(message, advice)
        self.status = status
        self.again_after = again_after


class Unreachable(ClientError):
    """Nobody answers at the socket or address, or not the one who should; nothing was sent."""


class LostReply(ClientError):
    """The request was sent, and no reply came or one that leaves it open: it may or may not have
    been carried out."""


class ClientReply(Protocol):
    """An answer whose head has come: its HTTP status and its headers."""

    status: int
    chunked: bool
    length: int | None
    """Bytes of its body, unless it comes in chunks; None: its head does not say."""

    def header(self, name: str) -> str:
        """A header's value; nothing where it has none."""

    def read(self) -> bytes:
        """The body. Raises `OSError`, `BadReply`."""

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes. Raises `OSError`, `BadReply`."""


class Exchange(Protocol):
    """A connection for one request."""

    def request(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> None:
        """Send it. Raises `OSError`, `BadReply`."""

    def reply(self) -> ClientReply:
        """Its answer. Raises `OSError`, `BadReply`."""

    def close(self) -> None:
        """No more."""


class Endpoint(Protocol):
    """How a daemon is reached."""

    def connection(self, timeout: float) -> Exchange:
        """A connection to it, made. Raises `ClientError`."""

    def headers(self) -> dict[str, str]:
        """What each request says besides."""


class SocketEndpoint:
    """The way over a Unix socket, where the kernel says who asks."""

    def __init__(self, path: str) -> None:
        self._path = path

    def connection(self, timeout: float) -> Exchange:
        try:
            return SocketConnection(self._path, timeout)
        except BlockingIOError as error:
            raise _unreachable(self._path, "it is too busy") from error
        except (OSError, ValueError) as error:
            raise _unreachable(self._path, reason_of(error)) from error

    def headers(self) -> dict[str, str]:
        return {}


def _unreachable(path: str, reason: str) -> Unreachable:
    return Unreachable(
        f"cannot reach the daemon at {path}: {reason}",
        "start it with `metabroker serve --config FILE`, or name its socket with --socket",
    )


def reason_of(error: Exception) -> str:
    """In a few words."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
