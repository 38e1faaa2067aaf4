"""How many may be connected at a time, and for how long without asking anything.

A connection costs a file descriptor, and a daemon without descriptors can neither write its store
nor run a command. So half of what the system allows is the most for all connections together, and
half of that for one user, or one address. Root is always let in by the Unix socket. Where the API
is served over TLS too, either way has one half of all connections, so that nobody from afar shuts
out those who are here.

A request must come whole, its body apart, within some seconds; an answer must be taken.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from collections.abc import Callable
from ssl import SSLContext
from typing import cast

from metabroker.api.answers import encode
from metabroker.api.identity import peer_uid

_LEAST = 16
HEAD = 15.0  # seconds for a handshake, and for a request's head once it may be sent
_STALLED = 120.0  # seconds in which nothing of an answer is taken

TurnedAway = Callable[[int | None, str | None, str], None]
"""Told the user id or the address of a connection that was ended, and why."""


def usual_limit() -> int:
    """Half of the open files that this process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(_LEAST, soft // 2) if soft > 0 else 65536


class Door:
    """Makes the protocol of each connection, and counts them. For one event loop's thread."""

    def __init__(
        self,
        protocol: Callable[[], asyncio.Protocol],
        most: int,
        *,
        turned_away: TurnedAway = lambda _uid, _address, _why: None,
        head: float = HEAD,
    ) -> None:
        """`protocol` makes the one that serves; `most`: of all connections together; `head`:
        seconds for a request's head."""
        self._protocol = protocol
        self._most = most
        self._open: Counter[int | str] = Counter()
        self._guarded: dict[asyncio.Protocol, _Guarded] = {}
        self.turned_away = turned_away
        self.head = head

    def __call__(self) -> asyncio.Protocol:
        return _Guarded(self, self._protocol())

    def guarded(self, address: str) -> asyncio.Protocol:
        """The protocol of a connection from `address` that was let in, and counted, already."""
        return _Guarded(self, self._protocol(), address)

    def over_tls(self, context: Callable[[], SSLContext]) -> Callable[[], asyncio.Protocol]:
        """Makes the protocol of a connection that begins with a handshake."""
        return lambda: _Shaking(self, context)

    def over_tcp(self) -> Callable[[], asyncio.Protocol]:
        """Makes the protocol of a connection without TLS: for what may be known to all there."""
        return lambda: _Plain(self)

    def enter(self, who: int | str) -> bool:
        """Count one more connection of a user's id, or an address; False if there is no room."""
        full = self._open.total() >= self._most or self._open[who] >= max(1, self._most // 2)
        if full and who != 0:
            return False
        self._open[who] += 1
        return True

    def leave(self, who: int | str) -> None:
        """Count one connection less."""
        self._open[who] -= 1
        if not self._open[who]:
            del self._open[who]

    def asked(self, protocol: asyncio.Protocol) -> None:
        """A request's head has come."""
        if (guarded := self._guarded.get(protocol)) is not None:
            guarded.asked()

    def answered(self, protocol: asyncio.Protocol) -> None:
        """It was answered: the next one may come."""
        if (guarded := self._guarded.get(protocol)) is not None:
            guarded.answered()

    def serves(self, protocol: asyncio.Protocol, guarded: _Guarded | None) -> None:
        """Which connection a protocol serves; None: none any more."""
        if guarded is None:
            self._guarded.pop(protocol, None)
        else:
            self._guarded[protocol] = guarded


class _Guarded(asyncio.Protocol):
    """Passes everything on to the protocol inside, once its user was let in."""

    def __init__(self, door: Door, inside: asyncio.Protocol, address: str | None = None) -> None:
        self._door = door
        self._inside: asyncio.Protocol | None = inside
        self._address = address
        self._uid: int | None = None
        self._transport: asyncio.Transport | None = None
        self._late: asyncio.TimerHandle | None = None
        self._idle = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if self._address is None:
            self._uid = peer_uid(transport.get_extra_info("socket"))
        if self._inside is not None and (self._uid is None or self._door.enter(self._uid)):
            self._door.serves(self._inside, self)
            self._expect(self._door.head)
            self._inside.connection_made(transport)
            return
        self._inside = None
        self._door.turned_away(self._uid, None, "too many connections")
        self._transport.write(_FULL)
        self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(None)
        if self._inside is not None:
            self._door.serves(self._inside, None)
            who = self._address if self._uid is None else self._uid
            assert who is not None
            self._door.leave(who)
            self._inside.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._inside is None:
            return
        if self._idle and self._late is None:  # what an idle connection may take, others say
            self._expect(self._door.head)
        self._inside.data_received(data)

    def eof_received(self) -> bool | None:
        return None if self._inside is None else self._inside.eof_received()

    def pause_writing(self) -> None:
        if self._inside is not None:
            self._expect(_STALLED, "too slow: the answer is not taken")
            self._inside.pause_writing()

    def resume_writing(self) -> None:
        if self._inside is not None:
            self._expect(None)
            self._inside.resume_writing()

    def asked(self) -> None:
        """A request's head has come."""
        self._idle = False
        self._expect(None)

    def answered(self) -> None:
        """The next request may come."""
        self._idle = True

    def _expect(
        self, seconds: float | None, why: str = "too slow: no whole request in time"
    ) -> None:
        """End the connection unless something happens within so many seconds; None: it has."""
        if self._late is not None:
            self._late.cancel()
            self._late = None
        if seconds is not None:
            loop = asyncio.get_running_loop()
            self._late = loop.call_later(seconds, self._end, why)

    def _end(self, why: str) -> None:
        self._late = None
        self._door.turned_away(self._uid, self._address, why)
        if self._transport is not None:
            self._transport.abort()


class _Plain(asyncio.Protocol):
    """A connection over TCP that has just come."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        address = str(transport.get_extra_info("peername")[0])
        writing = cast(asyncio.Transport, transport)
        if not self._door.enter(address):
            self._door.turned_away(None, address, "too many connections")
            writing.abort()
            return
        guarded = self._door.guarded(address)
        writing.set_protocol(guarded)
        guarded.connection_made(writing)


class _Shaking(asyncio.Protocol):
    """A connection before its TLS handshake. It is counted from its first moment on."""

    def __init__(self, door: Door, context: Callable[[], SSLContext]) -> None:
        self._door = door
        self._context = context
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        address = str(transport.get_extra_info("peername")[0])
        writing = cast(asyncio.Transport, transport)
        if not self._door.enter(address):
            self._door.turned_away(None, address, "too many connections")
            writing.abort()
            return
        self._task = asyncio.get_running_loop().create_task(self._shake(writing, address))

    async def _shake(self, transport: asyncio.Transport, address: str) -> None:
        guarded = self._door.guarded(address)
        loop = asyncio.get_running_loop()
        try:
            secured = await loop.start_tls(
                transport,
                guarded,
                self._context(),
                server_side=True,
                ssl_handshake_timeout=self._door.head,
            )
        except (OSError, TimeoutError) as error:  # SSLError is an OSError
            self._door.leave(address)
            self._door.turned_away(None, address, f"tls: {_reason(error)}")
            transport.abort()
            return
        if secured is None:
            self._door.leave(address)
            return
        guarded.connection_made(secured)


def _reason(error: OSError) -> str:
    """Why a handshake failed, in words that quote nothing of what came."""
    return str(getattr(error, "reason", None) or error.strerror or type(error).__name__)


_BODY = encode(
    {"error": "the daemon has too many connections", "advice": "wait for fewer jobs at a time"}
)
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)
