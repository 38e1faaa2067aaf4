"""The daemon's API: HTTP with JSON over a Unix socket, and over TLS if wanted, in a thread of its
own. There is no way to have it over TCP without TLS."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from ssl import SSLContext

from metabroker.access import tls
from metabroker.api import bodies, serving
from metabroker.api.routes import Routes
from metabroker.api.service import Service
from metabroker.api.sockets import AT_ONCE, ListeningSocket, SocketError, deepen, listening_at
from metabroker.threads import started_pool

from .connection_limiter import HEAD, ConnectionLimiter, usual_limit
from .fair_executor import FairExecutor
from .middleware import Middleware

LARGEST_BODY = bodies.LARGEST
_ADMITTING = 4  # threads that find out who asks
_WRITING = 2  # and that write down what was done
_SHUTDOWN = 3.0  # seconds that requests under way are given at a stop

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Listen:
    """Where the API is served over TLS, and by which files."""

    host: str
    port: int
    certificate: Path
    key: Path


class ApiServer:
    """Serves `service` at `socket_path`, and at `listen` over TLS, between `start` and `stop`."""

    def __init__(
        self,
        service: Service,
        socket_path: Path | str,
        *,
        middleware: Middleware | None = None,
        listen: Listen | None = None,
        workers: int = 8,
        connections: int | None = None,
        head: float = HEAD,
    ) -> None:
        """`workers`: how many calls of the service run at the same time; `head`: seconds for the
        head of a request, and for its body once more.

        `connections`: the most at a time; None: half of the files that the process may open.
        """
        self._connections = usual_limit() if connections is None else connections
        self._service = service
        self._path = Path(socket_path)
        self._middleware = middleware or Middleware()
        self._listen = listen
        self._workers = workers
        self._head = head
        self._context: SSLContext | None = None
        self.port: int | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    def start(self) -> None:
        """Serve; returns once it accepts connections. Raises `SocketError` and `TlsError`."""
        listen = self._listen
        if listen is not None:
            self._context = tls.server_context(listen.certificate, listen.key)
        listening = ListeningSocket(self._path)
        far: socket.socket | None = None
        try:
            if listen is not None:
                far = listening_at(listen.host, listen.port)
                self.port = far.getsockname()[1]
        except SocketError:
            listening.close()
            raise
        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(listening, far, ready), name="api", daemon=True
        )
        self._thread.start()
        ready.result()

    @property
    def alive(self) -> bool:
        """Whether it serves."""
        return self._thread is not None and self._thread.is_alive()

    def answers(self, seconds: float) -> bool:
        """Whether its event loop goes on in this time: it neither hangs nor has ended."""
        loop, goes_on = self._loop, threading.Event()
        if loop is None:
            return False
        try:
            loop.call_soon_threadsafe(goes_on.set)
        except RuntimeError:  # it has ended by itself
            return False
        return goes_on.wait(seconds)

    def reload_certificate(self) -> None:
        """Read certificate and key again, for connections from now on. Raises `TlsError`, and then
        goes on with the old ones."""
        if self._listen is not None:
            self._context = tls.server_context(self._listen.certificate, self._listen.key)

    def stop(self) -> None:
        """Take no more requests, let those under way end, and remove the socket."""
        if self._thread is None:
            return
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # its loop has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread.is_alive():  # it may never have started
            self._thread.join()
        self._thread = self._loop = self._stop = None

    def _run(
        self, listening: ListeningSocket, far: socket.socket | None, ready: Future[None]
    ) -> None:
        try:
            asyncio.run(self._serve(listening, far, ready))
        except Exception as error:
            log.exception("the API has ended with an error")
            if not ready.done():
                ready.set_exception(error)
        finally:
            listening.close()
            if far is not None:
                far.close()

    async def _serve(
        self, listening: ListeningSocket, far: socket.socket | None, ready: Future[None]
    ) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        with (
            started_pool(_WRITING, "api-log") as executor,
            _fair(_ADMITTING, "api-who") as admitting,
            _fair(self._workers, "api") as fair,
        ):
            rest = admitting, fair, self._middleware
            routes = Routes(self._service, executor, *rest, body=2 * self._head)
            runner = serving.runner(routes.application(), _SHUTDOWN)
            await runner.setup()
            assert runner.server is not None
            servers = await self._open(runner.server, routes, listening, far)
            try:
                ready.set_result(None)
                await self._stop.wait()
            finally:
                for server in servers:
                    server.close()
                routes.stopping.set()
                await runner.cleanup()

    async def _open(
        self,
        protocol: Callable[[], asyncio.Protocol],
        routes: Routes,
        listening: ListeningSocket,
        far: socket.socket | None,
    ) -> list[asyncio.Server]:
        """Let users in, through one listener for each way."""
        loop = asyncio.get_running_loop()
        most = self._connections if far is None else self._connections // 2

        def limiter() -> ConnectionLimiter:
            rejected = self._rejected(loop, routes)
            made = ConnectionLimiter(protocol, most, rejected=rejected, head=self._head)
            routes.limiters.append(made)
            return made

        servers = [await loop.create_server(limiter(), sock=listening.socket, backlog=AT_ONCE)]
        if far is not None:
            over_tls = limiter().over_tls(self._in_force)
            servers.append(await loop.create_server(over_tls, sock=far, backlog=AT_ONCE))
        for server in servers:
            deepen(server.sockets[0].fileno())
        return servers

    def _in_force(self) -> SSLContext:
        assert self._context is not None, "only what listens is connected to"
        return self._context

    def _rejected(
        self, loop: asyncio.AbstractEventLoop, routes: Routes
    ) -> Callable[[int | None, str | None, str], None]:
        """Writes to the audit log in a worker, since a disk may hang; not for each of very many."""

        def told(uid: int | None, address: str | None, why: str) -> None:
            line = self._middleware.rejected(uid, address, why)
            if line is not None:
                with contextlib.suppress(RuntimeError):  # stopping: there are no workers any more
                    loop.run_in_executor(routes.executor, line)

        return told


@contextlib.contextmanager
def _fair(count: int, name: str) -> Iterator[FairExecutor]:
    """For as long as it serves."""
    fair = FairExecutor(count, name)
    try:
        yield fair
    finally:
        fair.shutdown()
