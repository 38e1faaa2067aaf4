"""MULTI-SITE: jobs may run across the machines of a grid, at a price (ER 2.4).

The scheduler "first after a job submission tries to find a site that has enough free resources for
starting the job. If such a machine is not available, the scheduler tries to allocate the jobs on
resources from different sites. The number of combined sites is minimized. If there are not enough
available resources for a job, it is queued and normal backfilling is applied. Note, that this
algorithm is not exactly backfilling as multi-site jobs can surpass queued jobs at submission."
"""

from collections.abc import Sequence

from metabroker.policy.best_fit import split_over_fewest
from metabroker.policy.easy import Easy, Waiting
from metabroker.policy.placement import one_pool
from metabroker.policy.planner import Launch
from metabroker.policy.request import Placement, Request, Sizes


class MultiSite(Easy):
    """At submission at once, if there is room in all machines together; else EASY on that total.

    A request counts by its total. A job that is split runs (1 + overhead) times as long, and is
    estimated so. Where jobs end and others are submitted at one instant, those that waited come
    first. Raises ValueError for a negative overhead.
    """

    def __init__(self, processors: Sequence[int], overhead: float = 0.0) -> None:
        super().__init__(processors, one_pool)
        if not overhead >= 0:
            raise ValueError(f"the overhead of a split job is at least 0, not {overhead}")
        self.overhead = overhead
        self._free = [sum(processors)]
        self._idle = list(processors)
        self._where: dict[int, tuple[Placement, Sizes]] = {}
        self._newcomers: list[Waiting] = []

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self._newcomers.append(Waiting(key, estimate, request))

    def end(self, key: int, now: float) -> None:
        super().end(key, now)
        for cluster, size in zip(*self._where.pop(key), strict=True):
            self._idle[cluster] += size

    def run(self, now: float) -> list[Launch]:
        launches = super().run(now)
        for job in self._newcomers:
            clusters = one_pool(job.request, self._free)
            if clusters is None:
                self._queue.append(job)
            else:
                self._start(job, clusters, now, launches)
        self._newcomers.clear()
        self._settled = len(self._queue)
        return launches

    def __len__(self) -> int:
        return len(self._queue) + len(self._newcomers)

    def ever_fits(self, request: Request) -> bool:
        return request.total <= sum(self.processors)

    def _lasts(self, job: Waiting) -> float:
        split = job.request.total > max(self._idle)
        return job.estimate * (1 + self.overhead) if split else job.estimate

    def _start(self, job: Waiting, clusters: Placement, now: float, launches: list[Launch]) -> None:
        super()._start(job, clusters, now, launches)
        where = split_over_fewest(job.request.total, self._idle)
        assert where is not None, "there is room in all machines together"
        clusters, sizes = where
        if len(clusters) == 1:
            clusters, sizes = clusters * len(job.request.sizes), job.request.sizes
        for cluster, part in zip(clusters, sizes, strict=True):
            self._idle[cluster] -= part
        self._where[job.key] = clusters, sizes
        launches[-1] = (job.key, clusters, sizes)
