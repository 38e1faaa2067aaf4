"""First Come First Served: only the head of the queue may start (BE03 2.5, DCS 2.4)."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from metabroker.policy.entry import Entry, Start
from metabroker.policy.placement import Place
from metabroker.policy.queue import Fifo, Queue
from metabroker.policy.request import Placement

if TYPE_CHECKING:
    from metabroker.policy.overtaking import Overtaking


class FcfsQueue(Queue):
    """A queue whose scheduler starts its head, or nothing."""

    __slots__ = ("_fifo",)

    def __init__(
        self,
        index: int,
        clusters: int,
        place: Place,
        waiting: dict[int, Entry],
        watch: "Overtaking | None",
    ) -> None:
        super().__init__(index, clusters, place, waiting, watch)
        self._fifo = Fifo()
        self.items = self._fifo.items

    def __len__(self) -> int:
        return len(self._fifo)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._fifo)

    @property
    def head(self) -> Entry:
        return self._fifo.items[0]

    def before(self, seq: int) -> int:
        return self._fifo.before(seq)

    def append(self, entry: Entry, since: int) -> bool:
        """True if the queue was empty at the last pass, or if the job becomes the head."""
        self._fifo.append(entry)
        return self.head.seq >= since or self.head.seq == entry.seq

    def would_start(
        self, entry: Entry, idle: Sequence[int], limit: float, now: float
    ) -> Placement | None:
        return self.fit(entry, idle) if self.head.seq == entry.seq else None

    def merge(self, entries: Sequence[Entry]) -> None:
        self._fifo.merge(entries)

    def remove(self, entry: Entry) -> None:
        self._fifo.remove(entry)

    def rewind(self) -> None:
        """The head is looked at anew at each visit."""

    def visit(self, idle: list[int], starts: list[Start]) -> bool:
        entry = self.head
        placement = self.fit(entry, idle)
        if placement is None:
            return False
        self._fifo.popleft()
        self._start(entry, placement, idle, starts)
        return True

    def visit_upto(self, seq: int, idle: list[int], starts: list[Start]) -> bool:
        return bool(self.items) and self.head.seq <= seq and self.visit(idle, starts)

    def newcomer(self, entry: Entry, idle: list[int], starts: list[Start]) -> bool:
        """Tried only if nobody is in front of it."""
        return bool(self.items) and self.head.seq == entry.seq and self.visit(idle, starts)
