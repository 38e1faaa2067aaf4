"""How aiohttp serves: what is written to the log."""

from __future__ import annotations

import asyncio
import logging
import time

import aiohttp
import pytest
from aiohttp import web

from metabroker.api import serving

_GIVEN = 0.25  # seconds that a request under way has when the server ends


async def _ended_while(handler: float) -> str:
    """The server ends while a request takes so many seconds; what is answered. The loop stands
    still meanwhile, as on a machine with much to do: both have ended when it goes on."""

    begun = asyncio.Event()

    async def slow(_request: web.Request) -> web.Response:
        begun.set()
        await asyncio.sleep(handler)
        return web.Response(text="whole")

    application = web.Application()
    application.router.add_get("/", slow)
    runner = serving.runner(application, _GIVEN)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    async with aiohttp.ClientSession() as session:
        asking = asyncio.create_task(session.get(f"http://127.0.0.1:{port}/"))
        await begun.wait()
        asyncio.get_running_loop().call_later(0.05, time.sleep, 2 * _GIVEN)
        await runner.cleanup()
        return await (await asking).text()


def test_a_request_that_ends_with_the_server_is_answered_and_no_error_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert asyncio.run(_ended_while(0.8 * _GIVEN)) == "whole"
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


def test_an_error_of_the_servers_own_is_there() -> None:
    try:
        asyncio.Future[None](loop=asyncio.SelectorEventLoop()).result()
    except asyncio.InvalidStateError as error:
        told = (type(error), error, error.__traceback__)
    record = logging.LogRecord("metabroker.http", logging.ERROR, "", 0, "", (), told)
    assert serving._log.filter(record)
