"""Whether a daemon lives and is ready, as monitors ask it."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection

import pytest
from aiohttp import web

from metabroker.web.one_at_a_time import OneAtATime
from metabroker.web.probes import probes
from metabroker.web.server import WebServer
from tests.web.served import Served


@dataclass
class Sick:
    """A daemon whose troubles are set by the test."""

    hangs: bool = False
    unready: str = ""


@dataclass
class Asked:
    sick: Sick
    port: int

    def get(self, path: str) -> tuple[int, str]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


@pytest.fixture
def asked() -> Iterator[Asked]:
    sick = Sick()

    def routes(executor: Executor, _stopping: asyncio.Event) -> list[web.RouteDef]:
        return probes(sick, executor)

    server = WebServer(routes)
    server.start("127.0.0.1", 0)
    yield Asked(sick, server.port)
    server.stop()


def test_each_trouble_is_told_where_it_is_asked_for(asked: Asked) -> None:
    for path in ("/healthz", "/-/healthy", "/-/ready"):
        assert asked.get(path) == (200, "ok\n")
    asked.sick.unready = "the store cannot be written"
    assert asked.get("/-/ready") == (503, "the store cannot be written\n")
    assert asked.get("/healthz")[0] == 200, "a start anew would not mend its store"
    asked.sick.hangs = True
    for path in ("/healthz", "/-/healthy"):
        assert asked.get(path)[0] == 503


def test_the_probes_answer_while_viewers_of_the_page_keep_it_busy(served: Served) -> None:
    served.source.answers.clear()
    connections = [HTTPConnection("127.0.0.1", served.server.port, timeout=60) for _ in range(12)]
    for number, connection in enumerate(connections):
        connection.request("GET", "/events" if number % 2 else f"/job/{number}")
        if number % 2:
            connection.getresponse().read(64)
    try:
        for path in ("/healthz", "/-/healthy", "/-/ready"):
            assert Asked(Sick(), served.server.port).get(path) == (200, "ok\n")
    finally:
        served.source.answers.set()
        for connection in connections:
            connection.close()


def test_what_is_raised_for_one_who_has_left_is_nobodys() -> None:
    """It would be told in the log, with a traceback, however often somebody does that."""
    heard: list[object] = []

    async def leaves() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, told: heard.append(told))
        begun, goes_on = threading.Event(), threading.Event()

        def reads() -> None:
            begun.set()
            goes_on.wait(30)
            raise OSError("the store is away")

        with ThreadPoolExecutor(1) as threads:
            waits = asyncio.ensure_future(OneAtATime(threads).call(reads))
            await asyncio.to_thread(begun.wait, 30)
            waits.cancel()
            await asyncio.wait({waits})
            goes_on.set()
        await asyncio.sleep(0)
        gc.collect()

    asyncio.run(leaves())
    assert not heard
