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

    __slots__ = ("_fifo", "_jobs", "_removed")

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
        self._jobs = self._fifo.items
        self.items = self._jobs
        self._removed = self._fifo.removed

    def __len__(self) -> int:
        return len(self._jobs) - len(self._removed)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._fifo)

    @property
    def head(self) -> Entry:
        return self._jobs[0]

    def before(self, seq: int) -> int:
        return self._fifo.before(seq)

    def append(self, entry: Entry, since: int) -> bool:
        """True if the queue was empty at the last pass, or if the job becomes the head."""
        jobs = self._jobs
        if not jobs:
            jobs.append(entry)
            return True
        self._fifo.append(entry)
        head = jobs[0][0]
        return head >= since or head == entry[0]

    def would_start(
        self, entry: Entry, idle: Sequence[int], limit: float, now: float
    ) -> Placement | None:
        return self.fit(entry, idle) if self.head[0] == entry[0] else None

    def merge(self, entries: Sequence[Entry]) -> None:
        self._fifo.merge(entries)

    def remove(self, entry: Entry) -> None:
        self._fifo.remove(entry)

    def visit(self, idle: list[int], starts: list[Start]) -> bool:
        # The same as fit() and _start() without aging, in one piece: it is run for every job.
        jobs = self._jobs
        if self.contested:
            return self._visit_with_fit(idle, starts)
        _, key, request, pin, _, _ = jobs[0]
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
        if self.units:
            self._take_whole(placement, request.sizes, idle)
        jobs.popleft()
        if self._removed:
            self._fifo.strip()
        del self._waiting[key]
        starts.append((key, placement))
        return True

    def _visit_with_fit(self, idle: list[int], starts: list[Start]) -> bool:
        entry = self._jobs[0]
        placement = self.fit(entry, idle)
        if placement is None:
            return False
        self._fifo.popleft()
        self._start(entry, placement, idle, starts)
        return True

    def visit_upto(self, seq: int, idle: list[int], starts: list[Start]) -> bool:
        jobs = self._jobs
        return bool(jobs) and jobs[0][0] <= seq and self.visit(idle, starts)

    def newcomer(self, entry: Entry, idle: list[int], starts: list[Start]) -> bool:
        """Tried only if nobody is in front of it."""
        jobs = self._jobs
        return bool(jobs) and jobs[0][0] == entry[0] and self.visit(idle, starts)


class AgedFcfsQueue(FcfsQueue):
    """The same with aging: the head may not start if it would overtake a protected job."""

    __slots__ = ()

    def visit(self, idle: list[int], starts: list[Start]) -> bool:
        return self._visit_with_fit(idle, starts)
