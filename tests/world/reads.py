"""Files that jobs of the worlds read. In one world of five there are such, and the placement goes
by where they lie, unless the policy has its own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from .scenario import ClusterPlan, JobPlan, Scenario


def with_reads(
    seed: int, clusters: Sequence[ClusterPlan], jobs: tuple[JobPlan, ...]
) -> tuple[JobPlan, ...]:
    """The same jobs; most of them read a file or two, which lie in some clusters."""
    rng = random.Random(f"{seed} reads")
    if rng.random() >= 0.2:
        return jobs
    names = [cluster.name for cluster in clusters]

    def file() -> str:
        where = rng.sample(names, rng.randint(1, len(names)))
        return ",".join(f"{name}:/data" for name in where) + f":{rng.choice((1, 20))}G"

    return tuple(
        replace(job, reads=tuple(file() for _ in range(rng.choice((0, 1, 1, 2))))) for job in jobs
    )


def placement(scenario: Scenario) -> str | None:
    """The placement of the world, where it goes by files; None: the policy's own."""
    if not scenario.close:
        return None
    return "close-to-files-reuse" if scenario.policy in ("FCFS", "FPFS") else "close-to-files"
