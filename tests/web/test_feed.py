"""What viewers of the page are told as it changes, and how many there may be."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from tests.web.served import Client, MakeServed, Served, next_of, played, stream, within


@played
async def test_what_changes_is_told_and_only_that(served: Served, client: Client) -> None:
    async with stream(client, served.url) as events:
        assert (await next_of(events, "beat"))["now"] > 0
        assert await next_of(events, "overview") == {"n": 0}
        before = served.source.reads
        kind, _ = await anext(events)
        assert kind == "beat", "nothing has changed: a heartbeat is all that comes"
        assert served.source.reads > before
        served.source.shown = {"n": 1}
        assert await next_of(events, "overview") == {"n": 1}


def test_it_is_read_once_for_all_and_never_for_nobody(served: Served) -> None:
    assert served.source.reads == 0
    encoded = []

    async def play(client: Client) -> None:
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


@played
async def test_trouble_is_told_and_its_end(served: Served, client: Client) -> None:
    async with stream(client, served.url) as events:
        await next_of(events, "overview")
        served.source.broken = "the daemon does not answer"
        assert await next_of(events, "trouble") == {"trouble": "the daemon does not answer"}
        served.source.broken = ""
        assert await next_of(events, "overview") == {"n": 0}


@played
async def test_a_daemon_that_hangs_is_told_of_while_it_hangs(
    make_served: MakeServed, client: Client
) -> None:
    served = make_served(late=0.05)
    async with stream(client, served.url) as events:
        await next_of(events, "overview")
        served.source.answers.clear()
        assert await next_of(events, "trouble") == {"trouble": "no answer came in time"}
        served.source.answers.set()
        assert await next_of(events, "overview") == {"n": 0}


@played
async def test_an_unexpected_error_is_logged_and_not_told(
    served: Served, caplog: pytest.LogCaptureFixture, client: Client
) -> None:
    served.source.shown = None  # type: ignore[assignment]
    async with stream(client, served.url) as events:
        assert "NoneType" not in (await next_of(events, "trouble"))["trouble"]
        served.source.shown = {"n": 2}
        assert await next_of(events, "overview") == {"n": 2}
    assert "NoneType" in caplog.text


@played
async def test_who_comes_back_is_told_what_is_true_now(served: Served, client: Client) -> None:
    async with stream(client, served.url) as events:
        await next_of(events, "overview")
    served.source.shown = {"n": 5}
    async with stream(client, served.url) as events:
        assert await next_of(events, "overview") == {"n": 5}


@played
async def test_viewers_are_bounded_and_places_become_free(
    make_served: MakeServed, client: Client
) -> None:
    served = make_served(most=2)
    async with stream(client, served.url):
        async with stream(client, served.url), client.get(f"{served.url}/events") as answer:
            assert answer.status == 503
            assert answer.headers["Retry-After"] == "10"
        while (again := await client.get(f"{served.url}/events")).status == 503:
            again.close()
        again.close()


@played
async def test_a_stop_ends_all_streams(served: Served, client: Client) -> None:
    async with stream(client, served.url) as events:
        await next_of(events, "overview")
        stopping = threading.Thread(target=served.server.stop)
        stopping.start()
        with pytest.raises(AssertionError, match="ended without"):
            await next_of(events, "never")
        await asyncio.to_thread(stopping.join)


@played
async def test_who_comes_and_leaves_piles_up_no_readings(
    make_served: MakeServed, client: Client
) -> None:
    served = make_served()
    served.source.answers.clear()
    for _ in range(20):
        async with stream(client, served.url) as events:
            await next_of(events, "beat")
        while served.feed is None or served.feed._viewers:
            await asyncio.sleep(0.01)
    assert served.source.reads == 1
    served.source.answers.set()
    async with stream(client, served.url) as events:
        assert await next_of(events, "overview") == {"n": 0}
