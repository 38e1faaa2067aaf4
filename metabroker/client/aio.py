"""The same for programs that use asyncio.

    from metabroker.client.aio import AsyncBroker

    async with AsyncBroker() as broker:
        jobs = [await broker.submit("job.sh", [str(n)], tasks=4) for n in range(100)]
        ends = await asyncio.gather(*(job.wait() for job in jobs))

Requests run in threads, so that none blocks the event loop. However many wait, one of them asks for
all: twice a second at first, and then the less often the longer nothing ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Self, TypeVar, Unpack

from metabroker.api.client import ENDED, JOBS_AT_ONCE, ClientError

from .broker import Broker, Job
from .jobs import Options, Script

Json = dict[str, Any]
_T = TypeVar("_T")

_THREADS = 8
_SOON, _LATE = 0.5, 5.0  # seconds between two requests
_PATIENCE = 600.0  # seconds that waits bear a daemon that is not there


class AsyncJob:
    """One job of a broker; see `metabroker.client.Job`, whose calls these are."""

    def __init__(self, broker: AsyncBroker, job: Job) -> None:
        self.broker = broker
        self.id = job.id
        self._job = job

    async def show(self) -> Json:
        """What `metabroker show --json` prints. Raises `ClientError`."""
        return await self.broker.call(self._job.show)

    async def wait(self) -> Json:
        """What `show` says once it has ended. For a bound use `asyncio.timeout`.

        Raises:
            ClientError: the daemon does not know it, or was away for too long.
        """
        await self.broker.end_of(self.id)
        return await self.show()

    async def cancel(self) -> Json:
        """End it. Raises `ClientError`."""
        return await self.broker.call(self._job.cancel)

    async def hold(self) -> Json:
        """Keep it from starting. Raises `ClientError`."""
        return await self.broker.call(self._job.hold)

    async def release(self) -> Json:
        """Hold it no more. Raises `ClientError`."""
        return await self.broker.call(self._job.release)

    def __repr__(self) -> str:
        return f"<AsyncJob {self.id}>"


class AsyncBroker:
    """A daemon, for one event loop; leave it by `async with` or `close`."""

    def __init__(self, url: str | None = None, **given: Any) -> None:
        """The arguments of `metabroker.client.Broker`."""
        self.broker = Broker(url, **given)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="metabroker")
        self._awaited: dict[int, asyncio.Future[None]] = {}
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """No more: whoever waits is cancelled."""
        if self._watch is not None:
            self._watch.cancel()
        for future in self._awaited.values():
            future.cancel()
        self._awaited.clear()
        self._threads.shutdown(wait=False)

    async def submit(
        self,
        script: Script,
        args: Sequence[str] = (),
        *,
        request_id: str | None = None,
        **options: Unpack[Options],
    ) -> AsyncJob:
        """See `Broker.submit`."""
        submit = partial(self.broker.submit, script, args, request_id=request_id, **options)
        return AsyncJob(self, await self.call(submit))

    def job(self, id: int) -> AsyncJob:
        """The job of this number. Nothing is asked yet."""
        return AsyncJob(self, self.broker.job(id))

    async def jobs(self, *, user: str | None = None) -> list[Json]:
        """All jobs that have not ended. Raises `ClientError`."""
        return await self.call(lambda: list(self.broker.jobs(user=user)))

    async def clusters(self) -> list[Json]:
        """The clusters. Raises `ClientError`."""
        return await self.call(self.broker.clusters)

    async def call(self, ask: Callable[[], _T]) -> _T:
        """What one request answers, asked in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, ask)

    async def end_of(self, id: int) -> None:
        """Until the job has ended. Raises `ClientError`."""
        future = self._awaited.get(id)
        if future is None:
            future = self._awaited[id] = asyncio.get_running_loop().create_future()
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._look_after_them())
        await asyncio.shield(future)

    async def _look_after_them(self) -> None:
        """While anybody waits."""
        pause, lost_at = _SOON, None
        while self._awaited:
            numbers = list(self._awaited)
            try:
                over = await self.call(partial(self._over, numbers))
                lost_at = None
            except ClientError as error:
                now = time.monotonic()
                lost_at = lost_at or now
                if error.status not in (None, 503) or now - lost_at > _PATIENCE:
                    self._tell(dict.fromkeys(self._awaited, error))
                    return
                over = {}
            except Exception as error:  # nobody waits for ever
                self._tell(dict.fromkeys(self._awaited, error))
                return
            self._tell(over)
            pause = _SOON if over else min(_LATE, 1.2 * pause)
            if self._awaited:
                await asyncio.sleep(pause)

    def _tell(self, over: Mapping[int, Exception | None]) -> None:
        for number, error in over.items():
            future = self._awaited.pop(number)
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)
                future.exception()  # whoever waited may have gone

    def _over(self, numbers: Sequence[int]) -> dict[int, ClientError | None]:
        """Those of these jobs that have ended, or are not known: with what is wrong."""
        found: dict[int, ClientError | None] = {}
        for first in range(0, len(numbers), JOBS_AT_ONCE):
            some = numbers[first : first + JOBS_AT_ONCE]
            text = ",".join(map(str, some))
            states = {
                record["job"]: record["state"]
                for record in self.broker.client.get("records", jobs=text)["jobs"]
            }
            for number in some:
                if number not in states:
                    found[number] = ClientError(f"there is no job {number}", status=404)
                elif states[number] in ENDED:
                    found[number] = None
        return found
