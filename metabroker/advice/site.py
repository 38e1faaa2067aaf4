"""A site's log, and how one of the settings would have treated its jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from metabroker.policy import Scheduler
from metabroker.simulation.engine import simulate
from metabroker.simulation.errors import Impossible
from metabroker.simulation.job import SimJob
from metabroker.simulation.local_users import SharedCluster
from metabroker.simulation.shared_engine import simulate_shared
from metabroker.simulation.stream import Finished
from metabroker.simulation.system import System
from metabroker.simulation.workloads.replay import Replay
from metabroker.traces.errors import TraceError
from metabroker.traces.swf import SwfJob, Trace, read

from .settings import PART, Setting

Floats = NDArray[np.float64]

_WEEK = 7 * 86400.0
_LONGEST = 5_000  # weeks: of each some thousand samples are drawn (`effects`)


@dataclass(frozen=True)
class Site:
    """A log in the Standard Workload Format, and the clusters in which its jobs ran. `part`: which
    part of the log, by number of jobs: (from, to), None: all. `title`: what it is called."""

    file: str
    names: tuple[str, ...]
    processors: tuple[int, ...]
    part: tuple[int, int] | None = None
    title: str = ""

    def replay(self) -> Replay:
        """The jobs that fit. Raises ValueError: there are none; TraceError."""
        trace = _fitting(self.file, self.processors)
        first, last = self.part or (1, len(trace.jobs))
        partitions = trace.header.get("Partition", ())
        named = {value.split(" ", 1)[1] for value in partitions if " " in value}
        by = "partition" if set(self.names) & named else "round-robin"  # numbers tell nothing
        return Replay(trace, len(self.processors), first, last, None, by, self.names)

    @property
    def left_out(self) -> int:
        """Jobs that are larger than the clusters."""
        return len(_read(self.file).jobs) - len(_fitting(self.file, self.processors).jobs)


@dataclass(frozen=True)
class Waits:
    """What each job of a log would have waited, in seconds, in the order of the log (nan: it was
    not played); `refused`: why the setting cannot run all of these jobs."""

    waits: Floats
    refused: str = ""


@dataclass(frozen=True)
class Tried:
    """A site under a setting."""

    site: Site
    setting: Setting

    def play(self, replication: int) -> Waits:
        """Replay the log. Nothing is drawn."""
        replay = self.site.replay()
        jobs = list(replay.jobs())
        waits = np.full(len(jobs), np.nan)
        try:
            if self.setting.shared:
                for key, wait in _shared(self.setting, self.site.processors, jobs, replay):
                    waits[key] = wait
            else:
                done: list[Finished] = []
                setting = self.setting
                system = System(
                    self.site.processors,
                    setting.policy,
                    discipline=setting.discipline,
                    aging=setting.aging,
                )
                simulate(system.scheduler(0, 0), jobs, self.site.processors, done.extend)
                for finished in done:
                    waits[finished.key] = finished.start - finished.job.submit
        except (Impossible, ValueError) as error:
            return Waits(np.zeros(0), str(error))
        return Waits(waits)


def is_local(entry: SwfJob) -> bool:
    """Whether a job is taken for one of a local user, where only a part comes by the broker."""
    return entry.user % PART != 0


def _shared(
    setting: Setting, processors: tuple[int, ...], jobs: list[SimJob], replay: Replay
) -> Iterator[tuple[int, float]]:
    """The waits of all jobs by their place in the log: those of local users go to the cluster of
    their own, one that they fit."""
    ours: list[int] = []
    theirs: list[list[int]] = [[] for _ in processors]
    for key, (job, entry) in enumerate(zip(jobs, replay.entries(), strict=True)):
        if is_local(entry) and job.request.single:
            size = job.request.total
            home = job.local if size <= processors[job.local] else processors.index(max(processors))
            theirs[home].append(key)
        else:
            ours.append(key)
    clusters = [
        SharedCluster(size, "EASY", [jobs[key] for key in keys])
        for size, keys in zip(processors, theirs, strict=True)
    ]
    policy = System(processors, setting.policy, aging=setting.aging).scheduler(0, 0)
    assert isinstance(policy, Scheduler)
    done: list[Finished] = []
    local: list[Finished] = []
    broker = [jobs[key] for key in ours]
    plan = setting.plan if setting.plan and setting.plan.ahead else None
    simulate_shared(policy, broker, clusters, done.extend, local.extend, setting.line, plan)
    for finished in done:
        yield ours[finished.key], finished.start - finished.job.submit
    order = sorted(
        (jobs[key].submit, cluster, place, key)
        for cluster, keys in enumerate(theirs)
        for place, key in enumerate(keys)
    )
    for finished in local:
        yield order[-finished.key - 1][3], finished.start - finished.job.submit


@cache
def _read(file: str) -> Trace:
    """Raises TraceError: it cannot be read, or is longer than any site's."""
    trace = read(file)
    first, last = trace.jobs[0], trace.jobs[-1]
    weeks = int((last.submit - first.submit) // _WEEK)
    if weeks > _LONGEST:
        message = f"its job {last.number} is submitted {weeks} weeks after its job {first.number}"
        raise TraceError(file, 0, message, "a log's times are in seconds: correct them")
    return trace


@cache
def _fitting(file: str, processors: tuple[int, ...]) -> Trace:
    trace = _read(file)
    largest = max(processors)

    def fits(job: SwfJob) -> bool:
        parts = trace.parts.get(job.number)
        if parts is None:
            return job.size <= largest
        return max(parts.sizes) <= largest and sum(parts.sizes) <= sum(processors)

    return replace(trace, jobs=[job for job in trace.jobs if fits(job)])
