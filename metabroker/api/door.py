"""How many may be connected at a time: the daemon keeps files to work with, whoever comes.

A connection costs a file descriptor, and a daemon without descriptors can neither write its store
nor run a command. So half of what the system allows is the most for all connections together, and
half of that for one user. Root is always let in.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from collections.abc import Callable
from typing import cast

from metabroker.api.answers import encode
from metabroker.api.identity import peer_uid

_LEAST = 16


def usual_limit() -> int:
    """Half of the open files that this process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(_LEAST, soft // 2) if soft > 0 else 65536


class Door:
    """Makes the protocol of each connection, and counts them. For one event loop's thread."""

    def __init__(self, protocol: Callable[[], asyncio.Protocol], most: int) -> None:
        """`protocol` makes the one that serves; `most`: of all connections together."""
        self._protocol = protocol
        self._most = most
        self._open: Counter[int] = Counter()

    def __call__(self) -> asyncio.Protocol:
        return _Guarded(self, self._protocol())

    def enter(self, uid: int) -> bool:
        """Count one more connection of user `uid`; False if there is no room for it."""
        full = self._open.total() >= self._most or self._open[uid] >= max(1, self._most // 2)
        if full and uid != 0:
            return False
        self._open[uid] += 1
        return True

    def leave(self, uid: int) -> None:
        """Count one connection less."""
        self._open[uid] -= 1
        if not self._open[uid]:
            del self._open[uid]


class _Guarded(asyncio.Protocol):
    """Passes everything on to the protocol inside, once its user was let in."""

    def __init__(self, door: Door, inside: asyncio.Protocol) -> None:
        self._door = door
        self._inside: asyncio.Protocol | None = inside
        self._uid = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._uid = peer_uid(transport.get_extra_info("socket"))
        if self._inside is not None and self._door.enter(self._uid):
            self._inside.connection_made(transport)
            return
        self._inside = None
        writing = cast(asyncio.Transport, transport)
        writing.write(_FULL)
        writing.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._inside is not None:
            self._door.leave(self._uid)
            self._inside.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._inside is not None:
            self._inside.data_received(data)

    def eof_received(self) -> bool | None:
        return None if self._inside is None else self._inside.eof_received()

    def pause_writing(self) -> None:
        if self._inside is not None:
            self._inside.pause_writing()

    def resume_writing(self) -> None:
        if self._inside is not None:
            self._inside.resume_writing()


_BODY = encode(
    {"error": "the daemon has too many connections", "advice": "wait for fewer jobs at a time"}
)
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)
