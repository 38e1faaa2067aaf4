"""The daemon's API: HTTP with JSON over a Unix socket, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from aiohttp import web

from metabroker.api.door import Door, usual_limit
from metabroker.api.routes import Routes
from metabroker.api.service import Service
from metabroker.api.sockets import BACKLOG, ListeningSocket

LARGEST_BODY = 8 * 1024 * 1024  # bytes
_KEEP_ALIVE = 15.0  # seconds an idle connection stays open
_SHUTDOWN = 3.0  # seconds that requests under way are given at a stop

log = logging.getLogger(__name__)


class ApiServer:
    """Serves `service` at `socket_path` between `start` and `stop`."""

    def __init__(
        self,
        service: Service,
        socket_path: Path | str,
        *,
        workers: int = 8,
        connections: int | None = None,
    ) -> None:
        """`workers`: how many calls of the service run at the same time.

        `connections`: the most at a time; None: half of the files that the process may open.
        """
        self._connections = usual_limit() if connections is None else connections
        self._service = service
        self._path = Path(socket_path)
        self._workers = workers
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    def start(self) -> None:
        """Serve; returns once the socket accepts connections. Raises `SocketError`."""
        listening = ListeningSocket(self._path)
        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(listening, ready), name="api", daemon=True
        )
        self._thread.start()
        ready.result()

    @property
    def alive(self) -> bool:
        """Whether it serves."""
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """Take no more requests, let those under way end, and remove the socket."""
        if self._thread is None:
            return
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # its loop has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._thread = self._loop = self._stop = None

    def _run(self, listening: ListeningSocket, ready: Future[None]) -> None:
        try:
            asyncio.run(self._serve(listening, ready))
        except Exception as error:
            log.exception("the API ended by an error")
            if not ready.done():
                ready.set_exception(error)
        finally:
            listening.close()

    async def _serve(self, listening: ListeningSocket, ready: Future[None]) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        with ThreadPoolExecutor(self._workers, thread_name_prefix="api") as executor:
            routes = Routes(self._service, executor)
            runner = web.AppRunner(
                routes.application(LARGEST_BODY),
                handler_cancellation=True,
                access_log=None,
                keepalive_timeout=_KEEP_ALIVE,
                shutdown_timeout=_SHUTDOWN,
            )
            await runner.setup()
            assert runner.server is not None
            door = Door(runner.server, self._connections)
            server = await self._loop.create_server(door, sock=listening.socket, backlog=BACKLOG)
            try:
                ready.set_result(None)
                await self._stop.wait()
            finally:
                server.close()
                routes.stopping.set()
                await runner.cleanup()
