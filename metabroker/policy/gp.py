"""GP: the global queue has priority over the local queues (BE03 2.5, BE07 2.3)."""

from collections.abc import Sequence

from metabroker.policy.aging import Aging
from metabroker.policy.placement import Place, Rng
from metabroker.policy.queue import Queue
from metabroker.policy.two_level import TwoLevelScheduler


class GlobalPriority(TwoLevelScheduler):
    """The local queues are enabled only while the global queue is empty.

    With `same_pass` they are enabled as soon as it becomes empty during a pass, else at the next
    departure.
    """

    def __init__(
        self,
        clusters: int,
        place: Place,
        discipline: str = "FCFS",
        aging: Aging | None = None,
        rng: Rng | None = None,
        *,
        same_pass: bool = True,
    ) -> None:
        super().__init__(clusters, place, discipline, aging, rng)
        self._same_pass = same_pass

    def _enabled(self) -> list[Queue]:
        return [self._global] if self._global.items else self._waiting_locals()

    def _forbids(self, queue: Queue) -> str | None:
        return "the global queue is empty" if queue.local and self._global.items else None

    def _emptied(self, queue: Queue) -> Sequence[Queue]:
        return () if queue.local or not self._same_pass else self._waiting_locals()
