"""The page over HTTP: its headers, its stream of events, and who is let in."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any

import aiohttp
import pytest

from metabroker.api.client import Unreachable
from metabroker.web.guards import loopback
from metabroker.web.own_page import OwnPage
from metabroker.web.page import HEADERS
from tests.api.shapes import job, part
from tests.web.served import Client, MakeServed, Served, next_of, played, stream, within
from tests.web.test_data import overview

# --- files and headers -----------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/page.css", "/page.js", "/page.svg", "/nothing", "/events"])
@played
async def test_every_answer_has_the_headers(served: Served, path: str, client: Client) -> None:
    async with client.get(served.url + path) as answer:
        assert answer.status == (404 if path == "/nothing" else 200)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value


def test_the_policy_lets_nothing_inline_and_no_other_host_in() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy


@played
async def test_the_files_name_no_other_host_and_hold_no_inline_code(
    served: Served, client: Client
) -> None:
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


@played
async def test_a_file_that_is_known_is_not_sent_again(served: Served, client: Client) -> None:
    async with client.get(f"{served.url}/page.js") as first:
        tag = first.headers["ETag"]
    async with client.get(f"{served.url}/page.js", headers={"If-None-Match": tag}) as again:
        assert (again.status, await again.read()) == (304, b"")


@played
async def test_nothing_can_be_changed(served: Served, client: Client) -> None:
    for path in ("/", "/events"):
        for ask in (client.post, client.put, client.delete):
            async with ask(served.url + path) as answer:
                assert answer.status == 405


# --- the stream ------------------------------------------------------------------------------


@played
async def test_connections_are_bounded(make_served: MakeServed, client: Client) -> None:
    served = make_served(connections=6)  # and 3 of one address
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


@played
async def test_who_sends_no_whole_request_is_cut_off_and_who_looks_is_not(
    make_served: MakeServed, client: Client
) -> None:
    served = make_served(head=0.2)
    async with stream(client, served.url) as events:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b"", "cut off, long before it has sent anything whole"
        writer.close()
        served.source.shown = {"n": 1}
        while await next_of(events, "overview") != {"n": 1}:
            pass


# --- who is let in ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:9798", 200), ("localhost", 200), ("[::1]:80", 200), ("evil.example", 421),
     ("127.0.0.1.evil.example", 421), ("", 421)],
)  # fmt: skip
@played
async def test_another_sites_name_does_not_lead_to_it(
    served: Served, host: str, status: int, client: Client
) -> None:
    for path in ("/", "/events"):
        async with client.get(served.url + path, headers={"Host": host}) as answer:
            assert answer.status == status


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

    async def play(client: Client) -> None:
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
