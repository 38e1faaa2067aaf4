"""GP: the global queue has priority over the local queues (BE03 2.5, BE07 2.3)."""

from collections.abc import Sequence

from metabroker.policy.context import Context
from metabroker.policy.queue import Queue
from metabroker.policy.two_level import TwoLevelScheduler


class GlobalPriority(TwoLevelScheduler):
    """The local queues are enabled only while the global queue is empty.

    With the option `gp` "same-pass" they are enabled as soon as it becomes empty during a pass,
    else at the next departure.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._same_pass = context.options.gp == "same-pass"

    def _enabled(self) -> list[Queue]:
        return [self._global] if self._global.items else self._waiting_locals()

    def _forbids(self, queue: Queue) -> str | None:
        return "the global queue is empty" if queue.local and self._global.items else None

    def _emptied(self, queue: Queue) -> Sequence[Queue]:
        return () if queue.local or not self._same_pass else self._waiting_locals()
