"""Worlds in which the store goes back (see `rolled_back`)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from .network import COMMAND_TIMEOUT
from .scenario import BESIDE_ROLLBACK, ROLLBACK, ClusterPlan, Fault, JobPlan


def rolled_back(
    rng: random.Random,
    clusters: tuple[ClusterPlan, ...],
    jobs: tuple[JobPlan, ...],
    faults: Sequence[Fault],
    share: float = 0.08,
) -> tuple[tuple[ClusterPlan, ...], tuple[JobPlan, ...], Sequence[Fault]]:
    """The store goes back, in a world whose clusters tell all that they ever had."""
    if rng.random() >= share:
        return clusters, jobs, faults
    clusters = tuple(
        replace(c, system="openpbs") if c.system == "openpbs-forgets" else c for c in clusters
    )
    jobs = tuple(
        replace(job, exits=(0,), actions=(), hold=False, sends=False, fetches=False, limit=600)
        for job in jobs
    )
    if rng.random() < 0.6:  # many come at once, so that some wait
        jobs = tuple(
            replace(job, at=round(rng.uniform(0, 40), 3), run_time=round(rng.uniform(20, 120), 3))
            for job in jobs
        )
    at = rng.choice(jobs).at + rng.choice((rng.uniform(0.5, 10), rng.uniform(5, 120)))
    before = rng.choice((rng.uniform(0.2, 10), rng.uniform(5, 120)))
    if rng.random() < 0.4:  # the copy is made in the middle of an attempt's first steps
        before = max(0.1, at - rng.choice(jobs).at - rng.uniform(0, 0.4))
    lasts = round(rng.uniform(0.1, 40), 3)
    if rng.random() < 0.5:  # one comes as soon as the broker is there again
        late = replace(jobs[0], at=round(at + lasts + rng.uniform(0, 2), 3))
        jobs = (*jobs, late)
    copied = Fault(round(max(0.0, at - before), 3), ROLLBACK, "", 0.0, "copied")
    back = Fault(round(at, 3), ROLLBACK, "", lasts, "back")
    found = [*(f for f in faults if f.what in BESIDE_ROLLBACK), copied, back]
    if rng.random() < 0.8:  # one answers later than the others, when the broker starts
        until = rng.uniform(1, 0.8 * COMMAND_TIMEOUT)
        frozen = round(at + lasts - 0.5, 3)
        found.append(Fault(frozen, "frozen", rng.choice(clusters).name, round(0.5 + until, 3)))
    return clusters, jobs, found
