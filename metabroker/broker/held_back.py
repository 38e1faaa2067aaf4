"""Jobs that wait for a limit of their user, or of their queue.

They wait here, outside of the policy's sight, in the order of joining; so where no limit is
configured nothing is decided otherwise than without this module. What is in use is not counted
along, but computed again from what the saga holds, so that it cannot go wrong.

Processors count as they are held; where nodes are given whole that differs by cluster (`holdings`).
A cluster in which a job would hold too much is none for it (`barred`), and another one may be: at
once, where it would be too much even alone; beside what else is in use once the policy has placed
it there, until less of that is in use.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .heaps import crowded, heaps
from .holdings import Holdings, Sizes
from .job import Component, Job, NewJob
from .refusals import CanGo
from .resource_limits import (
    Beyond,
    Key,
    Resource,
    ResourceLimit,
    ResourceLimits,
    Usage,
    keys,
)
from .tokens import Ref


class HeldBack:
    """The limits, and the jobs that wait for one. `jobs`: those, by number; `more`: whether more of
    them might have been let through the last time."""

    def __init__(self, holdings: Holdings) -> None:
        self.holdings = holdings
        self.limits = ResourceLimits()
        self._away: dict[Key, dict[int, frozenset[int]]] = {}  # clusters, by job, by whose limit
        self._found: dict[int, Beyond] = {}  # of those that the policy would start nowhere else
        self._fits: dict[Key, int] = {}  # what may be in use for one of them to fit there
        self.more = False
        self._never: dict[int, Job] = {}  # by limits and nodes as they are; they keep nobody back
        self._never_by: Sizes = []  # the clusters by which that was found
        self.jobs: dict[int, Job] = {}
        # By user, queue, and whether it has one component for certain: a heap of (seq, number), in
        # which those that do not wait here any more are passed over.
        self._lines: dict[tuple[str, int, bool], list[tuple[int, int]]] = {}
        self._entries = 0  # in all of them, at most

    def usage(self, jobs: Mapping[int, Job], live: Iterable[Mapping[Ref, Component]]) -> Usage:
        """What the components that claim something hold, of jobs that have not ended; nothing,
        where no job has to wait for a limit."""
        usage, seen = Usage(), set[int]()
        for components in live if self.limits.hold_back else ():
            for component in components.values():
                job = jobs.get(component.ref.job)
                if job is not None:
                    held = self.holdings.of(component, job)
                    usage.add(job, held, int(job.id not in seen))
                    seen.add(job.id)
        return usage

    @property
    def keeps(self) -> bool:
        """Whether any job waits for a limit, or for other clusters because of one."""
        return bool(self.jobs or self._away)

    def refusal(self, new: NewJob, queue: int, waiting: Mapping[Key, int]) -> Beyond | None:
        """Why a new job cannot be taken: too many wait, or it is beyond a limit by itself."""
        jobs = 1 if new.array is None else len(new.array.tasks)
        held = self.holdings.lightest(new, certain=True)
        for key, limit in self._of(new.user, queue):
            if limit.waiting is not None and waiting[key] + jobs > limit.waiting:
                return Beyond(key, Resource.WAITING, waiting[key], limit.waiting)
            if limit.processors is not None and held > limit.processors:
                return Beyond(key, Resource.PROCESSORS, 0, limit.processors, held)
        return None

    def beyond(
        self,
        job: Job | NewJob,
        queue: int,
        usage: Usage,
        placement: Sequence[int] | None = None,
        counted: int = 0,
    ) -> Beyond | None:
        """Why a job may not start in these clusters (None: wherever it would hold the least) beside
        what is in use. `counted`: processors that count there for it already."""
        least, single = self.weight(job, placement), job.alone
        found = self._found.get(job.id) if placement is None and isinstance(job, Job) else None
        for key, limit in self._of(job.user, queue):
            have, held = usage.processors[key], least
            if found is not None and found.key == key and not found.never:
                held = max(held, found.held)
            if limit.processors is not None and have - counted + held > limit.processors:
                return Beyond(key, Resource.PROCESSORS, have, limit.processors, held)
            have = usage.coallocated[key]
            if limit.coallocated is not None and not single and have >= limit.coallocated:
                return Beyond(key, Resource.COALLOCATED, have, limit.coallocated, least)
        return None

    def found(self, job: Job | NewJob) -> Beyond | None:
        """The limit that it was beyond wherever the policy would have started it last."""
        return self._found.get(job.id) if isinstance(job, Job) else None

    def weight(self, job: Job | NewJob, placement: Sequence[int] | None = None) -> int:
        """The processors that it would hold in these clusters; None: where that is the least."""
        if placement is None:
            return self.holdings.lightest(job)
        return self.holdings.placed(job, placement)

    # --- clusters that are none for a job -----------------------------------------------------

    def barred(self, job: Job | NewJob) -> frozenset[int]:
        """The clusters in which it would hold more than its limits let it."""
        limits = (self.limits.per_user.processors, self.limits.per_queue.processors)
        most = min((limit for limit in limits if limit is not None), default=None)
        if most is None or self.holdings.as_asked(job):
            return frozenset()
        held = self.holdings.by_cluster(job)
        found = frozenset(cluster for cluster, processors in held.items() if processors > most)
        if isinstance(job, Job) and self._away:
            for key in keys(job.user, job.queue):
                found |= self._away.get(key, {}).get(job.id, frozenset())
        return found

    def too_heavy(
        self, job: Job | NewJob, queue: int, usage: Usage, *, certain: bool = False
    ) -> dict[int, Beyond]:
        """In which clusters a component would make the job hold too much beside what is in use;
        `certain`: whichever nodes it is given."""
        found = {}
        for cluster, held in self.holdings.by_cluster(job, certain=certain).items():
            for key, limit in self._of(job.user, queue):
                have = usage.processors[key]
                if limit.processors is not None and have + held > limit.processors:
                    found[cluster] = Beyond(key, Resource.PROCESSORS, have, limit.processors, held)
        return found

    def heaviest(
        self, job: Job | NewJob, queue: int, usage: Usage, placement: Sequence[int]
    ) -> frozenset[int]:
        """Of these clusters the one that it is to be kept away from; none: it may start there."""
        if self.beyond(job, queue, usage, placement) is None:
            return frozenset()
        found = self.holdings.heaviest(job, placement)
        return frozenset() if found is None else frozenset({found})

    def keep_away(
        self,
        job: Job,
        placement: Sequence[int],
        beyond: Beyond,
        usage: Usage,
        can_go: CanGo,
    ) -> bool:
        """Whether a job that is `beyond` a limit in these clusters may be within it in others. If
        so, it is kept away from the one in which it would hold the most beyond what it asks for,
        until so little is in use that it may go there."""
        heaviest = self.holdings.heaviest(job, placement)
        if heaviest is None or self.beyond(job, job.queue, usage) is not None:
            return False
        if not can_go(job, job.excluded | self.barred(job) | {heaviest}):
            self.forget(job)
            self._found[job.id] = beyond
            return False
        jobs = self._away.setdefault(beyond.key, {})
        jobs[job.id] = jobs.get(job.id, frozenset()) | {heaviest}
        fits = beyond.most - beyond.held
        self._fits[beyond.key] = max(fits, self._fits.get(beyond.key, fits))
        return True

    def eased(self, usage: Usage) -> bool:
        """Whether jobs that were kept away from clusters need not be any more."""
        eased = [key for key, fits in self._fits.items() if usage.processors[key] <= fits]
        for key in eased:
            del self._away[key], self._fits[key]
        return bool(eased)

    def forget(self, job: Job) -> None:
        """It has started, or ended."""
        self._found.pop(job.id, None)
        for key in keys(job.user, job.queue) if self._away else ():
            self._away.get(key, {}).pop(job.id, None)

    # --- who waits ----------------------------------------------------------------------------

    def change(self, limits: ResourceLimits) -> None:
        """Go by these limits from now on."""
        self.limits = limits
        self._away.clear()
        self._found.clear()
        self._fits.clear()
        self._look_again()

    def nodes_changed(self) -> None:
        """Clusters have other nodes: what jobs would hold there is found anew."""
        self._away.clear()
        self._found.clear()
        self._fits.clear()

    def _look_again(self) -> None:
        """Who could be within their limits nowhere perhaps can now."""
        never, self._never = self._never, {}
        for job in never.values():
            if self.jobs.get(job.id) is job:
                self.add(job)

    def add(self, job: Job) -> None:
        """It waits here from now on, at the place that its seq gives it."""
        self.jobs[job.id] = job
        line = self._lines.setdefault(_kind(job), [])
        heapq.heappush(line, (job.seq, job.id))
        self._entries += 1
        if crowded(self._entries, self.jobs):
            waiting = (each for each in self.jobs.values() if each.id not in self._never)
            self._lines, self._entries = heaps(waiting, _kind), len(self.jobs)

    def remove(self, number: int) -> bool:
        """It does not wait here any more; False if it did not."""
        return self.jobs.pop(number, None) is not None

    def let_through(self, usage: Usage, most: int) -> list[Job]:
        """Take out, in the order of joining, those within their limits beside what is in use; so
        many at most are looked at.

        Whoever is not keeps back those who come later for the same limit: large jobs wait for no
        longer than their turn.
        """
        through: list[Job] = []
        self.more = False
        if not self.jobs:
            self._lines.clear()
            return through
        sizes = self.holdings.sizes()
        if self._never and sizes != self._never_by:
            self._look_again()
        self._never_by, usage = sizes, usage.copy()
        heads = [(*line[0], of) for of, line in self._lines.items() if self._strip(of, line)]
        heapq.heapify(heads)
        shut: set[tuple[Key, bool]] = set()  # and whether co-allocated jobs alone
        looked_at = 0
        while heads and looked_at < most:
            _seq, number, of = heapq.heappop(heads)
            user, queue, single = of
            kinds = (False,) if single else (False, True)
            if any((key, kind) in shut for key in keys(user, queue) for kind in kinds):
                continue
            job = self.jobs[number]
            beyond = self.beyond(job, queue, usage)
            if beyond is not None and not beyond.never:
                shut.add((beyond.key, beyond.measure is Resource.COALLOCATED))
                continue
            looked_at += 1
            heapq.heappop(self._lines[of])
            if beyond is None:
                del self.jobs[number]
                usage.add(job, self.weight(job), 1)
                through.append(job)
            else:
                self._never[job.id] = job
            if self._strip(of, self._lines[of]):
                heapq.heappush(heads, (*self._lines[of][0], of))
        self.more = bool(heads) and looked_at == most
        return through

    def _strip(self, of: tuple[str, int, bool], line: list[tuple[int, int]]) -> bool:
        """Pass over those who have gone; whether anybody is left."""
        while line:
            seq, number = line[0]
            job = self.jobs.get(number)
            if job is not None and (job.seq, job.user, job.queue, job.alone) == (seq, *of):
                return True
            heapq.heappop(line)
        return False

    def _of(self, user: str, queue: int) -> Iterator[tuple[Key, ResourceLimit]]:
        limits = (self.limits.per_user, self.limits.per_queue)
        return zip(keys(user, queue), limits, strict=True)


def _kind(job: Job) -> tuple[str, int, bool]:
    return job.user, job.queue, job.alone
