"""Sees in the store which jobs have ended, for those who wait at a broker that stands by."""

from __future__ import annotations

import threading
from concurrent.futures import Future

from metabroker.api.service import Json, ServiceError
from metabroker.service.queries import Queries

from .background import Background

_LOOK = 0.5  # seconds between two looks for jobs that have ended


class CompletionWatcher(Background):
    """Looks for the ends of those jobs that somebody waits for; once stopped, nobody is told."""

    def __init__(self, reading: Queries) -> None:
        super().__init__("ends")
        self._reading = reading
        self._lock = threading.Lock()
        self._waiters: dict[int, list[Future[Json]]] = {}

    def wait(self, job: int, future: Future[Json]) -> None:
        """Complete it when the job has ended."""
        with self._lock:
            self._waiters.setdefault(job, []).append(future)

    def _run(self) -> None:
        while not self._stopping.wait(_LOOK):
            numbers = self._waited_for()
            if not numbers:
                continue
            try:
                ended = self._reading.ended_among(numbers)
            except ServiceError:
                continue  # the store is away: those who wait go on waiting
            for view in ended:
                self._tell(view)

    def _waited_for(self) -> list[int]:
        """The jobs that somebody waits for yet."""
        with self._lock:
            for job, waiters in list(self._waiters.items()):
                waiters[:] = [waiter for waiter in waiters if not waiter.cancelled()]
                if not waiters:
                    del self._waiters[job]
            return list(self._waiters)

    def _tell(self, view: Json) -> None:
        with self._lock:
            waiters = self._waiters.pop(view["job"], [])
        for waiter in waiters:
            if waiter.set_running_or_notify_cancel():
                waiter.set_result(view)
