"""The routes of the API, version 1, and what each asks of the daemon.

| route | answers |
|---|---|
| `POST /v1/jobs` | the new job, once it is durable; `?dry_run=1`: where it would run |
| `GET /v1/jobs?user=&limit=` | `{"jobs": [...]}`: those that have not ended |
| `GET /v1/jobs/{id}` | one job with its history of events |
| `POST /v1/jobs/{id}/cancel`, `hold`, `release` | the job |
| `POST /v1/jobs/{id}/abandon` | the job, of which an administrator writes off what is left |
| `GET /v1/jobs/{id}/wait?timeout=` | the job, once it has ended or `timeout` seconds have passed |
| `GET /v1/history?user=&since=&until=&limit=` | `{"jobs": [...]}`: ended ones |
| `GET /v1/clusters` | `{"clusters": [...]}` |
| `GET /v1/status` | the daemon itself |
| `GET /v1/leftovers` | after a restore, what nobody remembers: `{"leftovers": [...]}` |
| `POST /v1/leftovers/remove` | those of the names in `{"names": [...]}` (null: all), to go |
| `GET /v1/overview` | all that a page shows, of one moment |
| `GET /v1/whoami` | whom the daemon takes the caller for |
| `POST /v1/tokens` | a new token; on the Unix socket only, as all about tokens |
| `GET /v1/tokens?user=&all=` | `{"tokens": [...]}`: the caller's, without their secrets |
| `POST /v1/tokens/{id}/revoke` | the token, which is good for nothing from now on |

Who asks, the `Middleware` has found out before any of these is called.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler

from metabroker.api.answers import answer, encode, errors
from metabroker.api.bodies import LARGEST, Bodies, parsed
from metabroker.api.service import Failure, Json, Service, ServiceError, TokenService
from metabroker.submission.model import Caller
from metabroker.submission.wire import from_wire

from .connection_limiter import ConnectionLimiter
from .middleware import ABOUT, CALLER, Middleware
from .token_request import token_wish

LONGEST_WAIT = 300.0  # seconds

_T = TypeVar("_T")
_Change = Callable[[Caller, int], Future[Json]]


class Routes:
    """The handlers. Calls of the service that may block run in `executor`."""

    def __init__(
        self, service: Service, executor: Executor, reception: Middleware, *, body: float = 30.0
    ) -> None:
        """`body`: seconds in which a request's body must come."""
        self._service = service
        self.executor = executor
        self._reception = reception
        self._bodies = Bodies(body)
        self.doors: list[ConnectionLimiter] = []
        self.stopping = asyncio.Event()

    def application(self) -> web.Application:
        """The application that serves these routes."""
        application = web.Application(
            middlewares=[self._timed, errors, self._reception.middleware(self.executor)]
        )
        add = application.router.add_route
        add("POST", "/v1/jobs", self._submit)
        add("GET", "/v1/jobs", self._active)
        add("GET", "/v1/jobs/{job}", self._job)
        add("GET", "/v1/jobs/{job}/wait", self._wait)
        add("POST", "/v1/jobs/{job}/cancel", self._changes(self._service.cancel))
        add("POST", "/v1/jobs/{job}/hold", self._changes(self._service.hold))
        add("POST", "/v1/jobs/{job}/release", self._changes(self._service.release))
        add("POST", "/v1/jobs/{job}/abandon", self._changes(self._service.abandon))
        add("GET", "/v1/history", self._history)
        add("GET", "/v1/clusters", self._clusters)
        add("GET", "/v1/status", self._status)
        add("GET", "/v1/leftovers", self._leftovers)
        add("POST", "/v1/leftovers/remove", self._remove_leftovers)
        add("GET", "/v1/overview", self._overview)
        add("GET", "/v1/whoami", self._whoami)
        add("POST", "/v1/tokens", self._token_create)
        add("GET", "/v1/tokens", self._token_list)
        add("POST", "/v1/tokens/{token}/revoke", self._token_revoke)
        return application

    @web.middleware
    async def _timed(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The door's clock stands still while a request is served."""
        for door in self.doors:
            door.asked(request.protocol, request.method)
        try:
            return await handler(request)
        finally:
            for door in self.doors:
                door.answered(request.protocol)

    async def _submit(self, request: web.Request) -> web.Response:
        caller = request[CALLER]
        async with self._bodies.of(request, caller.uid, LARGEST) as body:
            submission = await self._call(lambda: from_wire(parsed(body)))
            if request.query.get("dry_run") == "1":
                return await self._done(request, lambda: self._service.dry_run(caller, submission))
            return await self._done(request, lambda: self._service.submit(caller, submission))

    def _changes(self, change: _Change) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handler(request: web.Request) -> web.Response:
            job = _job(request)
            caller = request[CALLER]
            return await self._done(request, lambda: change(caller, job))

        return handler

    async def _job(self, request: web.Request) -> web.Response:
        job = _job(request)
        return await self._read(lambda: self._service.job(job))

    async def _active(self, request: web.Request) -> web.Response:
        user, limit = request.query.get("user"), _limit(request)
        return await self._read(lambda: {"jobs": self._service.active(user=user, limit=limit)})

    async def _history(self, request: web.Request) -> web.Response:
        user, limit = request.query.get("user"), _limit(request)
        since, until = _number(request, "since"), _number(request, "until")
        ended = self._service.ended
        return await self._read(
            lambda: {"jobs": ended(user=user, since=since, until=until, limit=limit)}
        )

    async def _clusters(self, request: web.Request) -> web.Response:
        return await self._read(lambda: {"clusters": self._service.clusters()})

    async def _status(self, request: web.Request) -> web.Response:
        return await self._read(self._service.status)

    async def _leftovers(self, request: web.Request) -> web.Response:
        return await self._read(self._service.leftovers)

    async def _remove_leftovers(self, request: web.Request) -> web.Response:
        caller = request[CALLER]
        async with self._bodies.of(request, caller.uid) as body:
            names = _names(parsed(body))
        removed = await self._call(lambda: self._service.remove_leftovers(caller, names))
        request[ABOUT] = {"names": [left["name"] for left in removed["leftovers"]]}
        return answer(encode(removed))

    async def _overview(self, request: web.Request) -> web.Response:
        return await self._read(self._service.overview)

    async def _whoami(self, request: web.Request) -> web.Response:
        caller = request[CALLER]
        return answer(encode({"user": caller.user, "uid": caller.uid, "token": caller.token}))

    async def _token_create(self, request: web.Request) -> web.Response:
        caller, tokens = request[CALLER], self._tokens()
        async with self._bodies.of(request, caller.uid) as body:
            wish = token_wish(parsed(body))
        made = await asyncio.shield(self._call(lambda: tokens.create(caller, wish)))
        request[ABOUT] = {key: made[key] for key in ("id", "scope", "expires")} | {
            "for": made["user"]
        }
        return answer(encode(made))

    async def _token_list(self, request: web.Request) -> web.Response:
        caller, tokens = request[CALLER], self._tokens()
        user, every = request.query.get("user"), request.query.get("all") == "1"
        return await self._read(
            lambda: {"tokens": tokens.listed(caller, user=user, all_users=every)}
        )

    async def _token_revoke(self, request: web.Request) -> web.Response:
        caller, tokens, id = request[CALLER], self._tokens(), request.match_info["token"]
        revoked = await asyncio.shield(self._call(lambda: tokens.revoke(caller, id)))
        request[ABOUT] = {"id": revoked["id"], "for": revoked["user"]}
        return answer(encode(revoked))

    def _tokens(self) -> TokenService:
        tokens = self._reception.tokens
        if tokens is None:
            raise ServiceError(Failure.NOT_FOUND, "this daemon has no tokens")
        return tokens

    async def _wait(self, request: web.Request) -> web.Response:
        job = _job(request)
        timeout = _number(request, "timeout")
        timeout = LONGEST_WAIT if timeout is None else min(max(timeout, 0.0), LONGEST_WAIT)
        return await self._ended(job, timeout)

    async def _ended(self, job: int, timeout: float) -> web.Response:
        """The job, once it has ended, `timeout` has passed, or the daemon stops."""
        pending = await self._call(lambda: self._service.ended_future(job))
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
        return await self._read(lambda: self._service.job(job))

    async def _done(self, request: web.Request, change: Callable[[], Future[Json]]) -> web.Response:
        """The outcome of a change. It goes on even if the one who asked has gone."""
        asked = self._call(change)
        asked.add_done_callback(_heard)
        result = asyncio.wrap_future(await asyncio.shield(asked))
        result.add_done_callback(_heard)
        await asyncio.wait({result})  # unlike `await result`, does not cancel it when cancelled
        if result.cancelled():
            raise _stopping()
        done = result.result()
        if "job" in done:
            request[ABOUT] = {"job": done["job"]}
        return answer(encode(done))

    async def _read(self, read: Callable[[], Json]) -> web.Response:
        """What `read` answers; encoded in the executor too, since it may be long."""
        return answer(await self._call(lambda: encode(read())))

    def _call(self, call: Callable[[], _T]) -> asyncio.Future[_T]:
        return asyncio.get_running_loop().run_in_executor(self.executor, call)


def _heard(done: asyncio.Future[Any]) -> None:
    """Nobody may be there to be told of an error: then that is no accident."""
    if not done.cancelled():
        done.exception()


def _stopping() -> ServiceError:
    return ServiceError(Failure.UNAVAILABLE, "the daemon is stopping", "try again when it is back")


def _job(request: web.Request) -> int:
    text = request.match_info["job"]
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text)
    raise ServiceError(Failure.NOT_FOUND, f"there is no job {text[:40]!r}", "a job id is a number")


def _names(body: Any) -> list[str] | None:
    """Of what is to be removed; None: all of it."""
    names = body.get("names", ()) if isinstance(body, dict) else ()
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not names:
        advice = "write them as `metabroker leftovers` shows them, or null for all"
        raise ServiceError(Failure.INVALID, "`names` must be a list of names", advice)
    return names


def _limit(request: web.Request) -> int | None:
    limit = _number(request, "limit")
    if limit is None:
        return None
    if limit < 1 or limit != int(limit):
        raise ServiceError(Failure.INVALID, "limit must be a positive number", "for example 100")
    return int(limit)


def _number(request: web.Request, key: str) -> float | None:
    text = request.query.get(key)
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or abs(number) > 1e15:
        raise ServiceError(Failure.INVALID, f"{key} must be a number, not {text[:40]!r}")
    return number
