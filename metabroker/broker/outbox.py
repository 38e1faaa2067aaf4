"""What one step of the core leaves behind for its driver: one struct, taken whole."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .effects import Effect
from .job import Component, Job
from .tokens import Ref


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """One line of a job's history. Times in Unix seconds."""

    time: float
    job: int
    attempt: int
    what: str
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mishap:
    """Something could not be handled, and was contained: for the log of whoever drives the core.
    `job`: whose it was, which has been failed; None: no job's. `cluster`: whose poll it was."""

    error: Exception
    job: int | None = None
    cluster: int | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """Write all of `jobs`, `components` and `journal` in one transaction; then act on `effects`."""

    jobs: list[Job]
    components: list[Component]
    journal: list[OutboxEntry]
    effects: list[Effect]
    mishaps: list[Mishap] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.jobs or self.components or self.journal or self.effects)


@dataclass(slots=True)
class Outbox:
    """Collects what has changed since the driver last took it."""

    jobs: dict[int, Job] = field(default_factory=dict)
    components: dict[Ref, Component] = field(default_factory=dict)
    journal: list[OutboxEntry] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    mishaps: list[Mishap] = field(default_factory=list)

    def note(self, now: float, job: Job, what: str, **detail: Any) -> None:
        """Write a line of the job's history."""
        self.journal.append(OutboxEntry(now, job.id, job.attempt, what, detail))
        self.jobs[job.id] = job

    def changed(self, *things: Job | Component) -> None:
        """These rows must be written."""
        for thing in things:
            if isinstance(thing, Job):
                self.jobs[thing.id] = thing
            else:
                self.components[thing.ref] = thing

    def take(self) -> Ready:
        """All that has changed; the outbox is empty afterwards."""
        ready = Ready(
            list(self.jobs.values()),
            list(self.components.values()),
            self.journal,
            self.effects,
            self.mishaps,
        )
        self.jobs, self.components, self.journal, self.effects = {}, {}, [], []
        self.mishaps = []
        return ready


_FEW = 1024  # timers of which none need be forgotten before its time

Awaited = Callable[[float, Ref | int | None], bool]
"""Whether a timer of that moment still means something to its owner."""


class Timers:
    """Moments at which something must be checked again. What is due is checked by its owner:
    a timer may be out of date, and then means nothing."""

    def __init__(self, awaited: Awaited = lambda _time, _what: True) -> None:
        """What is not `awaited` any more (jobs end long before their time limit) is forgotten now
        and then, so that there are at most twice as many as mean something, or some few."""
        self._heap: list[tuple[float, int, Ref | int | None]] = []
        self._count = 0
        self._awaited = awaited
        self._most = _FEW

    def __len__(self) -> int:
        return len(self._heap)

    def set(self, time: float, what: Ref | int | None) -> None:
        """Look at a component (by Ref), a job (by number) or the queues (None) at `time`."""
        if len(self._heap) >= self._most:
            self._heap = [one for one in self._heap if self._awaited(one[0], one[2])]
            heapq.heapify(self._heap)
            self._most = max(_FEW, 2 * len(self._heap))
        self._count += 1
        heapq.heappush(self._heap, (time, self._count, what))

    def due(self, now: float, most: int) -> list[Ref | int | None]:
        """What is due, each once, earliest first; `most` of it, and the rest the next time. That
        something is due several times in a row costs no more than once: else the queues, which
        many things ask to look at, could keep all others waiting for ever."""
        found: dict[Ref | int | None, None] = {}
        heap = self._heap
        while heap and heap[0][0] <= now and (len(found) < most or heap[0][2] in found):
            found[heapq.heappop(heap)[2]] = None
        return list(found)

    def next(self) -> float | None:
        """The earliest moment set."""
        return self._heap[0][0] if self._heap else None
