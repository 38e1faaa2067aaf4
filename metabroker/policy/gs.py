"""GS: one global scheduler with one global queue for all jobs (BE03 2.5, BE07 2.3).

With Worst Fit with reuse it is the queue of DCS 2.4, FCFS or FPFS.
"""

from collections.abc import Iterable

from metabroker.policy.context import Context
from metabroker.policy.queue import Queue
from metabroker.policy.request import Request
from metabroker.policy.scheduler import Scheduler


class GlobalScheduler(Scheduler):
    """All jobs join the global queue."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._queue = self._queues[self.clusters]

    def _indices(self) -> Iterable[int]:
        return (self.clusters,)

    def queue_of(self, request: Request, local: int) -> int:
        return self.clusters

    def _enabled(self) -> list[Queue]:
        return [self._queue] if self._queue.items else []
