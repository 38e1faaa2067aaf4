"""MULTI-SITE as a daemon drives it (ER 2.4; `multi_site` is the simulator's).

There every job may be split, and nothing is known of a cluster but its idle processors. A daemon
has jobs of both kinds: those whose users let the broker split them (`Request.parts`), and those
that it must place as they are. Clusters may be closed to a job, too. The rules are the paper's for
both kinds: at once at submission if there is room, else EASY. Where all jobs may be split over all
clusters every start is the simulator's.
"""

from bisect import insort
from collections.abc import Sequence

from metabroker.policy.best_fit import parts_of
from metabroker.policy.easy import Easy, Running, Waiting
from metabroker.policy.placement import Place
from metabroker.policy.planner import Launch
from metabroker.policy.request import Placement, Request, Sizes

Where = tuple[Placement, Sizes]
_ONE = Request((1,))


class LiveMultiSite(Easy):
    """At submission at once, if there is room; else EASY. `place`: the rule `fewest_clusters`,
    where jobs may go. `overhead`: a job that is split runs (1 + overhead) times as long, and is
    expected to.

    The head's promise is a time. If it may be split over all clusters, then others leave it enough
    processors, wherever these are; else they leave it those of the clusters in which it will fit.
    """

    def __init__(self, processors: Sequence[int], place: Place, overhead: float) -> None:
        super().__init__(processors, place)
        self.overhead = overhead
        self._newcomers: list[Waiting] = []
        one = [
            [int(c == other) for other in range(len(processors))] for c in range(len(processors))
        ]
        self._all_open = all(place(_ONE, idle) is not None for idle in one)
        self._anywhere = False  # the head may be split over all clusters
        self._left = 0  # if so: what it leaves free at the shadow, in all of them together

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self._newcomers.append(Waiting(key, estimate, request))

    def rejoin(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self._queue.append(Waiting(key, estimate, request))
        self._settled = 0  # newcomers may have taken what was spare

    def would_start(self, request: Request, estimate: float, now: float) -> Placement | None:
        return self._place(request, self._free)

    def run(self, now: float) -> list[Launch]:
        launches = super().run(now)
        for job in self._newcomers:
            where = self._where(job.request, self._free)
            if where is None:
                self._queue.append(job)
            else:
                self._launch(job, where, now, launches)
        self._newcomers.clear()
        self._settled = len(self._queue)
        return launches

    def __len__(self) -> int:
        return len(self._queue) + len(self._newcomers)

    def _where(self, request: Request, free: Sequence[int]) -> Where | None:
        """The clusters, and how many processors of each."""
        clusters = self._place(request, free)
        if clusters is None:
            return None
        split = request.parts > 1 and len(clusters) > 1
        return clusters, parts_of(request, clusters, free) if split else request.sizes

    def _start_heads(self, now: float, launches: list[Launch]) -> None:
        started = 0
        for job in self._queue:
            where = self._where(job.request, self._free)
            if where is None:
                break
            self._launch(job, where, now, launches)
            started += 1
        del self._queue[:started]

    def _found(self, request: Request, free: list[int], clusters: Placement) -> None:
        """At the shadow so much is free, and the head finds room in these clusters."""
        wide = request.parts >= len(free) and request.grain == 1 and not request.bounded
        self._anywhere = wide and self._all_open
        self._left = sum(free) - request.total
        where = self._where(request, free)
        assert where is not None
        for cluster, size in zip(*where, strict=True):
            free[cluster] -= size

    def _backfill(self, first: int, now: float, launches: list[Launch]) -> None:
        queue = self._queue
        idle = sum(self._free)
        chosen: list[int] = []
        for position in range(first, len(queue)):
            job = queue[position]
            request = job.request
            where = None if request.total > idle else self._where(request, self._free)
            if where is not None and now + self._takes(job, where) > self._shadow:
                where = self._beside_head(request, where)
            if where is not None:
                self._launch(job, where, now, launches)
                idle -= request.total
                chosen.append(position)
        for position in reversed(chosen):
            del queue[position]

    def _beside_head(self, request: Request, where: Where) -> Where | None:
        """Where a job goes that would still run at the shadow: there, if it may be `where`."""
        if self._anywhere:
            if request.total > self._left:
                return None
            self._left -= request.total
            return where
        beside = self._where(request, list(map(min, self._free, self._spare)))
        if beside is not None:
            for cluster, size in zip(*beside, strict=True):
                self._spare[cluster] -= size
        return beside

    def _launch(self, job: Waiting, where: Where, now: float, launches: list[Launch]) -> None:
        clusters, sizes = where
        for cluster, size in zip(clusters, sizes, strict=True):
            self._free[cluster] -= size
        end = now + self._takes(job, where)
        self._running[job.key] = running = Running(end, job.key, clusters, sizes)
        insort(self._ends, running)
        launches.append((job.key, clusters, sizes))

    def _takes(self, job: Waiting, where: Where) -> float:
        """How long it may run there."""
        split = job.request.parts > 1 and len(where[0]) > 1
        return job.estimate * (1 + self.overhead) if split else job.estimate
