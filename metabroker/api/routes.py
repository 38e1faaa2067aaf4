"""The routes of the API, version 1, and what each asks of the daemon.

| route | answers |
|---|---|
| `POST /v1/jobs` | the new job, once it is durable; `?dry_run=1`: where it would run |
| `GET /v1/jobs?user=&limit=` | `{"jobs": [...]}`: those that have not ended |
| `GET /v1/jobs/{id}` | one job with its history of events |
| `POST /v1/jobs/{id}/cancel`, `hold`, `release` | the job |
| `GET /v1/jobs/{id}/wait?timeout=` | the job, once it has ended or `timeout` seconds have passed |
| `GET /v1/history?user=&since=&until=&limit=` | `{"jobs": [...]}`: ended ones |
| `GET /v1/clusters` | `{"clusters": [...]}` |
| `GET /v1/status` | the daemon itself |
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from aiohttp import web

from metabroker.api.answers import answer, encode, errors
from metabroker.api.identity import Names, peer_uid
from metabroker.api.service import Failure, Json, Service, ServiceError
from metabroker.submission.model import Caller
from metabroker.submission.wire import from_wire

LONGEST_WAIT = 300.0  # seconds

_T = TypeVar("_T")
_Change = Callable[[Caller, int], Future[Json]]


class Routes:
    """The handlers. Calls of the service that may block run in `executor`."""

    def __init__(self, service: Service, executor: Executor) -> None:
        self._service = service
        self._executor = executor
        self._names = Names()
        self.stopping = asyncio.Event()

    def application(self, largest_body: int) -> web.Application:
        """The application that serves these routes."""
        application = web.Application(middlewares=[errors], client_max_size=largest_body)
        add = application.router.add_route
        add("POST", "/v1/jobs", self._submit)
        add("GET", "/v1/jobs", self._active)
        add("GET", "/v1/jobs/{job}", self._job)
        add("GET", "/v1/jobs/{job}/wait", self._wait)
        add("POST", "/v1/jobs/{job}/cancel", self._changes(self._service.cancel))
        add("POST", "/v1/jobs/{job}/hold", self._changes(self._service.hold))
        add("POST", "/v1/jobs/{job}/release", self._changes(self._service.release))
        add("GET", "/v1/history", self._history)
        add("GET", "/v1/clusters", self._clusters)
        add("GET", "/v1/status", self._status)
        return application

    async def _submit(self, request: web.Request) -> web.Response:
        caller = await self._caller(request)
        body = await request.read()
        submission = await self._call(lambda: from_wire(_parsed(body)))
        if request.query.get("dry_run") == "1":
            return await self._done(lambda: self._service.dry_run(caller, submission))
        return await self._done(lambda: self._service.submit(caller, submission))

    def _changes(self, change: _Change) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handler(request: web.Request) -> web.Response:
            job = _job(request)
            caller = await self._caller(request)
            return await self._done(lambda: change(caller, job))

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

    async def _caller(self, request: web.Request) -> Caller:
        uid = _uid(request)
        return await self._call(lambda: self._names.caller(uid))

    async def _done(self, change: Callable[[], Future[Json]]) -> web.Response:
        """The outcome of a change. It goes on even if the one who asked has gone."""
        future = await asyncio.shield(self._call(change))
        result = asyncio.wrap_future(future)
        await asyncio.wait({result})  # unlike `await result`, does not cancel it when cancelled
        if result.cancelled():
            raise _stopping()
        return answer(encode(result.result()))

    async def _read(self, read: Callable[[], Json]) -> web.Response:
        """What `read` answers; encoded in the executor too, since it may be long."""
        return answer(await self._call(lambda: encode(read())))

    def _call(self, call: Callable[[], _T]) -> asyncio.Future[_T]:
        return asyncio.get_running_loop().run_in_executor(self._executor, call)


def _stopping() -> ServiceError:
    return ServiceError(Failure.UNAVAILABLE, "the daemon is stopping", "try again when it is back")


def _uid(request: web.Request) -> int:
    transport = request.transport
    if transport is None:
        raise ServiceError(Failure.UNAVAILABLE, "the connection is closed")
    return peer_uid(transport.get_extra_info("socket"))


def _job(request: web.Request) -> int:
    text = request.match_info["job"]
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text)
    raise ServiceError(Failure.NOT_FOUND, f"there is no job {text[:40]!r}", "a job id is a number")


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ServiceError(Failure.INVALID, "the request is not JSON", "send JSON") from error


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
