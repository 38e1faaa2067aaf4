"""Runs in rounds of replications, until their means are known well enough.

The rounds are the same wherever and on however many workers they are played, so the results are
too. All runs of a sweep share their rounds, so that no worker waits for the last of one run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .engine import Sink
from .executor import Executor
from .measure import JobOutcome
from .replications import Summary
from .statistics.intervals import precise_enough
from .system import Run

LEAST = 3
"""A round's interval is believed from this number of replications on."""


class Stop(NamedTuple):
    """Enough: the interval's half-width is at most the part `relative` of the mean response time,
    or `most` replications were played."""

    relative: float
    most: int


class Task(NamedTuple):
    """One replication of one run, as it is sent to a worker."""

    run: Run
    replication: int


class Timed(NamedTuple):
    """An outcome, and the seconds that it took."""

    outcome: JobOutcome
    seconds: float


@dataclass(frozen=True)
class Played:
    """The replications of one run. `seconds`: those of all of them, on one processor.

    `reached`: were they enough? None where nobody asked.
    """

    summary: Summary
    seconds: float
    reached: bool | None = None

    @property
    def jobs_per_second(self) -> float:
        """How many jobs one processor played in a second."""
        jobs = sum(outcome.jobs for outcome in self.summary.outcomes)
        return jobs / self.seconds if self.seconds > 0 else 0.0


@dataclass
class _Course:
    """One run while it is being played."""

    run: Run
    first: int
    stop: Stop | None
    done: list[Timed] = field(default_factory=list)

    def wants(self) -> range:
        """The replications of its next round; none if there have been enough."""
        number = len(self.done)
        if number < self.first:
            return range(number, self.first)
        if self.stop is None or self.reached() or self.summary().saturated:
            return range(0)
        return range(number, min(self.stop.most, number + self.first))

    def reached(self) -> bool:
        responses = [timed.outcome.response for timed in self.done]
        assert self.stop is not None
        return precise_enough(responses, self.stop.relative, LEAST)

    def summary(self) -> Summary:
        return Summary(tuple(timed.outcome for timed in self.done))

    def played(self) -> Played:
        seconds = sum(timed.seconds for timed in self.done)
        return Played(self.summary(), seconds, None if self.stop is None else self.reached())


def play(task: Task, also: Sink | None = None) -> Timed:
    """One replication; a function of its own so that it can be sent elsewhere. `also` gets the
    finished jobs too. Raises as `Run.play`."""
    began = time.perf_counter()
    outcome = task.run.play(task.replication, also)
    return Timed(outcome, time.perf_counter() - began)


def play_rounds(
    runs: Sequence[tuple[Run, int, Stop | None]], executor: Executor, also: Sink | None = None
) -> list[Played]:
    """Each run with the number of replications of its rounds, and when to stop (None: after one).

    A run that is saturated gets no further round: its mean would never be known. `also` gets the
    finished jobs of the first run's first replication, which is then played here.
    """
    courses = [_Course(*run) for run in runs]
    if also is not None:
        courses[0].done.append(play(Task(courses[0].run, 0), also))
    while True:
        tasks = [(c, Task(c.run, number)) for c in courses for number in c.wants()]
        if not tasks:
            return [course.played() for course in courses]
        found = executor.map(play, [task for _, task in tasks])
        for (course, _), timed in zip(tasks, found, strict=True):
            course.done.append(timed)
