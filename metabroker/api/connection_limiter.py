"""How many may be connected at a time, and for how long without asking anything.

A connection costs a file descriptor, and a daemon without descriptors can neither write its store
nor run a command. So there are at most so many connections, and one user, or one host elsewhere,
has at most half of them. When all are taken, whoever has fewer than another still gets in: the one
who has the most loses one, idle ones first, then one that is only reading, or whose request has not
come whole; a change under way is never ended. So neither two users nor two hundred can shut out
another. Root is always let in by the Unix socket.
Where the API is served over TLS too, either way has one half of all connections.

A request must come whole, its body apart, within some seconds; an answer must be taken, and of one
user not very many may wait for that at a time (`stalled`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from ssl import SSLContext
from typing import cast

from metabroker import openfiles

from .answers import encode
from .peers import Who, who
from .stalled import Stalled

_MOST = 8192  # connections: each takes some memory too
HEAD = 15.0  # seconds for a handshake, and for a request's head once it may be sent
_STALLED = 120.0  # seconds in which nothing of an answer is taken

TurnedAway = Callable[[int | None, str | None, str], None]
"""Told the user id or the address of a connection that was ended, and why."""


def usual_limit() -> int:
    """Half of the open files that this process may have."""
    return openfiles.share(2, _MOST)


class Busy(IntEnum):
    """What a connection is doing, in the order in which it may be ended for another user's."""

    IDLE = 0  # nothing has been asked, or not yet whole
    READING = 1
    CHANGING = 2  # never


@dataclass(eq=False, slots=True)
class Admitted:
    """A connection that was let in: whose it is, what it does, and how it is ended."""

    who: Who
    end: Callable[[str], None]
    address: str | None = None
    busy: Busy = Busy.IDLE


class ConnectionLimiter:
    """Makes the protocol of each connection, and counts them. For one event loop's thread."""

    def __init__(
        self,
        protocol: Callable[[], asyncio.Protocol],
        most: int,
        *,
        rejected: TurnedAway = lambda _uid, _address, _why: None,
        head: float = HEAD,
    ) -> None:
        """`protocol` makes the one that serves; `most`: of all connections together; `head`:
        seconds for a request's head."""
        self._protocol = protocol
        self._most = most
        self._share = max(1, most // 2)
        self._total = 0
        self._places: dict[Who, dict[Admitted, None]] = {}  # the oldest first
        self._guarded: dict[asyncio.Protocol, _Guarded] = {}
        self.stalled = Stalled()
        self._rejected = rejected
        self.head = head

    def __call__(self) -> asyncio.Protocol:
        """The protocol of a connection that speaks HTTP from its first byte on."""
        return self.guarded()

    def guarded(self, place: Admitted | None = None) -> _Guarded:
        """The same; of one that was let in already, with its place."""
        return _Guarded(self, self._protocol(), place)

    def over_tls(self, context: Callable[[], SSLContext]) -> Callable[[], asyncio.Protocol]:
        """Makes the protocol of a connection that begins with a handshake."""
        return lambda: _Handshake(self, context)

    def admit(
        self, transport: asyncio.BaseTransport, end: Callable[[str], None]
    ) -> Admitted | None:
        """A place for a connection that has just come; None: there is none."""
        try:
            whose = who(transport)
        except OSError:  # it has gone already
            return None
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if isinstance(peer, tuple) else None
        place = self.enter(whose, end, address)
        if place is None:
            self.turn_away(whose, address, "too many connections")
        return place

    def enter(
        self, whose: Who, end: Callable[[str], None], address: str | None = None
    ) -> Admitted | None:
        """A place for one more connection; None: there is none."""
        mine = self._places.get(whose, {})
        if whose != 0:
            if len(mine) >= self._share:
                return None
            if self._total >= self._most and not self._make_room(len(mine)):
                return None
        place = Admitted(whose, end, address)
        self._places.setdefault(whose, {})[place] = None
        self._total += 1
        return place

    def leave(self, place: Admitted) -> None:
        """Its connection has ended; to say so twice does no harm."""
        mine = self._places.get(place.who, {})
        if place in mine:
            del mine[place]
            self._total -= 1
            if not mine:
                del self._places[place.who]

    def _make_room(self, mine: int) -> bool:
        """End one connection of the user who has the most, if that is more than who asks will
        have: the oldest of those that do the least. False: there is none."""
        others = (places for whose, places in self._places.items() if whose != 0)
        greatest = max(others, key=len, default={})
        found = min(greatest, key=lambda place: place.busy, default=None)
        if found is None or len(greatest) <= mine + 1 or found.busy is Busy.CHANGING:
            return False
        self.leave(found)
        found.end("too many connections: made room for another")
        return True

    def turn_away(self, whose: Who, address: str | None, why: str) -> None:
        """Tell of a connection that was ended, or not let in."""
        self._rejected(whose if isinstance(whose, int) else None, address, why)

    def asked(self, protocol: asyncio.Protocol) -> None:
        """A request's head has come."""
        if (guarded := self._guarded.get(protocol)) is not None:
            guarded.asked()

    def changes(self, protocol: asyncio.Protocol) -> None:
        """All of a request has come, and it changes something."""
        if (guarded := self._guarded.get(protocol)) is not None:
            guarded.changes()

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

    def __init__(
        self, limiter: ConnectionLimiter, inside: asyncio.Protocol, place: Admitted | None = None
    ) -> None:
        self._limiter = limiter
        self._inside: asyncio.Protocol | None = inside
        self._place = place
        self._transport: asyncio.Transport | None = None
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if self._place is None:
            self._place = self._limiter.admit(transport, self._end)
        else:
            self._place.end = self._end
        if self._inside is not None and self._place is not None:
            self._limiter.serves(self._inside, self)
            self._expect(self._limiter.head)
            self._inside.connection_made(transport)
            return
        self._inside = None
        if isinstance(transport.get_extra_info("peername"), tuple):
            self._transport.abort()  # whoever comes from elsewhere is not spoken to
            return
        self._transport.write(_FULL)
        self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(None)
        if self._place is not None:
            self._limiter.stalled.remove(self._place)
            self._limiter.leave(self._place)
        inside, self._inside = self._inside, None
        # What ends the connection refers to this, and its transport to itself: none of it would go
        # before Python's collector of cycles comes by, nor the request that was read.
        self._place = self._transport = None
        if inside is not None:
            self._limiter.serves(inside, None)
            inside.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._inside is None or self._place is None:
            return
        # What an idle connection may take, others say.
        if self._place.busy is Busy.IDLE and self._late is None:
            self._expect(self._limiter.head)
        self._inside.data_received(data)

    def eof_received(self) -> bool | None:
        return None if self._inside is None else self._inside.eof_received()

    def pause_writing(self) -> None:
        if self._inside is not None:
            self._expect(_STALLED, "too slow: the client does not read the answer")
            self._inside.pause_writing()
        if self._place is not None and self._transport is not None:
            self._limiter.stalled.add(self._place, self._transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        if self._inside is not None:
            self._expect(None)
            self._inside.resume_writing()
        if self._place is not None:
            self._limiter.stalled.remove(self._place)

    def asked(self) -> None:
        """A request's head has come."""
        if self._place is not None:
            self._place.busy = Busy.READING
        self._expect(None)

    def changes(self) -> None:
        """A change is under way."""
        if self._place is not None:
            self._place.busy = Busy.CHANGING

    def answered(self) -> None:
        """The next request may come."""
        if self._place is not None:
            self._place.busy = Busy.IDLE

    def _expect(
        self, seconds: float | None, why: str = "too slow: no complete request in time"
    ) -> None:
        """End the connection unless something happens within so many seconds; None: it has."""
        if self._late is not None:
            self._late.cancel()
            self._late = None
        if seconds is not None:
            loop = asyncio.get_running_loop()
            self._late = loop.call_later(seconds, self._end, why)

    def _end(self, why: str) -> None:
        self._expect(None)
        if self._place is not None:
            self._limiter.turn_away(self._place.who, self._place.address, why)
        if self._transport is not None:
            self._transport.abort()


class _Handshake(asyncio.Protocol):
    """A connection before its TLS handshake. It is counted from its first moment on."""

    def __init__(self, limiter: ConnectionLimiter, context: Callable[[], SSLContext]) -> None:
        self._limiter = limiter
        self._context = context
        self._task: asyncio.Task[None] | None = None
        self._why = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        writing = cast(asyncio.Transport, transport)

        def end(why: str) -> None:
            self._why = why
            writing.abort()

        place = self._limiter.admit(transport, end)
        if place is None:
            writing.abort()
            return
        self._task = asyncio.get_running_loop().create_task(self._shake(writing, place))

    async def _shake(self, transport: asyncio.Transport, place: Admitted) -> None:
        guarded = self._limiter.guarded(place)
        loop = asyncio.get_running_loop()
        try:
            secured = await loop.start_tls(
                transport,
                guarded,
                self._context(),
                server_side=True,
                ssl_handshake_timeout=self._limiter.head,
            )
        except (OSError, TimeoutError) as error:  # SSLError is an OSError
            self._limiter.leave(place)
            why = self._why or f"tls: {_reason(error)}"
            self._limiter.turn_away(place.who, place.address, why)
            transport.abort()
            return
        if secured is None or self._why:
            self._limiter.leave(place)
            transport.abort()
            return
        guarded.connection_made(secured)


def _reason(error: OSError) -> str:
    """Why a handshake failed, in words that quote nothing of what came."""
    return str(getattr(error, "reason", None) or error.strerror or type(error).__name__)  # not ours


_BODY = encode(
    {
        "error": "the daemon has too many connections",
        "advice": "run fewer commands at a time, such as `metabroker wait`",
    }
)
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)
