"""Work of one kind in the HTTP server's threads: one piece at a time.

So there is always a thread for each other kind, however many ask for this one, and whether or not
they wait for their answer: what has begun in a thread goes on when whoever asked has left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar

T = TypeVar("T")


class OneAtATime:
    """For one event loop's thread."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._turn = asyncio.Lock()
        self._under_way: asyncio.Future[Any] | None = None

    async def call(self, work: Callable[[], T]) -> T:
        """What it answers, or raises. Who leaves before its turn has nothing done."""
        async with self._turn:
            if self._under_way is not None:  # of one who has left
                await asyncio.wait({self._under_way})
            done = asyncio.get_running_loop().run_in_executor(self._executor, work)
            self._under_way = done
            done.add_done_callback(_heard)
            await asyncio.wait({done})  # unlike `await done`, does not cancel it
            return done.result()


def _heard(done: asyncio.Future[Any]) -> None:
    """What it has raised is nobody's any more, if whoever asked has left."""
    if not done.cancelled():
        done.exception()
