"""First Come First Served: only the head of the queue may start (BE03 2.5, DCS 2.4)."""

from collections import deque
from collections.abc import Iterator, MutableSequence, Sequence
from typing import TYPE_CHECKING

from metabroker.policy.placement import Place
from metabroker.policy.queue import Entry, Fifo, Queue, Start

if TYPE_CHECKING:
    from metabroker.policy.overtaking import Overtaking


class FcfsQueue(Queue):
    """A queue whose scheduler starts its head, or nothing."""

    __slots__ = ("_fifo", "_removed", "items")

    items: deque[Entry]

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
        self._removed = self._fifo.removed

    def __len__(self) -> int:
        return len(self.items) - len(self._removed)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._fifo)

    @property
    def head(self) -> Entry:
        return self.items[0]

    def append(self, entry: Entry, since: int) -> bool:
        """True if the queue was empty at the last pass, or if the job becomes the head."""
        items = self.items
        if not items:
            items.append(entry)
            return True
        self._fifo.append(entry)
        head = items[0]
        return head[0] >= since or head is entry

    def merge(self, entries: Sequence[Entry]) -> None:
        self._fifo.merge(entries)

    def remove(self, entry: Entry) -> None:
        self._fifo.remove(entry)

    def visit(self, idle: MutableSequence[int], starts: list[Start]) -> bool:
        # The same as fit() and _start() without aging, in one piece: it is run for every job.
        items = self.items
        _, key, request, pin, _, _ = items[0]
        placement: tuple[int, ...] | None
        if pin >= 0:
            if idle[pin] < request.total:
                return False
            placement = self._alone[pin]
            idle[pin] -= request.total
        else:
            placement = self._place(request, idle)
            if placement is None:
                return False
            for cluster, size in zip(placement, request.sizes):  # noqa: B905 - costs time
                idle[cluster] -= size
        items.popleft()
        if self._removed:
            self._fifo.strip()
        del self._waiting[key]
        starts.append((key, placement))
        return True

    def visit_upto(self, seq: int, idle: MutableSequence[int], starts: list[Start]) -> bool:
        items = self.items
        return bool(items) and items[0][0] <= seq and self.visit(idle, starts)

    def newcomer(self, entry: Entry, idle: MutableSequence[int], starts: list[Start]) -> bool:
        """Tried only if nobody is in front of it."""
        items = self.items
        return bool(items) and items[0] is entry and self.visit(idle, starts)


class AgedFcfsQueue(FcfsQueue):
    """The same with aging: the head may not start if it would overtake a protected job."""

    __slots__ = ()

    def visit(self, idle: MutableSequence[int], starts: list[Start]) -> bool:
        entry = self.items[0]
        placement = self.fit(entry, idle)
        if placement is None:
            return False
        self._fifo.popleft()
        self._start(entry, placement, idle, starts)
        return True
