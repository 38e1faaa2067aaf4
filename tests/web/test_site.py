"""The page over HTTP: its headers, its stream of events, and who is let in."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from metabroker.api.client import Unreachable
from metabroker.web.feed import Feed, NotReadable
from metabroker.web.guards import loopback, own_names
from metabroker.web.own import OwnPage
from metabroker.web.page import HEADERS, Page
from metabroker.web.server import WebServer
from tests.web.test_data import job, overview, part


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
        return Page(self.feed, stopping).routes()


@pytest.fixture
def make_served() -> Iterator[Callable[..., Served]]:
    made: list[Served] = []

    def make(**given: Any) -> Served:
        made.append(Served(**given))
        return made[-1]

    yield make
    for each in made:
        each.server.stop()


@pytest.fixture
def served(make_served: Callable[..., Served]) -> Served:
    return make_served()


def within(play: Callable[[aiohttp.ClientSession], Awaitable[None]]) -> None:
    """Play with a client; a test that hangs fails."""

    async def session() -> None:
        connector = aiohttp.TCPConnector(limit=0)
        async with asyncio.timeout(60), aiohttp.ClientSession(connector=connector) as client:
            await play(client)

    asyncio.run(session())


Events = AsyncIterator[tuple[str, dict[str, Any]]]


@asynccontextmanager
async def stream(client: aiohttp.ClientSession, url: str) -> AsyncIterator[Events]:
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


# --- files and headers -----------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/page.css", "/page.js", "/page.svg", "/nothing", "/events"])
def test_every_answer_has_the_headers(served: Served, path: str) -> None:
    async def play(client: aiohttp.ClientSession) -> None:
        async with client.get(served.url + path) as answer:
            assert answer.status == (404 if path == "/nothing" else 200)
            for name, value in HEADERS.items():
                assert answer.headers[name] == value

    within(play)


def test_the_policy_lets_nothing_inline_and_no_other_host_in() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy


def test_the_files_name_no_other_host_and_hold_no_inline_code(served: Served) -> None:
    async def play(client: aiohttp.ClientSession) -> None:
        for path in ("/", "/page.css", "/page.js", "/page.svg"):
            async with client.get(served.url + path) as answer:
                text = (await answer.text()).replace("http://www.w3.org/2000/svg", "")
                for wrong in (
                    "http:",
                    "https:",
                    "//cdn",
                    "innerHTML",
                    "style=",
                    "onclick",
                    "eval(",
                ):
                    assert wrong not in text, (path, wrong)

    within(play)


def test_a_file_that_is_known_is_not_sent_again(served: Served) -> None:
    async def play(client: aiohttp.ClientSession) -> None:
        async with client.get(f"{served.url}/page.js") as first:
            tag = first.headers["ETag"]
        async with client.get(f"{served.url}/page.js", headers={"If-None-Match": tag}) as again:
            assert (again.status, await again.read()) == (304, b"")

    within(play)


def test_nothing_can_be_changed(served: Served) -> None:
    async def play(client: aiohttp.ClientSession) -> None:
        for path in ("/", "/events"):
            for ask in (client.post, client.put, client.delete):
                async with ask(served.url + path) as answer:
                    assert answer.status == 405

    within(play)


# --- the stream ------------------------------------------------------------------------------


def test_what_changes_is_told_and_only_that(served: Served) -> None:
    async def play(client: aiohttp.ClientSession) -> None:
        async with stream(client, served.url) as events:
            assert (await next_of(events, "beat"))["now"] > 0
            assert await next_of(events, "overview") == {"n": 0}
            before = served.source.reads
            kind, _ = await anext(events)
            assert kind == "beat", "nothing has changed: a heartbeat is all that comes"
            assert served.source.reads > before
            served.source.shown = {"n": 1}
            assert await next_of(events, "overview") == {"n": 1}

    within(play)


def test_it_is_read_once_for_all_and_never_for_nobody(served: Served) -> None:
    assert served.source.reads == 0
    encoded = []

    async def play(client: aiohttp.ClientSession) -> None:
        async with stream(client, served.url) as one, stream(client, served.url) as two:
            for events in (one, two):
                assert await next_of(events, "overview") == {"n": 0}
            assert served.feed is not None
            encoded.append(served.feed._version)

    within(play)
    assert encoded == [1], "for both of them"
    assert settled(lambda: served.source.reads), "nobody looks: nothing is read any more"


def settled(number: Callable[[], int]) -> bool:
    """Whether it stops growing."""
    for _ in range(100):
        before = number()
        time.sleep(0.2)
        if number() == before:
            return True
    return False


def test_trouble_is_told_and_its_end(served: Served) -> None:
    async def play(client: aiohttp.ClientSession) -> None:
        async with stream(client, served.url) as events:
            await next_of(events, "overview")
            served.source.broken = "the daemon does not answer"
            assert await next_of(events, "trouble") == {"trouble": "the daemon does not answer"}
            served.source.broken = ""
            assert await next_of(events, "overview") == {"n": 0}

    within(play)


def test_a_daemon_that_hangs_is_told_of_while_it_hangs(make_served: Callable[..., Served]) -> None:
    served = make_served(late=0.05)

    async def play(client: aiohttp.ClientSession) -> None:
        async with stream(client, served.url) as events:
            await next_of(events, "overview")
            served.source.answers.clear()
            assert await next_of(events, "trouble") == {"trouble": "there is no answer in time"}
            served.source.answers.set()
            assert await next_of(events, "overview") == {"n": 0}

    within(play)


def test_an_unexpected_error_is_logged_and_not_told(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    served.source.shown = None  # type: ignore[assignment]

    async def play(client: aiohttp.ClientSession) -> None:
        async with stream(client, served.url) as events:
            assert "NoneType" not in (await next_of(events, "trouble"))["trouble"]
            served.source.shown = {"n": 2}
            assert await next_of(events, "overview") == {"n": 2}

    within(play)
    assert "NoneType" in caplog.text


def test_who_comes_back_is_told_what_is_true_now(served: Served) -> None:
    async def play(client: aiohttp.ClientSession) -> None:
        async with stream(client, served.url) as events:
            await next_of(events, "overview")
        served.source.shown = {"n": 5}
        async with stream(client, served.url) as events:
            assert await next_of(events, "overview") == {"n": 5}

    within(play)


def test_viewers_are_bounded_and_places_become_free(make_served: Callable[..., Served]) -> None:
    served = make_served(most=2)

    async def play(client: aiohttp.ClientSession) -> None:
        async with stream(client, served.url):
            async with stream(client, served.url), client.get(f"{served.url}/events") as answer:
                assert answer.status == 503
                assert answer.headers["Retry-After"] == "10"
            while (again := await client.get(f"{served.url}/events")).status == 503:
                again.close()
            again.close()

    within(play)


def test_connections_are_bounded(make_served: Callable[..., Served]) -> None:
    served = make_served(connections=6)  # and 3 of one address

    async def play(client: aiohttp.ClientSession) -> None:
        open_ = [await asyncio.open_connection("127.0.0.1", served.server.port) for _ in range(3)]
        reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b"", "turned away at once"
        writer.close()
        for _reader, each in open_:
            each.close()
        while True:
            try:
                async with client.get(served.url) as answer:
                    assert answer.status == 200
                    return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.02)

    within(play)


def test_who_sends_no_whole_request_is_cut_off_and_who_looks_is_not(
    make_served: Callable[..., Served],
) -> None:
    served = make_served(head=0.2)

    async def play(client: aiohttp.ClientSession) -> None:
        async with stream(client, served.url) as events:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
            writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b"", "cut off, long before it has sent anything whole"
            writer.close()
            served.source.shown = {"n": 1}
            while await next_of(events, "overview") != {"n": 1}:
                pass

    within(play)


def test_a_stop_ends_all_streams(served: Served) -> None:
    async def play(client: aiohttp.ClientSession) -> None:
        async with stream(client, served.url) as events:
            await next_of(events, "overview")
            stopping = threading.Thread(target=served.server.stop)
            stopping.start()
            with pytest.raises(AssertionError, match="ended without"):
                await next_of(events, "never")
            await asyncio.to_thread(stopping.join)

    within(play)


# --- who is let in ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:9798", 200), ("localhost", 200), ("[::1]:80", 200), ("evil.example", 421),
     ("127.0.0.1.evil.example", 421), ("", 421)],
)  # fmt: skip
def test_another_sites_name_does_not_lead_to_it(served: Served, host: str, status: int) -> None:
    async def play(client: aiohttp.ClientSession) -> None:
        for path in ("/", "/events"):
            async with client.get(served.url + path, headers={"Host": host}) as answer:
                assert answer.status == status

    within(play)


def test_what_is_only_of_this_host() -> None:
    assert loopback("127.0.0.1") and loopback("127.1.2.3") and loopback("::1")
    assert loopback("localhost")
    assert not loopback("0.0.0.0") and not loopback("::") and not loopback("broker.example.org")


def test_ones_own_page_needs_its_key_and_outlives_the_daemon() -> None:
    shown = overview(job(7, "QUEUED", part(0, "QUEUED")))
    gone = threading.Event()

    def read() -> dict[str, Any]:
        if gone.is_set():
            raise Unreachable("cannot reach the daemon")
        return shown

    def read_job(number: int) -> dict[str, Any]:
        if gone.is_set():
            raise Unreachable("cannot reach the daemon")
        event = {"time": 1.0, "event": "refused", "attempt": 1, "cluster": "delft", "cause": None}
        return {**job(number, "QUEUED", part(0, "QUEUED")), "events": [event], "chdir": "/home"}

    own = OwnPage(read, read_job, "anna")
    own.start("127.0.0.1", 0)
    url = f"http://127.0.0.1:{own.port}"

    async def play(client: aiohttp.ClientSession) -> None:
        for path in ("/", "/page.js", "/events", "/job/7", "/?key=wrong", "/?key=%ff"):
            async with client.get(url + path) as answer:
                assert answer.status == 403, path
        # Browsers keep cookies of a bare address; this client must be told to.
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as reader:
            async with reader.get(f"{url}/?key={own.key}") as answer:
                assert (answer.status, answer.url.query_string) == (200, "")
                (first,) = answer.history
                cookie = first.headers["Set-Cookie"]
                assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
            async with stream(reader, url) as events:
                seen = await next_of(events, "overview")
                assert (seen["jobs"][0]["name"], seen["me"]) == ("secret-project", "anna")
                async with reader.get(f"{url}/job/7") as answer:
                    one = await answer.json()
                assert (one["job"], one["events"][0]["detail"]) == (7, "cluster delft")
                assert "chdir" not in one
                gone.set()
                async with reader.get(f"{url}/job/7") as answer:
                    assert await answer.json() == {"trouble": "cannot reach the daemon"}
                told = await next_of(events, "trouble")
                assert told == {"trouble": "cannot reach the daemon"}

    try:
        within(play)
    finally:
        own.stop()
