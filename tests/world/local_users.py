"""Clusters that others want, too: local users keep them full for a while."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from .scenario import LOCALS, ClusterPlan, Fault, JobPlan


def keep_full(
    rng: random.Random,
    clusters: tuple[ClusterPlan, ...],
    jobs: Sequence[JobPlan],
    faults: Sequence[Fault],
) -> tuple[tuple[ClusterPlan, ...], Sequence[Fault]]:
    """Some clusters are wanted by users of their own, and kept full by them for a while."""
    if rng.random() >= 0.35:
        return clusters, faults
    busy = {c.name for c in clusters if rng.random() < 0.7}
    found = [
        Fault(round(rng.uniform(0, rng.choice(jobs).at), 3), LOCALS, name, rng.uniform(20, 240))
        for name in sorted(busy)
    ]
    plans = (replace(c, queue_every=2.0) if c.name in busy else c for c in clusters)
    return tuple(plans), [*faults, *found]
