"""HTTP in a thread of its own, for what is only read. The API has a server of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from metabroker import openfiles
from metabroker.api import serving
from metabroker.api.connection_limiter import HEAD, ConnectionLimiter
from metabroker.api.sockets import AT_ONCE, deepen
from metabroker.threads import started_pool
from metabroker.web.page import HEADERS

MOST_CONNECTIONS = 256
_SHUTDOWN = 1.0  # seconds that requests under way are given at a stop
_BACKLOG = 128
_THREADS = 6  # of each kind of work one: three probes, metrics, the feed, and single jobs

log = logging.getLogger(__name__)

Routes = Callable[[Executor, asyncio.Event], Iterable[web.RouteDef]]
"""Makes the routes, in the loop that serves them: with an executor for what may block, and an event
that is set when streams must end."""


class WebServer:
    """Serves routes at one address between `start` and `stop`."""

    def __init__(
        self,
        routes: Routes,
        guards: Sequence[Any] = (),
        *,
        most: int | None = None,
        head: float = HEAD,
    ) -> None:
        """`guards`: middlewares that every request passes; `most`: of all connections, of which
        one user has half (None: as many as may be); `head`: seconds for a request's head."""
        self._routes = routes
        self._guards = guards
        self._most = openfiles.share(8, MOST_CONNECTIONS) if most is None else most
        self._head = head
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._door: ConnectionLimiter | None = None
        self._stop: asyncio.Event | None = None
        self.port = 0

    def start(self, host: str, port: int) -> None:
        """Serve; `self.port` then tells where. Raises `OSError`."""
        ready: Future[int] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(host, port, ready), name="web", daemon=True
        )
        self._thread.start()
        try:
            self.port = ready.result()
        except OSError as error:
            if error.errno is None or error.errno <= 0:  # a name that leads nowhere
                raise
            # asyncio's own words name the address once more.
            raise OSError(error.errno, os.strerror(error.errno)) from error

    def stop(self) -> None:
        """Take no more requests, and end all streams."""
        if self._thread is None:
            return
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # its loop has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread.is_alive():  # it may never have started
            self._thread.join()
        self._thread = self._loop = self._stop = None

    def _run(self, host: str, port: int, ready: Future[int]) -> None:
        try:
            asyncio.run(self._serve(host, port, ready))
        except Exception as error:
            if ready.done():
                log.exception("the HTTP server has ended with an error")
            else:
                ready.set_exception(error)

    async def _serve(self, host: str, port: int, ready: Future[int]) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        with started_pool(_THREADS, "web") as executor:
            application = web.Application(middlewares=[self._timed, *self._guards])
            application.on_response_prepare.append(_with_headers)
            application.router.add_routes(self._routes(executor, self._stop))
            runner = serving.runner(application, _SHUTDOWN)
            await runner.setup()
            try:
                assert runner.server is not None
                self._door = ConnectionLimiter(runner.server, self._most, head=self._head)
                server = await self._loop.create_server(self._door, host, port, backlog=AT_ONCE)
                for listening in server.sockets:
                    deepen(listening.fileno(), _BACKLOG)
                ready.set_result(server.sockets[0].getsockname()[1])
                await self._stop.wait()
                server.close()
            finally:
                await runner.cleanup()

    @web.middleware
    async def _timed(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The limiter's clock stands still while a request is served."""
        assert self._door is not None, "it was opened before anybody came"
        self._door.asked(request.protocol)
        try:
            return await handler(request)
        finally:
            self._door.answered(request.protocol)


async def _with_headers(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
