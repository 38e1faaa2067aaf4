"""How much the jobs of one user, or of one queue, may have at a time: the limits, what is counted
against them, and what is said where one is reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from .job import Job, NewJob
from .rejected import Rejected
from .settings import ClusterSettings
from .states import JobState

WHOLE = "it would be given whole nodes"
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
    """Why a job must wait, or is refused: whose limit, of what, what is had, the most, and how many
    processors the job would hold."""

    key: Key
    measure: Resource
    have: int
    most: int
    held: int = 0

    @property
    def never(self) -> bool:
        """Whether the job could not start even alone."""
        return self.measure is Resource.PROCESSORS and self.held > self.most


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


def refused(beyond: Beyond, new: NewJob, clusters: Sequence[ClusterSettings]) -> Rejected:
    """What a user is told whose job is beyond a limit."""
    kind, _ = beyond.key
    limit = f"limits.per_{kind}.{beyond.measure.value}"
    if beyond.measure is Resource.WAITING:
        return Rejected(
            f"{whose(beyond.key, clusters)} has {beyond.have} jobs waiting, and at most "
            f"{beyond.most} are allowed ({limit})",
            "wait until some have started, or cancel some",
        )
    if beyond.held > new.request.total:
        return Rejected(
            f"the request can never run: {whose(beyond.key, clusters)} may have {beyond.most} "
            f"processors at a time ({limit}), and it would hold at least {beyond.held}, since "
            f"{WHOLE}",
            "ask for fewer nodes, or for processors of nodes that others may share",
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
