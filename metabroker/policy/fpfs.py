"""Fit Processors First Served: the queue is scanned from head to tail (DCS 2.4)."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush, heapreplace, merge
from typing import TYPE_CHECKING

from metabroker.policy.entry import Entry, Start
from metabroker.policy.placement import Place
from metabroker.policy.queue import Fifo, Queue

if TYPE_CHECKING:
    from metabroker.policy.overtaking import Overtaking

Shape = tuple[object, int]


class FpfsQueue(Queue):
    """A queue whose scheduler starts the first job, from head to tail, that fits.

    The jobs are kept by shape. Within a pass the idle processors only become fewer, so once a
    job of a shape does not fit, later ones of that shape are not tried: a scan costs as much as
    there are shapes, however many jobs wait. When a protected job starts, those are tried once more
    that have left its clusters to it.
    """

    __slots__ = ("_count", "_gave_way", "_left", "_scan", "_shapes")

    def __init__(
        self,
        index: int,
        clusters: int,
        place: Place,
        waiting: dict[int, Entry],
        watch: "Overtaking | None",
    ) -> None:
        super().__init__(index, clusters, place, waiting, watch)
        self._shapes: dict[Shape, Fifo] = {}
        self.items = self._shapes
        self._count = 0
        self._scan: list[Entry] | None = None
        """The heap of the first job of each shape that may still fit in this pass."""
        self._gave_way: list[Entry] = []
        """Those of them that would fit if nobody was protected."""
        self._left = 0
        """How many protected jobs had left when these were tried."""

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Entry]:
        return merge(*self._shapes.values())

    @property
    def head(self) -> Entry:
        return min(fifo.items[0] for fifo in self._shapes.values())

    def before(self, seq: int) -> int:
        return sum(fifo.before(seq) for fifo in self._shapes.values())

    def append(self, entry: Entry, since: int) -> bool:
        """True: an arrival to a non-empty queue is tried too."""
        self._fifo(entry).append(entry)
        self._count += 1
        return True

    def merge(self, entries: Sequence[Entry]) -> None:
        groups: dict[Shape, list[Entry]] = {}
        for entry in entries:
            groups.setdefault(_shape(entry), []).append(entry)
        for group in groups.values():
            self._fifo(group[0]).merge(group)
        self._count += len(entries)

    def remove(self, entry: Entry) -> None:
        shape = _shape(entry)
        fifo = self._shapes[shape]
        fifo.remove(entry)
        if not fifo.items:
            del self._shapes[shape]
        self._count -= 1

    def rewind(self) -> None:
        self._scan = None

    def visit(self, idle: list[int], starts: list[Start]) -> bool:
        return self._start_next(None, idle, starts)

    def visit_upto(self, seq: int, idle: list[int], starts: list[Start]) -> bool:
        return self._start_next(seq, idle, starts)

    def newcomer(self, entry: Entry, idle: list[int], starts: list[Start]) -> bool:
        """Tried itself, whoever waits in front of it."""
        if entry.key not in self._waiting:
            return False
        placement = self.fit(entry, idle)
        if placement is None:
            return False
        self.remove(entry)
        self._start(entry, placement, idle, starts)
        return True

    def _start_next(self, last: int | None, idle: list[int], starts: list[Start]) -> bool:
        """Go on with the scan, to the job with the seq `last` at most, until a job fits."""
        scan = self._still_to_try()
        while scan and (last is None or scan[0][0] <= last):
            entry = scan[0]
            if entry.key not in self._waiting:  # it was started as a newcomer, in this pass
                self._next_of_shape(scan, entry)
                continue
            placement = self.fit(entry, idle)
            if placement is None:
                heappop(scan)
                if self._gives_way(entry, idle):
                    self._gave_way.append(entry)
                continue
            self.remove(entry)
            self._next_of_shape(scan, entry)
            self._start(entry, placement, idle, starts)
            return True
        return False

    def _still_to_try(self) -> list[Entry]:
        """The heap of those that may fit now."""
        scan, left = self._scan, 0 if self._watch is None else self._watch.protected_left
        if scan is None:
            scan = self._scan = [fifo.items[0] for fifo in self._shapes.values()]
            heapify(scan)
            self._gave_way.clear()
        elif left != self._left:
            for entry in self._gave_way:
                fifo = self._shapes.get(_shape(entry))
                if fifo is not None:
                    heappush(scan, fifo.items[0])
            self._gave_way.clear()
        self._left = left
        return scan

    def _gives_way(self, entry: Entry, idle: Sequence[int]) -> bool:
        """Whether a job that does not fit would if nobody was protected."""
        watch = self._watch
        if watch is None or watch.left_for(entry.seq, idle) is idle:
            return False
        return self.fit_on(entry, idle) is not None

    def _next_of_shape(self, scan: list[Entry], first: Entry) -> None:
        """The job at the top of the heap waits no more: the next one of its shape comes after."""
        fifo = self._shapes.get(_shape(first))
        if fifo is None:
            heappop(scan)
        else:
            heapreplace(scan, fifo.items[0])

    def _fifo(self, entry: Entry) -> Fifo:
        """The jobs of the same shape."""
        shape = _shape(entry)
        fifo = self._shapes.get(shape)
        if fifo is None:
            fifo = self._shapes[shape] = Fifo()
        return fifo


def _shape(entry: Entry) -> Shape:
    """Equal for jobs of a queue that fit on exactly the same idle processors."""
    return entry.request.shape, entry.pin
