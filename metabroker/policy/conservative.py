"""CONSERVATIVE backfilling: every job is promised a start when it is submitted.

The stricter sister of EASY (easy.py), after Feitelson and Weil (1998): a job may overtake
others only if it delays none of them. A new job gets the earliest slot of the availability profile
that the promises in front of it leave. When a job ends before its estimate, the promises are moved
forward one by one, in the order of submission, until none can be; none is ever moved back.
"""

from bisect import insort
from collections.abc import Sequence
from math import inf, nextafter

from metabroker.policy.placement import Place, worst_fit
from metabroker.policy.planner import Launch, LivePlanner
from metabroker.policy.profile import Profile, Slot
from metabroker.policy.request import Placement, Request, Sizes


class _Job:
    """A job that waits for its slot, or runs in it."""

    __slots__ = ("clusters", "end", "estimate", "key", "request", "start")

    def __init__(self, key: int, request: Request, estimate: float) -> None:
        self.key = key
        self.request = request
        self.estimate = estimate
        self.promise((inf, ()))

    def promise(self, slot: Slot) -> None:
        """The slot [start, end) on these clusters; it lasts, however short the estimate."""
        self.start, self.clusters = slot
        self.end = max(self.start + self.estimate, nextafter(self.start, inf))

    @property
    def sizes(self) -> Sizes:
        return self.request.sizes


class Conservative(LivePlanner):
    """CONSERVATIVE with any placement rule.

    A promise is a time and a place. Promises hold as long as no job outlives its estimate; then
    all waiting jobs are promised again, with that job expected to end at any moment. They are
    promised again, too, where somebody's slot has no room for whole nodes any more.
    """

    def __init__(self, processors: Sequence[int], place: Place = worst_fit) -> None:
        super().__init__(processors)
        self._place = place
        self._profile = Profile(processors, place)
        self._queue: dict[int, _Job] = {}
        self._newcomers: list[_Job] = []
        self._running: dict[int, _Job] = {}
        self._ends: list[tuple[float, int]] = []
        """The running jobs by the ends of their slots; some have ended already."""
        self._early = False
        """A job has ended before the end of its slot, since the last pass."""
        self._late = False
        """A job has ended after it."""

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self._newcomers.append(_Job(key, request, estimate))

    def end(self, key: int, now: float) -> None:
        job = self._running.pop(key)
        if job.end > now:
            self._profile.give(now, job.end, job.clusters, job.sizes)
            self._early = True
        elif job.end < now:
            self._late = True

    def adopt(self, key: int, parts: Sequence[tuple[int, int]], end: float, now: float) -> None:
        request = Request(tuple(n for _, n in parts))
        self._running[key] = job = _Job(key, request, 0.0)
        job.clusters, job.end = tuple(c for c, _ in parts), end
        insort(self._ends, (end, key))
        self._profile.take(now, max(end, nextafter(now, inf)), job.clusters, job.sizes)

    def withdraw(self, key: int) -> None:
        newcomers = [job for job in self._newcomers if job.key != key]
        if len(newcomers) < len(self._newcomers):
            self._newcomers = newcomers
            return
        job = self._queue.pop(key)
        if job.start < inf:
            self._profile.give(job.start, job.end, job.clusters, job.sizes)
            self._early = True

    def would_start(self, request: Request, estimate: float, now: float) -> Placement | None:
        start, clusters = self._profile.earliest(request, estimate, now)
        return clusters if start <= now else None

    def run(self, now: float) -> list[Launch]:
        self._profile.forget(now)
        if self._late or self._overrun(now):
            self._promise_anew(now)
        elif self._early:
            self._move_forward(now)
        self._early = self._late = False
        for job in self._newcomers:
            self._promise(job, now)
            self._queue[job.key] = job
        self._newcomers.clear()
        return self._start_due(now)

    def __len__(self) -> int:
        return len(self._queue) + len(self._newcomers)

    def ever_fits(self, request: Request) -> bool:
        return self._place(request, self.processors) is not None

    def promises(self) -> dict[int, tuple[float, Placement]]:
        """The promised start and clusters of every waiting job, by key, in order of submission."""
        return {key: (job.start, job.clusters) for key, job in self._queue.items()}

    def _promise(self, job: _Job, now: float) -> None:
        job.promise(self._profile.earliest(job.request, job.estimate, now))
        if job.start < inf:
            self._profile.take(job.start, job.end, job.clusters, job.sizes)

    def _move_forward(self, now: float) -> None:
        """Nobody's slot gets worse: the one that it had is free for it.

        Again until nobody moves, because one that moves may make room for one in front of it. So
        every promised start is another job's end, and a pass comes then.

        Where a cluster gives whole nodes that does not always hold: a slot takes a job's processors
        from the profile, but must have room for its nodes. Who then finds nothing as good as before
        has all promised anew, so that the rounds end: else somebody's slot is better after each.
        """
        moved = True
        while moved:
            moved = False
            for job in self._queue.values():
                before = job.start
                if before < inf:
                    self._profile.give(before, job.end, job.clusters, job.sizes)
                self._promise(job, now)
                if job.start > before:
                    self._promise_anew(now)
                    return
                moved = moved or job.start < before

    def _overrun(self, now: float) -> bool:
        """Does a job run that should have ended?"""
        ends = self._ends
        while ends and ends[0][0] <= now and ends[0][1] not in self._running:
            del ends[0]
        return bool(ends) and ends[0][0] <= now

    def _promise_anew(self, now: float) -> None:
        self._profile = Profile(self.processors, self._place)
        soon = nextafter(now, inf)
        for job in self._running.values():
            self._profile.take(now, max(job.end, soon), job.clusters, job.sizes)
        for job in self._queue.values():
            self._promise(job, now)

    def _start_due(self, now: float) -> list[Launch]:
        due = [job for job in self._queue.values() if job.start <= now]
        for job in due:
            del self._queue[job.key]
            self._running[job.key] = job
            insort(self._ends, (job.end, job.key))
        return [(job.key, job.clusters, job.sizes) for job in due]
