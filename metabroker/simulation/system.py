"""A system with its policy: all that one simulated run needs, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from metabroker.policy import POLICIES, Options, Planner, Scheduler, make, make_planner

from .engine import Sink, simulate
from .job import SimJob
from .measure import JobOutcome, Measurements
from .workloads.streams import Purpose, stream


class JobStream(Protocol):
    """A source of jobs; plain data, so that it can be sent to another process."""

    def jobs(self, seed: int, replication: int, count: int) -> Iterator[SimJob]:
        """The first `count` jobs of a replication, the same whatever the policy."""


@dataclass(frozen=True)
class System:
    """Clusters of `processors[c]` processors under a policy of contract C5.

    `placement`, `discipline`: None is the paper's. `overhead`: what is added to the run time of a
    job that the policy splits, as a part of it.
    """

    processors: tuple[int, ...]
    policy: str
    placement: str | None = None
    discipline: str | None = None
    overhead: float = 0.0
    options: Options = field(default_factory=Options)
    event_order: str = "batch"

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


@dataclass(frozen=True)
class Run:
    """Replications of one system under one workload: `jobs` jobs each.

    `warmup`: see `statistics.warmup.cut`. `extension`, `gangs`, `most`: see `Measurements`.
    """

    system: System
    workload: JobStream
    jobs: int
    seed: int = 1
    warmup: str | float = "auto"
    extension: float = 1.0
    gangs: bool = False
    most: int | None = None

    def play(self, replication: int = 0, also: Sink | None = None) -> JobOutcome:
        """One replication. `also` gets the finished jobs too. Raises as `simulate`."""
        system = self.system
        measure = Measurements(
            sum(system.processors),
            extension=self.extension,
            overhead=system.overhead,
            gangs=self.gangs,
            most=self.most,
        )
        sink: Sink = measure
        if also is not None:
            sink = _both(measure, also)
        jobs = self.workload.jobs(self.seed, replication, self.jobs)
        policy = system.scheduler(self.seed, replication)
        simulate(policy, jobs, system.processors, sink, event_order=system.event_order)
        return measure.outcome(self.warmup)


def _both(one: Sink, other: Sink) -> Sink:
    def sink(done: list) -> None:  # type: ignore[type-arg]
        one(done)
        other(done)

    return sink
