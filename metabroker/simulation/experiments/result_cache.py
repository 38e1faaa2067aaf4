"""Plays trials, each only once: experiments and claims of one call share what they have in common.

A task is plain data, hashable and picklable, with a method `play`; a `Run` is one. A trial is one
replication of a task. All trials of a seed use the same random numbers for the same purpose, so the
i-th replications of two tasks of one workload are on the same jobs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Protocol

from metabroker.simulation.executor import Executor, InProcess
from metabroker.simulation.replications import Summary
from metabroker.simulation.system import Run


class CachedRun(Hashable, Protocol):
    """What can be played: equal tasks have equal outcomes."""

    def play(self, replication: int) -> Any:
        """The outcome of one replication (from 0)."""


Trial = tuple[CachedRun, int]
"""A task, and the number of a replication."""


def trials(tasks: Iterable[CachedRun], replications: int) -> list[Trial]:
    """The first `replications` of each task."""
    return [(task, replication) for task in tasks for replication in range(replications)]


def play(trial: Trial) -> Any:
    """Play one trial; a plain function, for the workers."""
    task, replication = trial
    return task.play(replication)


class ResultCache:
    """Keeps every outcome. `executor`: where trials are played (None: here, one after another)."""

    def __init__(self, executor: Executor | None = None) -> None:
        self._executor = executor or InProcess()
        self._known: dict[Trial, Any] = {}

    @property
    def played(self) -> int:
        """The number of trials played so far."""
        return len(self._known)

    def play(self, wanted: Iterable[Trial]) -> None:
        """Play those that are not known yet, all at once. Raises what a task raises."""
        missing = [trial for trial in dict.fromkeys(wanted) if trial not in self._known]
        if missing:
            outcomes = self._executor.map(play, missing)
            self._known.update(zip(missing, outcomes, strict=True))

    def outcomes(self, task: CachedRun, replications: int) -> tuple[Any, ...]:
        """The outcomes of the first `replications` of a task, in their order."""
        wanted = trials([task], replications)
        self.play(wanted)
        return tuple(self._known[trial] for trial in wanted)

    def summary(self, run: Run, replications: int) -> Summary:
        """The replications of a run, summed up."""
        return Summary(self.outcomes(run, replications))
