"""EASY backfilling on one pool of processors (Lifka 1995, as ER 2.4 uses it).

"If the next job in the list cannot be started due to a lack of available resources, backfilling
tries to find another job in the list which can use the idle resources. But it will not postpone
the execution of the next job in the list." So the head gets a promise: the *shadow*, the earliest
time at which it can start if all running jobs end by their estimates. Another job may start if it
ends by the shadow, or fits beside the head then, in the *extra* processors.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from math import inf

from metabroker.policy.planner import Launch, Planner, fits_pool
from metabroker.policy.request import Request

Waiting = tuple[int, int, float, Request]
"""A waiting job: (key, processors, estimate, request)."""

Running = tuple[float, int, int]
"""A running job: (end by its estimate, key, processors)."""


class EasyPool(Planner):
    """EASY on one cluster. Components of a job stand side by side: only its total counts.

    A pass looks at the whole queue only after an end. Between two ends the idle processors and
    the extra ones only become fewer and the shadow only comes nearer: who could not start, cannot.
    """

    def __init__(self, processors: Sequence[int]) -> None:
        super().__init__(processors)
        self._free = sum(processors)
        self._queue: list[Waiting] = []
        self._settled = 0
        """The number of jobs in the queue, from the head, that cannot start before an end."""
        self._running: dict[int, Running] = {}
        self._ends: list[Running] = []
        """The running jobs in the order in which they are to end."""
        self._shadow = inf
        self._extra = 0

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self._queue.append((key, request.total, estimate, request))

    def end(self, key: int, now: float) -> None:
        job = self._running.pop(key)
        ends = self._ends
        del ends[bisect_left(ends, job)]
        self._free += job[2]
        self._settled = 0

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
        return fits_pool(request, self.processors[0])

    @property
    def promise(self) -> tuple[int, float] | None:
        """The head's key and the time that it was promised at the last pass; None: nobody waits."""
        return (self._queue[0][0], self._shadow) if self._queue else None

    def _start_heads(self, now: float, launches: list[Launch]) -> None:
        """As First Come First Served."""
        queue = self._queue
        started = 0
        for job in queue:
            if job[1] > self._free:
                break
            self._start(job, now, launches)
            started += 1
        if started:
            del queue[:started]

    def _promise(self, now: float) -> None:
        """Find the shadow and the extra processors, for a head that cannot start.

        A job that has outlived its estimate is expected to end at any moment.
        """
        missing = self._queue[0][1] - self._free
        shadow = now
        for end, _, size in self._ends:
            if missing <= 0 and end > shadow:
                break
            missing -= size
            if end > shadow:
                shadow = end
        self._shadow = shadow
        self._extra = -missing

    def _backfill(self, first: int, now: float, launches: list[Launch]) -> None:
        """Start what does not postpone the head, from the place `first` in the queue on."""
        queue = self._queue
        shadow = self._shadow
        free = self._free
        if not free:
            return
        chosen: list[int] = []
        for position in range(first, len(queue)):
            _, size, estimate, _ = queue[position]
            if size > free:
                continue
            if now + estimate > shadow:
                if size > self._extra:
                    continue
                self._extra -= size
            free -= size
            chosen.append(position)
        for position in chosen:
            self._start(queue[position], now, launches)
        for position in reversed(chosen):
            del queue[position]

    def _start(self, job: Waiting, now: float, launches: list[Launch]) -> None:
        key, size, estimate, request = job
        self._free -= size
        self._running[key] = running = (now + estimate, key, size)
        insort(self._ends, running)
        sizes = request.sizes
        launches.append((key, (0,) * len(sizes), sizes))
