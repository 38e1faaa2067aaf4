"""Jobs that others join while they run."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.world.scenario import ROLLBACK, SPAN, Fault, JobPlan, Scenario

from .making import several, single, some
from .registry import apart


@apart
def _joining(rng: random.Random, scenario: Scenario) -> Scenario:
    """Some come before it runs, others late, and most would go on after its end. Any of them is
    cancelled or held at times, and the broker dies."""
    jobs = list(scenario.jobs)
    faults = [fault for fault in some(rng, scenario, 0.2) if fault.what != ROLLBACK]
    for _ in range(rng.randint(1, 3)):
        joined = len(jobs)
        at, runs = rng.uniform(0, SPAN / 2), round(rng.uniform(60, 110), 3)
        job = single(rng, at) if rng.random() < 0.4 else several(rng, at, scenario)
        ends = () if rng.random() < 0.7 else ((round(rng.uniform(0, 60), 3), "cancel"),)
        exits = rng.choice(((0,), (0,), (3, 0)))
        jobs.append(replace(job, run_time=runs, actions=ends, exits=exits, hold=rng.random() < 0.2))
        jobs += [_comes(rng, joined, jobs[joined]) for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.7:
            moment = round(at + rng.uniform(0, 120), 3)
            lasts = round(rng.uniform(0, 30), 3)
            faults.append(Fault(moment, "crash", "", lasts, rng.choice(("now", "written"))))
    slices = rng.choice((1, scenario.slice))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults), slice=slices)


def _comes(rng: random.Random, joined: int, job: JobPlan) -> JobPlan:
    late = rng.choice((rng.uniform(0.001, 5), rng.uniform(0, 60), rng.uniform(50, 120)))
    runs = round(rng.choice((rng.uniform(5, 30), rng.uniform(40, 60), 500.0)), 3)
    actions: tuple[tuple[float, str], ...] = ()
    if rng.random() < 0.3:
        action = rng.choice(("cancel", "hold"))
        actions = ((round(rng.uniform(0, 60), 3), action),)
    sizes = (rng.randint(1, 3),)
    made = single(rng, job.at + 0.001 + late, sizes=sizes, run_time=runs, actions=actions)
    return replace(made, joins=joined, user=job.user)
