"""How much the jobs of one user, or of one queue, may have at a time.

Jobs beyond a limit wait here, outside of the policy's sight, in the order of joining; so where no
limit is configured nothing is decided otherwise than without this module. What is in use is not
counted along, but computed again from what the saga holds, so that it cannot go wrong.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from .job import Component, Job, NewJob
from .rejected import Rejected
from .settings import ClusterSettings
from .states import JobState
from .tokens import Ref

Key = tuple[str, str | int]
"""Whose limit it is: ("user", name) or ("queue", index)."""


class Resource(Enum):
    """What is bounded."""

    WAITING = "waiting"
    PROCESSORS = "processors"
    COALLOCATED = "coallocated"


@dataclass(frozen=True, slots=True)
class ResourceLimit:
    """The most at a time; None: no limit."""

    waiting: int | None = None
    processors: int | None = None
    coallocated: int | None = None


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What each user, and the jobs of each queue, may have; `dependencies`: how many things the
    waiting jobs of one user may wait for in all (see `terms`)."""

    per_user: ResourceLimit = ResourceLimit()
    per_queue: ResourceLimit = ResourceLimit()
    dependencies: int | None = None

    @property
    def of_jobs(self) -> bool:
        """Whether anything is limited that jobs are counted for."""
        return any(limit != ResourceLimit() for limit in (self.per_user, self.per_queue))

    @property
    def hold_back(self) -> bool:
        """Whether a job may have to wait for a limit."""
        return any(
            limit is not None
            for limits in (self.per_user, self.per_queue)
            for limit in (limits.processors, limits.coallocated)
        )


@dataclass(frozen=True, slots=True)
class Beyond:
    """Why a job must wait, or is refused: whose limit, of what, what is had, and the most."""

    key: Key
    measure: Resource
    have: int
    most: int

    def never(self, processors: int) -> bool:
        """Whether a job of so many processors could not start even alone."""
        return self.measure is Resource.PROCESSORS and processors > self.most


@dataclass(slots=True)
class Usage:
    """What is in use, by whose it is."""

    processors: Counter[Key] = field(default_factory=Counter)
    coallocated: Counter[Key] = field(default_factory=Counter)

    def add(self, job: Job, processors: int, jobs: int) -> None:
        """Count more of a job's."""
        for key in keys(job.user, job.queue):
            self.processors[key] += processors
            if not job.single:
                self.coallocated[key] += jobs

    def copy(self) -> Usage:
        """The same, to go on from."""
        return Usage(self.processors.copy(), self.coallocated.copy())


class HeldBack:
    """The limits, and the jobs that wait for one. `jobs`: those, by number; `more`: whether more of
    them might have been let through the last time."""

    def __init__(self) -> None:
        self.limits = ResourceLimits()
        self.more = False
        self._never: list[Job] = []  # by limits that were lowered since; they keep nobody back
        self.jobs: dict[int, Job] = {}
        # By user, queue, and whether it has one component for certain: a heap of (seq, number), in
        # which those that do not wait here any more are passed over.
        self._lines: dict[tuple[str, int, bool], list[tuple[int, int]]] = {}

    def refusal(self, new: NewJob, queue: int, waiting: Mapping[Key, int]) -> Beyond | None:
        """Why a new job cannot be taken: too many wait, or it is beyond a limit by itself."""
        total, jobs = sum(new.request.sizes), 1 if new.array is None else len(new.array.tasks)
        for key, limit in self._of(new.user, queue):
            if limit.waiting is not None and waiting[key] + jobs > limit.waiting:
                return Beyond(key, Resource.WAITING, waiting[key], limit.waiting)
            if limit.processors is not None and total > limit.processors:
                return Beyond(key, Resource.PROCESSORS, 0, limit.processors)
        return None

    def beyond(self, job: Job | NewJob, queue: int, usage: Usage) -> Beyond | None:
        """Why a job may not start beside what is in use."""
        total, single = sum(job.request.sizes), job.alone
        for key, limit in self._of(job.user, queue):
            have = usage.processors[key]
            if limit.processors is not None and have + total > limit.processors:
                return Beyond(key, Resource.PROCESSORS, have, limit.processors)
            have = usage.coallocated[key]
            if limit.coallocated is not None and not single and have >= limit.coallocated:
                return Beyond(key, Resource.COALLOCATED, have, limit.coallocated)
        return None

    def change(self, limits: ResourceLimits) -> None:
        """Go by these limits from now on."""
        self.limits = limits
        never, self._never = self._never, []
        for job in never:
            if self.jobs.get(job.id) is job:
                self.add(job)

    def add(self, job: Job) -> None:
        """It waits here from now on, at the place that its seq gives it."""
        self.jobs[job.id] = job
        line = self._lines.setdefault((job.user, job.queue, job.alone), [])
        heapq.heappush(line, (job.seq, job.id))

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
        usage = usage.copy()
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
            total = sum(job.request.sizes)
            beyond = self.beyond(job, queue, usage)
            if beyond is not None and not beyond.never(total):
                shut.add((beyond.key, beyond.measure is Resource.COALLOCATED))
                continue
            looked_at += 1
            heapq.heappop(self._lines[of])
            if beyond is None:
                del self.jobs[number]
                usage.add(job, total, 1)
                through.append(job)
            else:
                self._never.append(job)
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


def in_use(jobs: Mapping[int, Job], live: Iterable[Mapping[Ref, Component]]) -> Usage:
    """What the components that claim something use, of jobs that have not ended."""
    usage = Usage()
    seen: set[int] = set()
    for components in live:
        for component in components.values():
            job = jobs.get(component.ref.job)
            if job is not None:
                usage.add(job, component.processors, int(job.id not in seen))
                seen.add(job.id)
    return usage


class Standing:
    """How many jobs wait or are held, by whose they are (`count`). It is told of each job that may
    have changed (`update`), so that nobody need look at all of them."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self.count: Counter[Key] = Counter()
        self._of: dict[int, tuple[tuple[Key, Key], int]] = {}
        self._keys: dict[tuple[str, int], tuple[Key, Key]] = {}
        self.update(jobs)

    def update(self, jobs: Iterable[Job]) -> None:
        """These are as they are now."""
        count, known = self.count, self._keys
        for job in jobs:
            before = self._of.pop(job.id, None)
            if before is not None:
                for key in before[0]:
                    count[key] -= before[1]
            if job.state is JobState.QUEUED or job.state is JobState.HELD:
                whose = job.user, job.queue
                found = known.get(whose)
                if found is None:
                    found = known[whose] = keys(*whose)
                many = 1 if job.array is None else job.array.count
                self._of[job.id] = found, many
                for key in found:
                    count[key] += many


def refused(beyond: Beyond, clusters: Sequence[ClusterSettings]) -> Rejected:
    """What a user is told whose job is beyond a limit."""
    kind, _ = beyond.key
    limit = f"limits.per_{kind}.{beyond.measure.value}"
    if beyond.measure is Resource.WAITING:
        return Rejected(
            f"{whose(beyond.key, clusters)} has {beyond.have} jobs waiting, and at most "
            f"{beyond.most} are allowed ({limit})",
            "wait until some have started, or cancel some",
        )
    return Rejected(
        f"the request can never run: {whose(beyond.key, clusters)} may have {beyond.most} "
        f"processors at a time ({limit})",
        f"ask for at most {beyond.most} in all",
    )


def whose(key: Key, clusters: Sequence[ClusterSettings]) -> str:
    """Whose limit it is, in words."""
    kind, name = key
    if isinstance(name, str):
        return f"{kind} {name}"
    return f"{kind} {clusters[name].name if name < len(clusters) else 'global'}"


def keys(user: str, queue: int) -> tuple[Key, Key]:
    """Whose limits a job counts against."""
    return ("user", user), ("queue", queue)
