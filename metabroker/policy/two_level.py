"""What GP, LP, EQ and LQ share: local queues for single-component jobs, a global one for the rest.

BE03 2.5, BE07 2.3: the local schedulers start jobs on their own cluster only, the global scheduler
over the whole system.
"""

from collections.abc import Iterable

from metabroker.policy.context import Context
from metabroker.policy.queue import Queue
from metabroker.policy.request import Request
from metabroker.policy.scheduler import Scheduler


class TwoLevelScheduler(Scheduler):
    """Local queues and one global queue."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._global = self._queues[self.clusters]
        self._locals = [self._queues[index] for index in range(self.clusters)]

    def _indices(self) -> Iterable[int]:
        return range(self.clusters + 1)

    def queue_of(self, request: Request, local: int) -> int:
        """The global queue for several components, else a local one.

        One ordered component joins the queue of its own cluster.
        """
        if not request.single:
            return self.clusters
        return request.needs[0][0] if request.needs else local

    def _waiting_locals(self) -> list[Queue]:
        """The non-empty local queues."""
        return [queue for queue in self._locals if queue.items]
