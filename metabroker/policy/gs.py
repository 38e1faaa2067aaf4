"""GS: one global scheduler with one global queue for all jobs (BE03 2.5, BE07 2.3).

With Worst Fit with reuse it is the queue of DCS 2.4, FCFS or FPFS.
"""

from collections.abc import Iterable

from metabroker.policy.aging import Aging
from metabroker.policy.placement import Place, Rng
from metabroker.policy.queue import Entry, Queue, Start
from metabroker.policy.request import Request
from metabroker.policy.scheduler import Scheduler


class GlobalScheduler(Scheduler):
    """All jobs join the global queue."""

    def __init__(
        self,
        clusters: int,
        place: Place,
        discipline: str = "FCFS",
        aging: Aging | None = None,
        rng: Rng | None = None,
    ) -> None:
        if discipline == "FCFS":
            aging = None  # nobody is overtaken where only the head can start
        super().__init__(clusters, place, discipline, aging, rng)
        self._queue = self._queues[clusters]

    def _indices(self) -> Iterable[int]:
        return (self.clusters,)

    def queue_of(self, request: Request, local: int) -> int:
        return self.clusters

    def _enabled(self) -> list[Queue]:
        return [self._queue] if self._queue.items else []

    def _departure(self, idle: list[int], starts: list[Start]) -> None:
        for queue in self._enabled():
            while queue.items and queue.visit(idle, starts):
                pass

    def _arrivals(self, news: list[Entry], idle: list[int], starts: list[Start]) -> None:
        for entry in news:
            self._queue.newcomer(entry, idle, starts)
