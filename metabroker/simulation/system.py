"""A system with its policy: all that one simulated run needs, as plain data."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from metabroker.policy import POLICIES, Aging, Options, Planner, Scheduler, make, make_planner

from .engine import Sink, simulate
from .kernel import play as kernel
from .local_users import JobStream, Line, LocalUsers, SharedCluster
from .measure import SHORT, ByKind, JobOutcome, Measurements
from .planned import Plan
from .shared_engine import simulate_shared
from .workloads.blocks import NotCovered, blocks_of
from .workloads.inputs import Files
from .workloads.latency import near_each_other
from .workloads.streams import Purpose, stream


@dataclass(frozen=True)
class System:
    """Clusters of `processors[c]` processors under a policy of contract C5.

    `placement`, `discipline`: None is the paper's. `overhead`: what is added to the run time of a
    job that the policy splits, as a part of it. `local`: the local users of each cluster (None: it
    has none); empty where no cluster has any. `line`: how the broker's jobs stand in line there,
    and `plan`: how co-allocated ones are planned ahead (None: they do not, and are not). `aging`:
    how often, and for how long, a waiting job is overtaken (None: as in the papers, any time; those
    of `BACKFILLING` promise each job its start instead).
    """

    processors: tuple[int, ...]
    policy: str
    placement: str | None = None
    discipline: str | None = None
    overhead: float = 0.0
    options: Options = field(default_factory=Options)
    event_order: str = "batch"
    local: tuple[LocalUsers | None, ...] = ()
    line: Line | None = None
    plan: Plan | None = None
    aging: Aging | None = None

    def scheduler(self, seed: int, replication: int) -> Scheduler | Planner:
        """A new policy. Raises ValueError for what the policy cannot do."""
        if self.policy not in POLICIES:
            return make_planner(
                self.policy,
                self.processors,
                placement=self.placement,
                overhead=self.overhead,
            )
        return make(
            self.policy,
            len(self.processors),
            placement=self.placement,
            discipline=self.discipline,
            rng=PolicyRng(seed, replication),
            options=self.options,
            aging=self.aging,
        )


class PolicyRng:
    """The policy's own random numbers."""

    def __init__(self, seed: int, replication: int) -> None:
        self._stream = stream(seed, replication, Purpose.POLICY)

    def random(self) -> float:
        """A number in [0, 1)."""
        return float(self._stream.random())

    def randrange(self, stop: int) -> int:
        """A whole number in [0, stop)."""
        return int(self._stream.integers(stop))

    def many(self, stop: int, number: int) -> NDArray[np.int64]:
        """The next so many of them: what as many calls of `randrange` would give."""
        return self._stream.integers(stop, size=number)


@dataclass(frozen=True)
class Run:
    """Replications of one system under one workload: `jobs` jobs each.

    `warmup`: see `statistics.warmup.cut`. `extension`, `gangs`, `most`: see `Measurements`.
    `short`: the same of the kinds of jobs where clusters have local users. `files`: what the jobs
    read; None: nothing. `near`: the sets of clusters, of one of which all those of a job are; ():
    any clusters.
    """

    system: System
    workload: JobStream
    jobs: int
    seed: int = 1
    warmup: str | float = "auto"
    extension: float = 1.0
    gangs: bool = False
    most: int | None = None
    short: float = SHORT
    files: Files | None = None
    near: tuple[tuple[int, ...], ...] = ()

    def play(self, replication: int = 0, also: Sink | None = None) -> JobOutcome:
        """One replication. `also` gets the finished jobs too. Raises as `simulate`."""
        system = self.system
        measure = self._measurements()
        sink: Sink = measure
        if also is not None:
            sink = _both(measure, also)
        policy = system.scheduler(self.seed, replication)
        if also is None and self.by_kernel():
            with contextlib.suppress(NotCovered):
                return self._play_by_kernel(replication)
        jobs = self.workload.jobs(self.seed, replication, self.jobs)
        if self.near:
            jobs = near_each_other(jobs, self.near)
        if self.files is not None:
            jobs = self.files.given_to(jobs, self.seed, replication)
        if not system.local:
            simulate(policy, jobs, system.processors, sink, event_order=system.event_order)
            return measure.outcome(self.warmup)
        if not isinstance(policy, Scheduler):
            raise ValueError(f"{system.policy} plans the clusters alone: they have local users")
        kinds = ByKind(lambda: self._measurements(self.short))
        clusters, both = self._clusters(replication), _both(sink, kinds.broker)
        plans = simulate_shared(policy, jobs, clusters, both, kinds.local, system.line, system.plan)
        return replace(
            measure.outcome(self.warmup),
            kinds=kinds.outcomes(self.warmup),
            idle_for_plans=plans.idle / plans.area if plans.area else None,
        )

    def by_kernel(self) -> bool:
        """Is it worth while to have it played by the kernel, and possible, as far as can be said
        before its jobs are seen?"""
        if self.files is not None or self.near or self.jobs < kernel.LEAST:
            return False
        return kernel.installed() and not kernel.uncovered(self.system)

    def _play_by_kernel(self, replication: int) -> JobOutcome:
        """One replication. Raises as `play`, and NotCovered."""
        measure = self._measurements()
        blocks = blocks_of(self.workload, self.seed, replication, self.jobs)
        rng = PolicyRng(self.seed, replication)
        kernel.play(self.system, blocks, measure.add_records, rng.many, gangs=self.gangs)
        return replace(measure.outcome(self.warmup), kernel=True)

    def _measurements(self, short: float = SHORT) -> Measurements:
        return Measurements(
            sum(self.system.processors),
            extension=self.extension,
            overhead=self.system.overhead,
            gangs=self.gangs,
            most=self.most,
            short=short,
        )

    def _clusters(self, replication: int) -> list[SharedCluster]:
        """The clusters with the jobs of their local users."""
        found = []
        system = self.system
        for index, (size, users) in enumerate(zip(system.processors, system.local, strict=True)):
            if users is None:
                found.append(SharedCluster(size))
            else:
                jobs = users.jobs(index, self.seed, replication)
                found.append(SharedCluster(size, users.scheduler, jobs))
        return found


def _both(one: Sink, other: Sink) -> Sink:
    def sink(done: list) -> None:  # type: ignore[type-arg]
        one(done)
        other(done)

    return sink
