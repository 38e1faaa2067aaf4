"""A page that is served, for tests."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp import web

from metabroker.web.feed import Feed, NotReadable
from metabroker.web.guards import own_names
from metabroker.web.page import Page
from metabroker.web.probes import probes
from metabroker.web.server import WebServer

Client = aiohttp.ClientSession


class Source:
    """What is shown, and how often it was read."""

    def __init__(self) -> None:
        self.shown: dict[str, Any] = {"n": 0}
        self.broken = ""
        self.reads = 0
        self.answers = threading.Event()
        self.answers.set()

    def read(self) -> dict[str, Any]:
        self.reads += 1
        assert self.answers.wait(60)
        if self.broken:
            raise NotReadable(self.broken)
        return dict(self.shown)


class Well:
    """A daemon without troubles."""

    hangs = False
    unready = ""


class Served:
    """A server of the page of a source."""

    def __init__(self, **given: Any) -> None:
        self.source = Source()
        self.feed: Feed | None = None
        self._given: dict[str, Any] = {"every": 0.02, "beat": 0.2, **given}
        most, head = self._given.pop("connections", 200), self._given.pop("head", 60.0)
        self.server = WebServer(self._routes, [own_names()], most=most, head=head)
        self.server.start("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.port}"

    def _routes(self, executor: Executor, stopping: asyncio.Event) -> list[web.RouteDef]:
        self.feed = Feed(self.source.read, executor, **self._given)
        one = Page(self.feed, stopping, lambda _number: self.source.read())
        return [*one.routes(), *probes(Well(), executor)]


MakeServed = Callable[..., Served]


def within(play: Callable[[Client], Awaitable[None]]) -> None:
    """Play with a client; a test that hangs fails."""

    async def session() -> None:
        connector = aiohttp.TCPConnector(limit=0)
        async with asyncio.timeout(60), aiohttp.ClientSession(connector=connector) as client:
            await play(client)

    asyncio.run(session())


def played(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """An `async` test, played with a `client` of its own beside its fixtures."""
    asked = inspect.signature(test)
    fixtures = [it for name, it in asked.parameters.items() if name != "client"]

    def play(**given: Any) -> None:
        within(lambda client: test(**given, client=client))

    play.__signature__ = asked.replace(parameters=fixtures)  # type: ignore[attr-defined]
    return functools.update_wrapper(play, test)


Events = AsyncIterator[tuple[str, dict[str, Any]]]


@asynccontextmanager
async def stream(client: Client, url: str) -> AsyncIterator[Events]:
    """The events, as a browser has them."""
    async with client.get(f"{url}/events") as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-store"

        async def events() -> Events:
            kind = ""
            async for raw in response.content:
                name, _, value = raw.decode().strip().partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    yield kind, json.loads(value)

        yield events()


async def next_of(events: Events, kind: str) -> dict[str, Any]:
    async for found, data in events:
        if found == kind:
            return data
    raise AssertionError(f"the stream ended without {kind}")
