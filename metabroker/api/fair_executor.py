"""The threads in which requests are answered: no user's wait behind all of another's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from metabroker.fair_pool import FairPool

_T = TypeVar("_T")


class FairExecutor:
    """`count` threads, in which users take turns (see `metabroker.fair_pool`)."""

    def __init__(self, count: int, name: str) -> None:
        """Raises RuntimeError: a thread cannot be started."""
        self._pool = FairPool(count, name)

    def call(self, whose: str, call: Callable[[], _T]) -> asyncio.Future[_T]:
        """What it answers. For the event loop's thread; work that has begun cannot be cancelled.

        Raises:
            RuntimeError: the pool is closed.
        """
        future: Future[_T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)

        self._pool.submit(whose, work)
        return asyncio.wrap_future(future)

    def shutdown(self) -> None:
        """Begin nothing more, and wait for what has begun."""
        self._pool.shutdown()
