"""The API over HTTP, version 1: the calls of `metabroker.api.calls`, and besides

| route | answers |
|---|---|
| `GET /v1/whoami` | whom the daemon takes the caller for |
| `GET /v1/openapi.json` | all this as an OpenAPI document (`metabroker.api.openapi`) |
| `POST /v1/tokens` | a new token; on the Unix socket only, as all about tokens |
| `GET /v1/tokens?user=&all=` | `{"tokens": [...]}`: the caller's, without their secrets |
| `POST /v1/tokens/{id}/revoke` | the token, which is good for nothing from now on |

Who asks, the `Middleware` has found out before any of these is called.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Executor, Future
from itertools import islice
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler

from metabroker.api import openapi
from metabroker.api.answers import answer, encode, errors
from metabroker.api.bodies import Bodies, parsed
from metabroker.api.calls import CALLS, DRY_RUN, WAIT, Arguments, Asked, Call, number
from metabroker.api.pages import encoded
from metabroker.api.service import Failure, Json, Service, ServiceError, TokenService, read
from metabroker.submission.model import Caller

from .connection_limiter import ConnectionLimiter
from .fair_executor import FairExecutor
from .middleware import ABOUT, CALLER, Middleware
from .token_request import token_request

LONGEST_WAIT = 300.0  # seconds

log = logging.getLogger(__name__)

_T = TypeVar("_T")


class Routes:
    """The handlers. Calls of the service that may block run in `fair`; who asks is found out in
    `admitting`, and what was done is written down in `executor`."""

    def __init__(
        self,
        service: Service,
        executor: Executor,
        admitting: FairExecutor,
        fair: FairExecutor,
        middleware: Middleware,
        *,
        body: float = 30.0,
    ) -> None:
        """`body`: seconds in which a request's body must come."""
        self._service = service
        self.executor = executor
        self._admitting = admitting
        self._fair = fair
        self._middleware = middleware
        self._bodies = Bodies(body)
        self.limiters: list[ConnectionLimiter] = []
        self.stopping = asyncio.Event()

    def application(self) -> web.Application:
        """The application that serves these routes."""
        application = web.Application(
            middlewares=[
                self._timed,
                errors,
                self._middleware.middleware(self.executor, self._admitting),
            ]
        )
        add = application.router.add_route
        for call in CALLS:
            add(call.method, call.path, self._handler(call))
        add(WAIT.method, WAIT.path, self._wait)
        add("GET", "/v1/whoami", self._whoami)
        add("GET", openapi.ROUTE, self._document)
        add("POST", "/v1/tokens", self._token_create)
        add("GET", "/v1/tokens", self._token_list)
        add("POST", "/v1/tokens/{token}/revoke", self._token_revoke)
        return application

    @web.middleware
    async def _timed(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The limiter's clock stands still while a request is served."""
        for limiter in self.limiters:
            limiter.asked(request.protocol)
        try:
            return await handler(request)
        finally:
            for limiter in self.limiters:
                limiter.answered(request.protocol)

    def _begins(self, request: web.Request) -> None:
        """All of a request has come; what it changes is under way."""
        for limiter in self.limiters:
            limiter.changes(request.protocol)

    def _handler(self, call: Call) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handler(request: web.Request) -> web.StreamResponse:
            dry = call.name == "submit" and request.query.get("dry_run") == "1"
            asked = DRY_RUN if dry else call
            if not asked.largest:
                return await self._served(request, asked, lambda: _asked(request))
            async with self._bodies.of(request, request[CALLER].uid, asked.largest) as body:
                if call.name == "submit":
                    self._middleware.weigh(request[CALLER], len(body))
                return await self._served(request, asked, lambda: _asked(request, parsed(body)))

        return handler

    async def _served(
        self, request: web.Request, call: Call, asked: Callable[[], Asked]
    ) -> web.StreamResponse:
        """What a call answers. A change goes on even if the one who asked has gone."""
        caller = request[CALLER]

        def begin() -> Future[Json]:
            return self._service.call(caller, call.name, call.arguments(asked()))

        if not call.changes and call is not DRY_RUN:  # which may wait for another broker
            return await self._sent(request, lambda: encoded(begin().result()))
        if call.changes:
            self._begins(request)
        done = await self._done(caller, begin)
        request[ABOUT] = call.about(done)
        return answer(encode(done))

    async def _sent(
        self, request: web.Request, begin: Callable[[], Iterator[bytes]]
    ) -> web.StreamResponse:
        """An answer in pieces: in chunks, if it has more than one page. Each piece is made in the
        threads, once the one before is on its way: a slow reader keeps no worker and no memory."""

        def first() -> tuple[list[bytes], Iterator[bytes]]:
            pieces = begin()
            return list(islice(pieces, 3)), pieces

        caller = request[CALLER]
        some, rest = await self._call(caller, first)
        if len(some) < 3:
            return answer(b"".join(some))
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        whole = False
        try:
            while some:  # none of it is kept: this may take long
                await response.write(some.pop(0))
            while piece := await self._call(caller, lambda: next(rest, b"")):
                await response.write(piece)
            whole = True
        except ConnectionError:  # whoever asked has gone
            raise
        except Exception as error:
            log.warning("the answer to %s is cut off: %s", request.path, error)
        if not whole and request.transport is not None:
            # Its head said that all is well: no client may take it for whole.
            request.transport.abort()
        return response

    async def _document(self, request: web.Request) -> web.Response:
        return await self._read(request[CALLER], openapi.document)

    async def _whoami(self, request: web.Request) -> web.Response:
        caller = request[CALLER]
        return answer(encode({"user": caller.user, "uid": caller.uid, "token": caller.token}))

    async def _token_create(self, request: web.Request) -> web.Response:
        caller, tokens = request[CALLER], self._tokens()
        async with self._bodies.of(request, caller.uid) as body:
            wanted = token_request(parsed(body))
        self._begins(request)
        made = await asyncio.shield(self._call(caller, lambda: tokens.create(caller, wanted)))
        request[ABOUT] = {key: made[key] for key in ("id", "scope", "expires")} | {
            "for": made["user"]
        }
        return answer(encode(made))

    async def _token_list(self, request: web.Request) -> web.Response:
        caller, tokens = request[CALLER], self._tokens()
        user, every = request.query.get("user"), request.query.get("all") == "1"
        return await self._read(
            caller, lambda: {"tokens": tokens.listed(caller, user=user, all_users=every)}
        )

    async def _token_revoke(self, request: web.Request) -> web.Response:
        caller, tokens, id = request[CALLER], self._tokens(), request.match_info["token"]
        self._begins(request)
        revoked = await asyncio.shield(self._call(caller, lambda: tokens.revoke(caller, id)))
        request[ABOUT] = {"id": revoked["id"], "for": revoked["user"]}
        return answer(encode(revoked))

    def _tokens(self) -> TokenService:
        tokens = self._middleware.tokens
        if tokens is None:
            raise ServiceError(Failure.NOT_FOUND, "this daemon does not use tokens")
        return tokens

    async def _wait(self, request: web.Request) -> web.Response:
        job = WAIT.arguments(_asked(request))
        timeout = number(_asked(request), "timeout")
        timeout = LONGEST_WAIT if timeout is None else min(max(timeout, 0.0), LONGEST_WAIT)
        return await self._ended(request[CALLER], job, timeout)

    async def _ended(self, caller: Caller, job: Arguments, timeout: float) -> web.Response:
        """The job, once it has ended, `timeout` has passed, or the daemon stops."""
        pending = await self._call(caller, lambda: self._service.call(caller, WAIT.name, job))
        ended = asyncio.wrap_future(pending)
        stopping = asyncio.ensure_future(self.stopping.wait())
        try:
            both: set[asyncio.Future[Any]] = {ended, stopping}
            await asyncio.wait(both, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if self.stopping.is_set() or ended.cancelled():
                raise _stopping()
            if ended.done():
                return answer(encode(ended.result()))
        finally:
            stopping.cancel()
            ended.cancel()
        return await self._read(caller, lambda: read(self._service, "job", **job))

    async def _done(self, caller: Caller, change: Callable[[], Future[Json]]) -> Json:
        """The outcome of a change. It goes on even if the one who asked has gone."""
        asked = self._call(caller, change)
        asked.add_done_callback(_heard)
        left = await self._end_of(asked)
        result = asyncio.wrap_future(asked.result())
        result.add_done_callback(_heard)
        await self._end_of(result, left=left)
        if result.cancelled():
            raise _stopping()
        return result.result()

    async def _end_of(self, under_way: asyncio.Future[Any], *, left: bool = False) -> bool:
        """Wait until it is done, also if the one who asked leaves, or has `left`: what was sent
        keeps its room as long as it is in memory, and what was done is written down. Whether that
        one has left."""
        try:
            await asyncio.wait({under_way})  # unlike `await under_way`, does not cancel it
        except asyncio.CancelledError:
            if left or self.stopping.is_set():
                raise
            await asyncio.wait({under_way})
            return True
        return left

    async def _read(self, caller: Caller, read: Callable[[], Json]) -> web.Response:
        """What `read` answers; encoded in the thread too, since it may be long."""
        return answer(await self._call(caller, lambda: encode(read())))

    def _call(self, caller: Caller, call: Callable[[], _T]) -> asyncio.Future[_T]:
        return self._fair.call(caller.user, call)


def _heard(done: asyncio.Future[Any]) -> None:
    """Nobody may be there to be told of an error: then that is no accident."""
    if not done.cancelled():
        done.exception()


def _stopping() -> ServiceError:
    return ServiceError(Failure.UNAVAILABLE, "the daemon is stopping", "try again when it is back")


def _asked(request: web.Request, body: Any = None) -> Asked:
    return Asked(request.match_info, request.query, body)
