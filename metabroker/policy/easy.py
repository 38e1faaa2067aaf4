"""EASY backfilling (Lifka 1995), on one cluster or over several (ER 2.4: "for the single machines
as well").

"If the next job in the list cannot be started due to a lack of available resources, backfilling
tries to find another job in the list which can use the idle resources. But it will not postpone
the execution of the next job in the list." So the head gets a promise, a time and a place: the
*shadow*, the earliest time at which the placement rule finds room if all running jobs end by their
estimates, and the clusters that it finds then. The promise stands until a job ends; then it is made
again. Another job may start if it ends by the shadow, or if it leaves those processors alone.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from metabroker.policy.placement import Place, worst_fit
from metabroker.policy.planner import Launch, LivePlanner
from metabroker.policy.request import Placement, Request, Sizes


class Waiting(NamedTuple):
    """A waiting job."""

    key: int
    estimate: float
    request: Request


class Running(NamedTuple):
    """A running job: on these clusters, so many processors on each. `end`: by its estimate."""

    end: float
    key: int
    clusters: Placement
    sizes: Sizes


class Easy(LivePlanner):
    """EASY with any placement rule.

    A pass looks at the whole queue only after an end. Between two ends the idle processors and
    the spare ones only become fewer and the shadow only comes nearer: who could not start, cannot.
    """

    def __init__(self, processors: Sequence[int], place: Place = worst_fit) -> None:
        super().__init__(processors)
        self._place = place
        self._free = list(processors)
        self._queue: list[Waiting] = []
        self._settled = 0
        """The number of jobs in the queue, from the head, that cannot start before an end."""
        self._running: dict[int, Running] = {}
        self._ends: list[Running] = []
        """The running jobs in the order in which they are to end."""
        self._shadow = inf
        self._spare: list[int] = []
        """What the head leaves free at the shadow, by cluster."""

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self._queue.append(Waiting(key, estimate, request))

    def end(self, key: int, now: float) -> None:
        job = self._running.pop(key)
        del self._ends[bisect_left(self._ends, job)]
        _give(self._free, job)
        self._settled = 0

    def adopt(self, key: int, parts: Sequence[tuple[int, int]], end: float, now: float) -> None:
        clusters, sizes = tuple(c for c, _ in parts), tuple(n for _, n in parts)
        for cluster, size in parts:
            self._free[cluster] -= size
        self._running[key] = running = Running(end, key, clusters, sizes)
        insort(self._ends, running)
        self._settled = 0

    def withdraw(self, key: int) -> None:
        position = next((n for n, job in enumerate(self._queue) if job.key == key), None)
        if position is None:
            raise KeyError(key)
        del self._queue[position]
        if not position:
            self._settled = 0
        elif position < self._settled:
            self._settled -= 1

    def would_start(self, request: Request, estimate: float, now: float) -> Placement | None:
        if not self._queue or now + estimate <= self._shadow:
            return self._place(request, self._free)
        return self._place(request, list(map(min, self._free, self._spare)))

    def run(self, now: float) -> list[Launch]:
        launches: list[Launch] = []
        queue = self._queue
        if not self._settled:
            self._start_heads(now, launches)
            if queue:
                self._promise(now)
                self._backfill(1, now, launches)
        elif self._settled < len(queue):
            self._backfill(self._settled, now, launches)
        self._settled = len(queue)
        return launches

    def __len__(self) -> int:
        return len(self._queue)

    def ever_fits(self, request: Request) -> bool:
        return self._place(request, self.processors) is not None

    @property
    def promise(self) -> tuple[int, float] | None:
        """The head's key and the time that it was promised at the last pass; None: nobody waits."""
        return (self._queue[0].key, self._shadow) if self._queue else None

    def _start_heads(self, now: float, launches: list[Launch]) -> None:
        """As First Come First Served."""
        started = 0
        for job in self._queue:
            clusters = self._place(job.request, self._free)
            if clusters is None:
                break
            self._start(job, clusters, now, launches)
            started += 1
        del self._queue[:started]

    def _promise(self, now: float) -> None:
        """Find the shadow and what is spare then, for a head that cannot start.

        A job that has outlived its estimate is expected to end at any moment.
        """
        request = self._queue[0].request
        ends = self._ends
        free = list(self._free)
        for position, job in enumerate(ends):
            _give(free, job)
            if position + 1 < len(ends) and ends[position + 1].end <= max(job.end, now):
                continue
            clusters = self._place(request, free)
            if clusters is not None:
                self._shadow = max(job.end, now)
                self._spare = free
                self._found(request, free, clusters)
                return
        self._shadow = inf
        self._spare = [0] * len(free)

    def _found(self, request: Request, free: list[int], clusters: Placement) -> None:
        """At the shadow so much is free, and the head finds room in these clusters: the rest is
        spare."""
        for cluster, size in zip(clusters, request.sizes, strict=True):
            free[cluster] -= size

    def _backfill(self, first: int, now: float, launches: list[Launch]) -> None:
        """Start what does not postpone the head, from the place `first` in the queue on."""
        queue = self._queue
        idle = sum(self._free)
        chosen: list[int] = []
        for position in range(first, len(queue)):
            job = queue[position]
            request = job.request
            clusters = None if request.total > idle else self._place(request, self._free)
            if clusters is None:
                continue
            if now + self._lasts(job) > self._shadow:
                clusters = self._place(request, list(map(min, self._free, self._spare)))
                if clusters is None:
                    continue
                for cluster, size in zip(clusters, request.sizes, strict=True):
                    self._spare[cluster] -= size
            self._start(job, clusters, now, launches)
            idle -= request.total
            chosen.append(position)
        for position in reversed(chosen):
            del queue[position]

    def _start(self, job: Waiting, clusters: Placement, now: float, launches: list[Launch]) -> None:
        sizes = job.request.sizes
        for cluster, size in zip(clusters, sizes, strict=True):
            self._free[cluster] -= size
        self._running[job.key] = running = Running(now + self._lasts(job), job.key, clusters, sizes)
        insort(self._ends, running)
        launches.append((job.key, clusters, sizes))

    def _lasts(self, job: Waiting) -> float:
        """How long it may run if it starts now."""
        return job.estimate


def _give(free: list[int], job: Running) -> None:
    """The processors of a job are free again."""
    for cluster, size in zip(job.clusters, job.sizes, strict=True):
        free[cluster] += size
