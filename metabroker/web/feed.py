"""One stream of events for all who look: read once, encoded once, at most once in a while.

While nobody looks nothing is read. Who is slow misses what has been replaced meanwhile, so nothing
piles up; and there is a most of viewers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from .one_at_a_time import OneAtATime

Json = dict[str, Any]

log = logging.getLogger(__name__)

EVERY = 1.0  # seconds between two readings, at the least
LATE = 5.0  # seconds after which a reading that goes on is told of
BEAT = 10.0  # seconds after which one that has heard nothing is told that all is well
MOST_VIEWERS = 64


class FeedFull(Exception):
    """There are as many viewers as there may be."""


class NotReadable(Exception):
    """What is shown cannot be read now; the text says why, in words for viewers."""


Read = Callable[[], Json]
"""What is shown, as of now. Raises `NotReadable`."""


class Feed:
    """Reads for its viewers. All but `read` runs in one event loop."""

    def __init__(
        self,
        read: Read,
        executor: Executor,
        *,
        every: float = EVERY,
        beat: float = BEAT,
        late: float = LATE,
        most: int = MOST_VIEWERS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`read` may block, and runs in `executor`."""
        self._read = read
        self._reading, self._aside = OneAtATime(executor), OneAtATime(executor)
        self._every = every
        self._beat = beat
        self._late = late
        self._most = most
        self._clock = clock
        self._told: _Told | None = None
        self._version = 0
        self._viewers = 0
        self._reader: asyncio.Task[None] | None = None
        self._news = asyncio.Condition()

    @contextlib.contextmanager
    def viewer(self) -> Iterator[None]:
        """While somebody looks. Raises `FeedFull`."""
        if self._viewers >= self._most:
            raise FeedFull
        self._viewers += 1
        if self._reader is None:
            self._reader = asyncio.get_running_loop().create_task(self._go_on())
        try:
            yield
        finally:
            self._viewers -= 1
            if self._viewers == 0 and self._reader is not None:
                self._reader.cancel()
                self._reader = None
                self._told = None  # what was known then is old when somebody looks again

    async def after(self, version: int) -> tuple[int, bytes]:
        """The newest event once there is one after `version`, and its version; or a heartbeat."""
        async with self._news:
            try:
                async with asyncio.timeout(self._beat):
                    await self._news.wait_for(
                        lambda: self._told is not None and self._version > version
                    )
            except TimeoutError:
                return version, self.beat()
            assert self._told is not None
            return self._version, self._told.event

    def beat(self) -> bytes:
        """An event that says what time it is here, and so that the stream goes on."""
        return _event("beat", {"now": round(self._clock(), 3)})

    async def aside(self, read: Read) -> Json:
        """Something else that one viewer asks for. Raises `NotReadable`."""
        return await self._aside.call(read)

    async def _go_on(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            reading = asyncio.ensure_future(self._reading.call(self._look))
            try:
                done, _ = await asyncio.wait({reading}, timeout=self._late)
                if not done:
                    await self._publish(_told("trouble", {"trouble": "no answer came in time"}))
                await self._publish(await reading)
            finally:
                reading.cancel()  # nobody looks any more
            await asyncio.sleep(max(0.0, began + self._every - loop.time()))

    async def _publish(self, told: _Told) -> None:
        """Tell it to all viewers, if it is new."""
        if self._told is not None and told.data == self._told.data:
            return
        async with self._news:
            self._told = told
            self._version += 1
            self._news.notify_all()

    def _look(self) -> _Told:
        try:
            return _told("overview", self._read())
        except NotReadable as error:
            return _told("trouble", {"trouble": str(error)})
        except Exception:  # else nobody would be told anything any more
            log.exception("unexpected error in reading for the page")
            return _told("trouble", {"trouble": "an unexpected error; the log says more"})


@dataclass(frozen=True, slots=True)
class _Told:
    data: Json
    event: bytes


def _told(kind: str, data: Json) -> _Told:
    return _Told(data, _event(kind, data))


def _event(kind: str, data: Json) -> bytes:
    """As the standard of server-sent events has it; JSON holds no line break."""
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode("ascii")
