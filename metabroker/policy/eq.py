"""EQ: the local queues and the global queue are equal (BE03 2.5)."""

from metabroker.policy.queue import Queue
from metabroker.policy.two_level import TwoLevelScheduler


class EqualQueues(TwoLevelScheduler):
    """EQ-LF: a departure enables all queues, the local ones first."""

    def _enabled(self) -> list[Queue]:
        enabled = self._waiting_locals()
        return self._merge(enabled, self._global) if self._global.items else enabled

    def _merge(self, local: list[Queue], last: Queue) -> list[Queue]:
        """The order of the enabled queues."""
        return [*local, last]


class EqualQueuesGlobalFirst(EqualQueues):
    """EQ-GF: the global queue first."""

    def _merge(self, local: list[Queue], last: Queue) -> list[Queue]:
        return [last, *local]


class EqualQueuesRandom(EqualQueues):
    """EQ-RD: at each departure the global queue first, or the local ones, equally likely."""

    randomised = True

    def _merge(self, local: list[Queue], last: Queue) -> list[Queue]:
        assert self._rng is not None
        if not local or self._rng.randrange(2):
            return [last, *local]
        return [*local, last]
