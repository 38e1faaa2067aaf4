"""The users of a cluster who do not come through the broker: their jobs, and its own scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from metabroker.policy.local_queue import LocalEasy, LocalFcfs

from .job import SimJob
from .workloads.streams import seed_of_cluster

SCHEDULERS: dict[str, type[LocalEasy]] = {"FCFS": LocalFcfs, "EASY": LocalEasy}
"""The local schedulers by name."""

KINDS = ("local_users", "single", "co_allocated")
"""Whose figures are told apart: jobs of local users, the broker's of one component, and of more."""

_ENDLESS = 10**12


class JobStream(Protocol):
    """A source of jobs; plain data, so that it can be sent to another process."""

    def jobs(self, seed: int, replication: int, count: int) -> Iterator[SimJob]:
        """The first `count` jobs of a replication, the same whatever the policy."""


@dataclass(frozen=True)
class LocalUsers:
    """Jobs of one component for one cluster, and the scheduler of this cluster, of `SCHEDULERS`."""

    workload: JobStream
    scheduler: str = "EASY"

    def jobs(self, cluster: int, seed: int, replication: int) -> Iterator[SimJob]:
        """All jobs of a replication: as many as are asked for, or all of a log."""
        return self.workload.jobs(seed_of_cluster(seed, cluster), replication, _ENDLESS)


@dataclass(frozen=True)
class Line:
    """How jobs stand in line: up to `depth` jobs of a queue (0: none), each as up to `siblings`."""

    depth: int
    siblings: int = 2


class SharedCluster(NamedTuple):
    """A cluster of the broker's, with the jobs that come to it without the broker."""

    processors: int
    scheduler: str = "FCFS"
    jobs: Iterable[SimJob] = ()
    """In the order of their submission; without them the cluster is the broker's own."""
