"""EASY backfilling over several clusters (ER 2.4: "for the single machines as well").

One central queue. The head that does not fit is promised a time and a place: the earliest time at
which the placement rule finds room if all running jobs end by their estimates, and the clusters
that it finds then. The promise stands until a job ends; then it is made again. Another job may
start if it ends by that time, or if it leaves those processors alone. easy_pool.py is the same on
one cluster, where nothing is to be placed.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from math import inf

from metabroker.policy.easy_pool import EasyPool
from metabroker.policy.placement import Place, worst_fit
from metabroker.policy.planner import Launch, LivePlanner, Planner
from metabroker.policy.request import Placement, Request, Sizes

Waiting = tuple[int, float, Request]
"""A waiting job: (key, estimate, request)."""

Running = tuple[float, int, Placement, Sizes]
"""A running job: (end by its estimate, key, clusters, processors on each)."""


class Easy(LivePlanner):
    """EASY with any placement rule; for the queue see EasyPool."""

    def __init__(self, processors: Sequence[int], place: Place = worst_fit) -> None:
        super().__init__(processors)
        self._place = place
        self._free = list(processors)
        self._queue: list[Waiting] = []
        self._settled = 0
        self._running: dict[int, Running] = {}
        self._ends: list[Running] = []
        self._shadow = inf
        self._spare: list[int] = []
        """What the head leaves free at the shadow, by cluster."""

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self._queue.append((key, estimate, request))

    def end(self, key: int, now: float) -> None:
        job = self._running.pop(key)
        del self._ends[bisect_left(self._ends, job[:2], key=_by_end)]
        _give(self._free, job)
        self._settled = 0

    def adopt(self, key: int, parts: Sequence[tuple[int, int]], end: float, now: float) -> None:
        clusters, sizes = tuple(c for c, _ in parts), tuple(n for _, n in parts)
        for cluster, size in parts:
            self._free[cluster] -= size
        self._running[key] = running = (end, key, clusters, sizes)
        insort(self._ends, running, key=_by_end)
        self._settled = 0

    def withdraw(self, key: int) -> None:
        positions = [n for n, job in enumerate(self._queue) if job[0] == key]
        if not positions:
            raise KeyError(key)
        del self._queue[positions[0]]
        self._settled = 0

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
        return (self._queue[0][0], self._shadow) if self._queue else None

    def _start_heads(self, now: float, launches: list[Launch]) -> None:
        queue = self._queue
        started = 0
        for job in queue:
            clusters = self._place(job[2], self._free)
            if clusters is None:
                break
            self._start(job, clusters, now, launches)
            started += 1
        if started:
            del queue[:started]

    def _promise(self, now: float) -> None:
        """Find the shadow and what is spare then, for a head that cannot start.

        A job that has outlived its estimate is expected to end at any moment.
        """
        request = self._queue[0][2]
        ends = self._ends
        free = list(self._free)
        for position, job in enumerate(ends):
            _give(free, job)
            if position + 1 < len(ends) and ends[position + 1][0] <= max(job[0], now):
                continue
            clusters = self._place(request, free)
            if clusters is not None:
                self._shadow = max(job[0], now)
                self._spare = free
                for cluster, size in zip(clusters, request.sizes, strict=True):
                    free[cluster] -= size
                return
        self._shadow = inf
        self._spare = [0] * len(free)

    def _backfill(self, first: int, now: float, launches: list[Launch]) -> None:
        """Start what does not postpone the head, from the place `first` in the queue on."""
        queue = self._queue
        hopeless: set[object] = set()
        chosen: list[int] = []
        for position in range(first, len(queue)):
            job = queue[position]
            _, estimate, request = job
            if request.shape in hopeless:
                continue
            clusters = self._place(request, self._free)
            if clusters is None:
                hopeless.add(request.shape)
                continue
            if now + estimate > self._shadow:
                room = list(map(min, self._free, self._spare))
                clusters = self._place(request, room)
                if clusters is None:
                    continue
                for cluster, size in zip(clusters, request.sizes, strict=True):
                    self._spare[cluster] -= size
            self._start(job, clusters, now, launches)
            chosen.append(position)
        for position in reversed(chosen):
            del queue[position]

    def _start(self, job: Waiting, clusters: Placement, now: float, launches: list[Launch]) -> None:
        key, estimate, request = job
        for cluster, size in zip(clusters, request.sizes, strict=True):
            self._free[cluster] -= size
        self._running[key] = running = (now + estimate, key, clusters, request.sizes)
        insort(self._ends, running, key=_by_end)
        launches.append((key, clusters, request.sizes))


def easy(processors: Sequence[int], place: Place = worst_fit) -> Planner:
    """EASY: on one cluster EasyPool, over several Easy."""
    return EasyPool(processors) if len(processors) == 1 else Easy(processors, place)


def _by_end(job: Running) -> tuple[float, int]:
    return job[:2]


def _give(free: list[int], job: Running) -> None:
    """The processors of a job are free again."""
    for cluster, size in zip(job[2], job[3], strict=True):
        free[cluster] += size
