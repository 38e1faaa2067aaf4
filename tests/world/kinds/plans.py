"""Jobs that are planned ahead."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.world.local_users import kept_full, plans
from tests.world.scenario import HOST, Fault, Scenario

from .making import several, some
from .registry import apart


@apart
def _late_plans(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker dies as the time of a plan comes, and is away for as long as reservations outlast
    jobs; these run for nearly their time limits. Clusters' clocks are ahead of the broker's, or
    behind."""
    full, wanted = kept_full(rng, scenario)
    clusters, _, found, _ = plans(rng, full, (), [*wanted, *some(rng, scenario, 0.05)], never=0.0)
    offsets = (rng.choice((0.0, -100.0, 45.0, 100.0)) for _ in clusters)
    clusters = tuple(replace(c, offset=o) for c, o in zip(clusters, offsets, strict=True))
    jobs, faults = [], [fault for fault in found if fault.what != "crash"]
    least = min(cluster.processors for cluster in clusters)
    for at in (rng.uniform(5, 40), rng.uniform(60, 100), rng.uniform(150, 190)):
        limit = rng.choice((60, 120))
        runs = round(limit - rng.uniform(2, 8), 3)
        sizes = tuple(rng.randint(least // 2, least) for _ in clusters[:2])
        jobs.append(several(rng, at, scenario, sizes=sizes, run_time=runs, limit=limit))
        dies, lasts = round(at + rng.uniform(1, 30), 3), round(rng.uniform(70, 170), 3)
        faults.append(Fault(dies, "crash", "", lasts, "Submit"))
    made = replace(scenario, clusters=clusters, jobs=tuple(jobs), ahead=3600.0)
    return replace(made, faults=tuple(faults))


@apart
def _untold_clocks(rng: random.Random, scenario: Scenario) -> Scenario:
    """Clusters whose clocks are ahead, or behind, cannot be reached as the broker begins anew; they
    are a moment later, and jobs wait that can be planned then. These need nearly all of their time
    limits."""
    full, wanted = kept_full(rng, scenario)
    clusters, _, found, _ = plans(rng, full, (), [*wanted, *some(rng, scenario, 0.05)], never=0.0)
    offsets = (rng.choice((45.0, 70.0, 100.0, -100.0)) for _ in clusters)
    clusters = tuple(replace(c, offset=o) for c, o in zip(clusters, offsets, strict=True))
    jobs, faults = [], [fault for fault in found if fault.what != "crash"]
    least = min(cluster.processors for cluster in clusters)
    for dies in (rng.uniform(20, 60), rng.uniform(120, 160), rng.uniform(220, 240)):
        back = dies + rng.uniform(5, 60)
        faults.append(Fault(round(dies, 3), "crash", "", round(back - dies, 3), "now"))
        for cluster in clusters:
            lasts = round(rng.uniform(5, 12), 3)
            faults.append(Fault(round(back - 3, 3), "down", cluster.name, lasts, HOST))
        for _ in range(4):
            at, limit = dies - rng.uniform(-5, 30), rng.choice((30, 60))
            runs = round(limit - rng.uniform(2, 8), 3)
            sizes = tuple(rng.randint(1, max(1, least // 2)) for _ in clusters[:2])
            jobs.append(several(rng, at, scenario, sizes=sizes, run_time=runs, limit=limit))
    made = replace(scenario, clusters=clusters, jobs=tuple(jobs), ahead=3600.0, poll=3.0)
    return replace(made, faults=tuple(faults))
