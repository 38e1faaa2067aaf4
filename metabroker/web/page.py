"""The page's files and its stream of events, with the headers that keep it from harm.

No text of a user is ever part of a file: all comes as data, which the page's script writes as text.
The policy in the headers lets nothing run that is not one of these files, and nothing be asked of
any other host.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

from aiohttp import web

from metabroker.web.feed import Feed, FeedFull, NotReadable

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Server": "metabroker",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_FILES = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.svg": ("page.svg", "image/svg+xml"),
}
_RETRY = 2000  # milliseconds until a browser that was cut off comes again
_STALLED = 30.0  # seconds in which a viewer takes nothing


ReadJob = Callable[[int], dict[str, Any]]
"""One job with its events. Raises `NotReadable`."""


@dataclass(frozen=True, slots=True)
class _File:
    body: bytes
    kind: str
    tag: str


class Page:
    """Its routes. Whoever makes it says what is shown: that is the feed's."""

    def __init__(self, feed: Feed, stopping: asyncio.Event, read_job: ReadJob | None = None):
        """Once `stopping` is set, streams end. `read_job`: where single jobs may be looked at."""
        self._feed = feed
        self._stopping = stopping
        self._read_job = read_job

    def routes(self) -> list[web.RouteDef]:
        """For an application, whose every answer then has `HEADERS`."""
        files = [web.get(path, _serve(_read(*named))) for path, named in _FILES.items()]
        one = [web.get("/job/{job:[0-9]{1,15}}", self._job)] if self._read_job else []
        return [*files, *one, web.get("/events", self._events)]

    async def _job(self, request: web.Request) -> web.Response:
        """One job with its events."""
        assert self._read_job is not None
        number = int(request.match_info["job"])
        try:
            told = await self._feed.aside(partial(self._read_job, number))
        except NotReadable as error:
            told = {"trouble": str(error)}
        return web.json_response(told, headers={"Cache-Control": "no-store"})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """The stream. It goes on until the viewer leaves."""
        try:
            with self._feed.viewer():
                return await self._stream(request)
        except FeedFull:
            return web.Response(
                status=503,
                text="too many clients read this page already; it tries again by itself\n",
                headers={"Retry-After": "10"},
            )

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={
                "Content-Type": "text/event-stream",
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",  # nginx would keep events back
            }
        )
        await response.prepare(request)
        telling = asyncio.ensure_future(self._tell(response))
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({telling, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            telling.cancel()
            stopping.cancel()
        if telling.done() and request.transport is not None:
            request.transport.abort()  # who takes nothing would not take the stream's end either
        return response

    async def _tell(self, response: web.StreamResponse) -> None:
        """Tell what is new, until that cannot be told any more."""
        version = 0
        with contextlib.suppress(ConnectionError, TimeoutError):
            await response.write(b"retry: %d\n\n" % _RETRY + self._feed.beat())
            while True:
                version, event = await self._feed.after(version)
                async with asyncio.timeout(_STALLED):
                    await response.write(event)


def _read(name: str, kind: str) -> _File:
    body = resources.files("metabroker.web").joinpath("static", name).read_bytes()
    return _File(body, kind, hashlib.sha256(body).hexdigest()[:32])


def _serve(file: _File) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Asked for again each time, so that page and script are always of one version."""

    async def handler(request: web.Request) -> web.Response:
        response = web.Response(body=file.body, content_type=file.kind, charset="utf-8")
        response.etag = file.tag
        response.headers["Cache-Control"] = "no-cache"
        known = request.if_none_match or ()
        if any(tag.value in (file.tag, "*") for tag in known):
            raise web.HTTPNotModified(headers={"ETag": f'"{file.tag}"'})
        return response

    return handler
