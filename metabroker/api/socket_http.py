"""HTTP over a Unix socket, as much of it as the command line needs.

`http.client` brings `email` and `ssl` with it, which take longer to load than a request does.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from typing import BinaryIO

_BUSY = 5.0  # seconds in which a full queue of connections is tried again
_LONGEST_LINE = 65536
_MOST_HEADERS = 100


class BadReply(Exception):
    """What came is no reply, or not all of it."""


class SocketReply:
    """An answer: its head is read, its body is not yet."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self.status = _status(_line(source))
        while 100 <= self.status < 200:
            _headers(source)
            self.status = _status(_line(source))
        self.headers: Mapping[str, str] = _headers(source)
        self.chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
        length = self.headers.get("content-length", "")
        self.length = int(length) if length.isascii() and length.isdigit() else None
        if self.status in (204, 304):
            self.length = 0

    def header(self, name: str) -> str:
        """A header's value; nothing where it has none."""
        return self.headers.get(name.lower(), "")

    def read(self) -> bytes:
        """The body. Raises `BadReply` where it ends before it should."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes. Raises `BadReply` where it ends before it should."""
        if self.chunked:
            while size := self._chunk():
                yield self._exactly(size)
                self._exactly(2)
            _headers(self._source)
        elif self.length is None:
            yield self._source.read()
        else:
            yield self._exactly(self.length)

    def _chunk(self) -> int:
        text = _line(self._source).partition(b";")[0].strip()
        try:
            return int(text, 16)
        except ValueError:
            raise BadReply("a chunk without a size") from None

    def _exactly(self, size: int) -> bytes:
        found = self._source.read(size)
        if len(found) != size:
            raise BadReply("it ended early")
        return found


class SocketConnection:
    """One request and its reply over the Unix socket at `path`; `timeout` in seconds."""

    def __init__(self, path: str, timeout: float) -> None:
        self._socket = _connected(path, timeout)

    def request(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> None:
        """Send it. Raises `OSError`."""
        fields = {"Host": "localhost", "Accept-Encoding": "identity", **headers}
        if content is not None or method == "POST":
            fields["Content-Length"] = str(len(content or b""))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in fields.items())]
        head = "\r\n".join([*lines, "", ""]).encode("ascii")
        self._socket.sendall(head + (content or b""))

    def reply(self) -> SocketReply:
        """Its answer. Raises `OSError`, `BadReply`."""
        return SocketReply(self._socket.makefile("rb"))

    def close(self) -> None:
        """No more."""
        self._socket.close()


def _connected(path: str, timeout: float) -> socket.socket:
    """Raises `OSError` (`BlockingIOError`: more have come than are being accepted) and
    `ValueError`."""
    give_up = time.monotonic() + _BUSY
    while True:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.settimeout(timeout)
            made.connect(path)
        except BlockingIOError:
            made.close()
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)
        except BaseException:
            made.close()
            raise
        else:
            return made


def _line(source: BinaryIO) -> bytes:
    line = source.readline(_LONGEST_LINE + 1)
    if not line.endswith(b"\n"):
        raise BadReply("it ended early" if len(line) <= _LONGEST_LINE else "a line is too long")
    return line


def _status(line: bytes) -> int:
    version, _, rest = line.partition(b" ")
    code = rest[:3]
    if not version.startswith(b"HTTP/1.") or not code.isdigit() or len(code) < 3:
        raise BadReply("it is not HTTP")
    return int(code)


def _headers(source: BinaryIO) -> dict[str, str]:
    found: dict[str, str] = {}
    for _ in range(_MOST_HEADERS):
        line = _line(source)
        if line in (b"\r\n", b"\n"):
            return found
        name, _, value = line.decode("latin-1").partition(":")
        found[name.strip().lower()] = value.strip()
    raise BadReply("it has too many headers")
