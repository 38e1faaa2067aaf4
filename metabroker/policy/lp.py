"""LP: the local queues have priority over the global queue (BE03 2.5, BE07 2.3)."""

from collections.abc import Sequence

from metabroker.policy.entry import Entry, Start
from metabroker.policy.queue import Queue
from metabroker.policy.two_level import TwoLevelScheduler


class LocalPriority(TwoLevelScheduler):
    """LP-LF: the global queue is enabled only while at least one local queue is empty.

    If one is empty at a departure, the local queues are enabled and then the global queue. If
    none is, only the local ones are; when one becomes empty during the pass, the global queue is
    enabled and appended to the list of those that are visited.
    """

    _opened = False
    """The global queue has been enabled in this pass."""

    def _enabled(self) -> list[Queue]:
        enabled = self._waiting_locals()
        self._opened = len(enabled) < self.clusters
        if self._opened and self._global.items:
            return self._merge(enabled, self._global)
        return enabled

    def _merge(self, local: list[Queue], last: Queue) -> list[Queue]:
        """The order of the enabled queues."""
        return [*local, last]

    def _forbids(self, queue: Queue) -> str | None:
        if queue.local or any(not local.items for local in self._locals):
            return None
        return "at least one local queue is empty"

    def _arrivals(self, news: list[Entry], idle: list[int], starts: list[Start]) -> None:
        self._opened = False
        super()._arrivals(news, idle, starts)

    def _emptied(self, queue: Queue) -> Sequence[Queue]:
        if self._opened or not self._global.items:
            return ()
        self._opened = True
        return (self._global,)


class LocalPriorityGlobalFirst(LocalPriority):
    """LP-GF: always starting with the global queue."""

    def _merge(self, local: list[Queue], last: Queue) -> list[Queue]:
        return [last, *local]


class LocalPriorityRandom(LocalPriority):
    """LP-RD: at each departure the global queue first, or the local ones, equally likely."""

    randomised = True

    def _merge(self, local: list[Queue], last: Queue) -> list[Queue]:
        assert self._rng is not None
        if not local or self._rng.randrange(2):
            return [last, *local]
        return [*local, last]
