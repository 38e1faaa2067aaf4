"""Who waits for the end of a job: thousands may, without a thread each."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from functools import partial

from metabroker.api.service import Json, ServiceError
from metabroker.broker.outbox import Ready

from .changes import complete
from .queries import ENDED_WORDS, Queries


class Completions:
    """Futures of jobs' ends. `written` is called in the core's thread, all else in any."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._lock = threading.Lock()
        self._waiters: dict[int, list[Future[Json]]] = {}

    def wait(self, job: int) -> Future[Json]:
        """Done with the job's object once it has ended; at once if it has ended before.

        Who waits no longer cancels it (`Future.set_running_or_notify_cancel`).
        """
        future: Future[Json] = Future()
        with self._lock:
            waiters = self._waiters.setdefault(job, [])
            waiters[:] = [waiter for waiter in waiters if not waiter.cancelled()]
            waiters.append(future)
        try:
            row = self._queries.row(job)
        except ServiceError:
            self._forget(job, future)
            raise
        # Who takes it off the list answers it: the job may be ending at this moment.
        ours = row["state"] in ENDED_WORDS and self._forget(job, future)
        if ours and future.set_running_or_notify_cancel():
            future.set_result(self._queries.of_row(row))
        return future

    def written(self, ready: Ready) -> None:
        """Something has become durable: tell those who wait for the end of a job."""
        for job in ready.jobs:
            if job.state.ended:
                with self._lock:
                    waiters = self._waiters.pop(job.id, [])
                told: Future[Json] = Future()
                if waiters:  # read once, however many wait, and whether it can be or not
                    complete(told, partial(self._ended_view, job.id))
                for waiter in waiters:
                    if waiter.set_running_or_notify_cancel():
                        complete(waiter, told.result)

    def _ended_view(self, number: int) -> Json:
        return self._queries.of_row(self._queries.row(number))

    def _forget(self, job: int, future: Future[Json]) -> bool:
        """Take a waiter off the list; False: it was not on it any more."""
        with self._lock:
            waiters = self._waiters.get(job, [])
            found = future in waiters
            if found:
                waiters.remove(future)
            if not waiters:
                self._waiters.pop(job, None)
            return found
