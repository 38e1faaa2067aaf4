"""Jobs that the policy splits."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.world.scenario import Fault, JobPlan, Scenario

from .making import some
from .registry import apart


@apart
def _split_before_the_crash(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker dies as a job is placed that the policy has split, or as its first component is
    reserved or submitted; it submits the others when it is back."""
    most = max(cluster.processors for cluster in scenario.clusters)
    every = sum(cluster.processors for cluster in scenario.clusters)
    jobs, faults = [], [f for f in some(rng, scenario, 0.1) if f.what != "crash"]
    for at in (rng.uniform(2, 30), rng.uniform(80, 110), rng.uniform(160, 190)):
        runs = round(rng.uniform(10, 40), 3)
        sizes = (rng.randint(min(most + 1, every), every),)
        jobs.append(JobPlan(round(at, 3), "total", sizes, run_time=runs, limit=60))
        how = rng.choice(("written", "Reserve", "Submit"))
        faults.append(Fault(round(at - 0.1, 3), "crash", "", round(rng.uniform(1, 20), 3), how))
    made = replace(scenario, policy="MULTI-SITE", overhead=rng.choice((0.25, 1.0)), later="")
    return replace(made, jobs=tuple(jobs), faults=tuple(faults))
