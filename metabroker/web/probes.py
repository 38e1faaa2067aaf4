"""What monitors and balancers ask: whether the daemon lives, and whether it can serve."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Protocol

from aiohttp import web

from .one_at_a_time import OneAtATime


class Health(Protocol):
    """How a daemon is."""

    @property
    def hangs(self) -> bool:
        """Whether it must be started again."""

    @property
    def unready(self) -> str:
        """Why it cannot serve now; nothing where it can."""


def probes(health: Health, executor: Executor) -> list[web.RouteDef]:
    """The routes. 200, or 503 with a line that says why. To tell may ask the store, so it runs in
    `executor`."""

    def healthy() -> str:
        return "its core does not answer" if health.hangs else ""

    def ready() -> str:
        return health.unready

    # The store may be slow to answer: whether the daemon lives is told meanwhile.
    paths = (("/healthz", healthy), ("/-/healthy", healthy), ("/-/ready", ready))
    return [web.get(path, _telling(asked, executor)) for path, asked in paths]


def _telling(
    asked: Callable[[], str], executor: Executor
) -> Callable[[web.Request], Awaitable[web.Response]]:
    looks = OneAtATime(executor)

    async def handler(_request: web.Request) -> web.Response:
        trouble = await looks.call(asked)
        headers = {"Cache-Control": "no-store"}
        if trouble:
            return web.Response(status=503, text=f"{trouble}\n", headers=headers)
        return web.Response(text="ok\n", headers=headers)

    return handler
