"""What brokers suffer."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.world.local_users import kept_full
from tests.world.older_stores import rolled_back
from tests.world.scenario import (
    LED,
    MEETS,
    MIDST,
    POLICIES,
    PROMOTED,
    ROLLBACK,
    SPAN,
    Fault,
    Scenario,
)

from .making import several, single, some
from .registry import apart, for_several, kind


@kind
def _paused(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker's host stands still, for longer than what it knows is fresh; and when it goes on a
    cluster does not answer, while jobs come."""
    at, lasts = rng.uniform(20, 120), rng.uniform(40, 150)
    faults = some(rng, scenario, 0.15)
    faults.append(Fault(round(at, 3), "stop", "", round(lasts, 3), "now"))
    again = at + lasts
    for cluster in scenario.clusters:
        if rng.random() < 0.7:
            what = rng.choice(("frozen", "frozen", "down"))
            before = rng.uniform(0.5, 20)
            hangs = round(before + rng.uniform(5, 40), 3)
            faults.append(Fault(round(again - before, 3), what, cluster.name, hangs))
    more = (single(rng, again + rng.uniform(-2, 5)) for _ in range(4))
    jobs = (*scenario.jobs, *more)
    return replace(scenario, jobs=jobs, faults=tuple(faults))


@kind
def _midst(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker dies between two of the steps in which it lays out a gate."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.15)
    for _ in range(4):
        at = rng.uniform(0, SPAN)
        jobs.append(rng.choice((single(rng, at), several(rng, at, scenario))))
        lasts = round(rng.uniform(0, 20), 3)
        faults.append(Fault(round(max(0.0, at - 0.5), 3), "crash", "", lasts, MIDST))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@for_several
def _meetings(rng: random.Random, scenario: Scenario) -> Scenario:
    """A leader is stopped as it is about to arm a gate, or to open it; the next one ends the job,
    and meets it there."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.15)
    for _ in range(3):
        at = rng.uniform(0, SPAN)
        jobs.append(several(rng, at, scenario, whims=((LED, "cancel", 0.01),)))
        lasts, to = round(rng.uniform(30, 120), 3), rng.choice(("armed", "go"))
        faults.append(Fault(round(max(0.0, at - 0.1), 3), "stop", "", lasts, MEETS, to))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@kind
def older_store(rng: random.Random, scenario: Scenario) -> Scenario:
    """The store goes back."""
    given = (scenario.clusters, scenario.jobs, scenario.faults)
    clusters, jobs, faults = rolled_back(rng, *given, share=1.0)
    jobs = tuple(replace(job, after=(), array="") for job in jobs)
    return replace(scenario, clusters=clusters, jobs=jobs, faults=tuple(faults))


@apart
def _promoted(rng: random.Random, scenario: Scenario) -> Scenario:
    """The store goes back under brokers that run, most often by a moment only."""
    made = older_store(rng, scenario)
    back = next(fault for fault in made.faults if fault.how == "back")
    ago = rng.choice((rng.uniform(0.01, 0.5), rng.uniform(0.2, 5), rng.uniform(1, 60)))
    faults = [f for f in made.faults if f.what != ROLLBACK]
    faults.append(Fault(round(max(0.0, back.at - ago), 3), ROLLBACK, "", 0.0, "copied"))
    faults.append(replace(back, how=PROMOTED))
    return replace(made, faults=tuple(faults))


@apart
def _promoted_at_rest(rng: random.Random, scenario: Scenario) -> Scenario:
    """The store goes back under brokers that run when all jobs have ended, but before the clusters
    have forgotten them: nothing is written."""
    made = older_store(rng, scenario)
    jobs = [single(rng, rng.uniform(90, 130)) for _ in range(rng.randint(1, 3))]
    jobs += [several(rng, rng.uniform(90, 130), scenario) for _ in range(rng.randint(0, 1))]
    faults = [f for f in made.faults if f.what != ROLLBACK and rng.random() < 0.3]
    faults += [
        Fault(round(rng.uniform(100, 170), 3), ROLLBACK, "", 0.0, "copied"),
        Fault(round(SPAN + rng.uniform(5, 50), 3), ROLLBACK, "", 0.0, PROMOTED),
    ]
    return replace(made, jobs=tuple(jobs), faults=tuple(faults))


@kind
def _other_policy(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker dies while all clusters are wanted by others, and is started with another policy:
    jobs wait in queues that it may not have."""
    clusters, faults = kept_full(rng, scenario)
    jobs = [replace(job, after=()) for job in scenario.jobs]
    jobs += [single(rng, rng.uniform(5, 60)) for _ in range(2)]
    jobs += [several(rng, rng.uniform(5, 60), scenario) for _ in range(2)]
    at, lasts = rng.uniform(40, 120), rng.uniform(0, 15)
    faults.append(Fault(round(at, 3), "crash", "", round(lasts, 3), "now"))
    faults += some(rng, scenario, 0.1)
    later = rng.choice([policy for policy in POLICIES if policy != scenario.policy])
    made = replace(scenario, clusters=clusters, faults=tuple(faults), later=later)
    return replace(made, jobs=tuple(jobs), overtaken=None)
