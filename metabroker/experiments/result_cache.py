"""Plays trials, each only once: experiments and claims of one call share what they have in common.

A task is plain data, hashable and picklable, with a method `play`; a `Run` is one. A trial is one
replication of a task. All trials of a seed use the same random numbers for the same purpose, so the
i-th replications of two tasks of one workload are on the same jobs.

Outcomes are kept for later calls, too, by their content: what the trial is, and the source of all
that plays it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sqlite3
from collections.abc import Hashable, Iterable
from functools import cache
from pathlib import Path
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
    """Keeps every outcome. `executor`: where trials are played (None: here, one after another).
    `kept`: what earlier calls have played (None: nothing)."""

    def __init__(self, executor: Executor | None = None, kept: KeptResults | None = None) -> None:
        self._executor = executor or InProcess()
        self._known: dict[Trial, Any] = {}
        self._kept = kept

    @property
    def played(self) -> int:
        """The number of trials played so far."""
        return len(self._known)

    def knows(self, tasks: Iterable[CachedRun], replications: int) -> bool:
        """Have so many replications of these been played?"""
        return all(trial in self._known for trial in trials(tasks, replications))

    def play(self, wanted: Iterable[Trial]) -> None:
        """Play those that are not known yet, all at once. Raises what a task raises."""
        missing = [trial for trial in dict.fromkeys(wanted) if trial not in self._known]
        if self._kept is not None:
            self._known.update(self._kept.find(missing))
            missing = [trial for trial in missing if trial not in self._known]
        if not missing:
            return
        for trial, outcome in zip(missing, self._executor.stream(play, missing), strict=True):
            self._known[trial] = outcome
            if self._kept is not None:
                self._kept.add(trial, outcome)

    def outcomes(self, task: CachedRun, replications: int) -> tuple[Any, ...]:
        """The outcomes of the first `replications` of a task, in their order."""
        wanted = trials([task], replications)
        self.play(wanted)
        return tuple(self._known[trial] for trial in wanted)

    def summary(self, run: Run, replications: int) -> Summary:
        """The replications of a run, summed up."""
        return Summary(self.outcomes(run, replications))


class KeptResults:
    """Outcomes in a file that only this user can read. One that cannot be used is as none."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = sqlite3.connect(folder / "results.sqlite", isolation_level=None)
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute("CREATE TABLE IF NOT EXISTS result (content TEXT PRIMARY KEY, outcome)")

    def find(self, wanted: Iterable[Trial]) -> dict[Trial, Any]:
        """Those of these trials that are known."""
        found = {}
        for trial in wanted:
            row = self._file.execute(
                "SELECT outcome FROM result WHERE content = ?", (_content(trial),)
            ).fetchone()
            if row is not None:
                found[trial] = pickle.loads(row[0])
        return found

    def add(self, trial: Trial, outcome: Any) -> None:
        """Keep one more."""
        row = (_content(trial), pickle.dumps(outcome))
        self._file.execute("INSERT OR REPLACE INTO result VALUES (?, ?)", row)


def users_folder() -> Path:
    """Where a user's results are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "metabroker"


_OTHERS = (
    "claims", "evidence", "output", "figures", "tables", "result_cache", "registry", "scale",
    "grids", "four_clusters", "das",
)  # fmt: skip


ROOMS = ("policy", "prediction", "traces", "simulation", "experiments")
"""Where the code is that plays: a change of it makes all known results void."""


def _content(trial: Trial) -> str:
    return hashlib.sha256(f"{_source()} {trial!r}".encode()).hexdigest()


@cache
def _source() -> str:
    """Of all that plays; what only judges, or says what is to be played, may change."""
    root, found = Path(__file__).parents[1], hashlib.sha256()
    paths = [path for room in ROOMS for path in (root / room).rglob("*.py")]
    for path in sorted(paths):
        if path.parent.name != "experiments" or not path.stem.endswith(_OTHERS):
            found.update(path.read_bytes())
    return found.hexdigest()
