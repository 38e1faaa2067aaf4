"""What comes with a request: never more of it than there is room for, and JSON that is no larger
in memory than it looks.

A few bytes of JSON may be many objects (`[{},{},...`), so what stands in it is counted before any
is made. Bodies larger than most share a room, of which one user has a part.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.client_exceptions import ClientError
from aiohttp.http_exceptions import HttpProcessingError

from metabroker.api.service import Failure, ServiceError

LARGEST = 8 * 1024 * 1024  # bytes of a submission
SMALL = 64 * 1024  # bytes of any other request, and of one that needs no room
_ROOM = 256 * 1024 * 1024  # bytes of all that are larger, at a time
_SHARE = _ROOM // 8  # of one user
DEEPEST = 32  # lists and objects in one another
MOST_PARTS = 300_000  # texts, lists, objects, commas and colons

# A text that does not end goes to the end, so that nothing is looked at twice.
_PART = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},:]', re.DOTALL)
_one_large_at_a_time = threading.Lock()


class Bodies:
    """Reads them. For one event loop's thread."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: in which a body must come."""
        self._seconds = seconds
        self._held: Counter[int] = Counter()

    @asynccontextmanager
    async def of(self, request: web.Request, uid: int, most: int = SMALL) -> AsyncIterator[bytes]:
        """All of a request's body, of at most so many bytes, while it is needed.

        Raises:
            ServiceError: it does not come in time, or is broken, or there is no room for it now.
            HTTPRequestEntityTooLarge: it is larger.
        """
        taken = 0

        def take(size: int) -> None:
            nonlocal taken
            self._take(uid, size)
            taken += size

        try:
            yield await self._read(request, most, take)
        finally:
            self._held[uid] -= taken
            if self._held[uid] <= 0:
                del self._held[uid]

    async def _read(self, request: web.Request, most: int, take: Callable[[int], None]) -> bytes:
        """`take` is told of each part that needs room."""
        if (request.content_length or 0) > most:
            raise web.HTTPRequestEntityTooLarge(most, request.content_length or 0)
        body, taken = bytearray(), 0
        try:
            async with asyncio.timeout(self._seconds):
                async for piece in request.content.iter_any():
                    body += piece
                    if len(body) > most:
                        raise web.HTTPRequestEntityTooLarge(most, len(body))
                    if len(body) > SMALL:
                        take(len(body) - taken)
                        taken = len(body)
        except TimeoutError as error:
            raise ServiceError(
                Failure.TOO_SLOW,
                f"the request did not arrive within {self._seconds:g} s",
                "send it again over a better connection",
            ) from error
        except (HttpProcessingError, ClientError, web.RequestPayloadError) as error:
            raise ServiceError(
                Failure.INVALID, "the request's body is damaged or incomplete", "send it again"
            ) from error
        return bytes(body)

    def _take(self, uid: int, size: int) -> None:
        if uid != 0 and (self._held.total() + size > _ROOM or self._held[uid] + size > _SHARE):
            raise ServiceError(
                Failure.UNAVAILABLE,
                "there are too many large requests now",
                "try again in some seconds, with fewer at a time",
            )
        self._held[uid] += size


def parsed(body: bytes) -> Any:
    """The JSON that it is. Raises `ServiceError`."""
    depth = 0
    for parts, part in enumerate(_PART.finditer(body), 1):
        sign = body[part.start()]
        if sign in b"[{":
            depth += 1
        elif sign in b"]}":
            depth -= 1
        if depth > DEEPEST or parts > MOST_PARTS:
            raise ServiceError(
                Failure.INVALID,
                f"the request is nested more than {DEEPEST} deep, or has too many parts",
                "use the `metabroker` command of the daemon's own version",
            )
    try:
        if len(body) <= SMALL:
            return json.loads(body)
        with _one_large_at_a_time:  # while it is read it takes several times its size
            return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ServiceError(Failure.INVALID, "the request is not JSON", "send JSON") from error
