"""Jobs and faults of such worlds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from tests.world.scenario import ClusterPlan, Fault, JobPlan, Scenario


def some(rng: random.Random, scenario: Scenario, share: float = 0.3) -> list[Fault]:
    """Of the faults that there were."""
    return [fault for fault in scenario.faults if rng.random() < share]


def single(
    rng: random.Random, at: float, where: Sequence[ClusterPlan] = (), **more: object
) -> JobPlan:
    """A job of one component, of any cluster or of one, that runs for a while."""
    cluster = rng.choice(where) if where else None
    job = JobPlan(
        round(at, 3),
        "single" if cluster is None else "chosen",
        (rng.randint(1, 4 if cluster is None else max(1, cluster.processors // 4)),),
        () if cluster is None else (cluster.name,),
        run_time=round(rng.uniform(20, 60), 3),
    )
    return replace(job, **more)  # type: ignore[arg-type]


def several(rng: random.Random, at: float, scenario: Scenario, **more: object) -> JobPlan:
    """A job of two components, or of one where there is one cluster."""
    least = min(cluster.processors for cluster in scenario.clusters)
    parts = min(2, len(scenario.clusters))
    sizes = tuple(rng.randint(1, max(1, least // 3)) for _ in range(parts))
    run_time = round(rng.uniform(10, 40), 3)
    job = JobPlan(round(at, 3), "components", sizes, run_time=run_time)
    return replace(job, **more)  # type: ignore[arg-type]
