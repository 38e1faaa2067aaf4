"""Clusters that act for users, whose accounts are in trouble."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.world.accounts import AWAY, FORBIDDEN, UNKNOWN, UNLISTED, USERS
from tests.world.scenario import ACCOUNT, DENIES, LOCALS, ROLLBACK, SPAN, Fault, JobPlan, Scenario

from .making import several, single, some
from .registry import apart

_LEFT_OUT = {ROLLBACK, DENIES, LOCALS}
_TROUBLES = (UNKNOWN, UNKNOWN, FORBIDDEN, FORBIDDEN, AWAY, AWAY, UNLISTED)
_CRASHES = ("now", "written", "Submit", "Arm", "Open", "Clean", "Clean", "Discard")


@apart
def _accounts(rng: random.Random, scenario: Scenario) -> Scenario:
    """An account is unknown there, may not be acted for, is not listed, or its files are away: as
    its job comes, while it runs, between its end and the removal of its gate. At times it stays so
    for long; and brokers die then."""
    clusters = [
        replace(c, acts=rng.choice(("same", "named", "named", ""))) for c in scenario.clusters
    ]
    clusters[0] = replace(clusters[0], acts=clusters[0].acts or "named")
    acting = [cluster for cluster in clusters if cluster.acts]
    jobs = [replace(j, after=(), array="", user=rng.choice(USERS)) for j in scenario.jobs]
    faults = [fault for fault in some(rng, scenario, 0.2) if fault.what not in _LEFT_OUT]
    made = replace(scenario, clusters=tuple(clusters))
    if rng.random() < 0.15:
        return _for_long(rng, made, jobs, faults)
    for _ in range(rng.randint(2, 5)):
        at, where = rng.uniform(0, SPAN), rng.choice(acting)
        job = single(rng, at, [where]) if rng.random() < 0.5 else several(rng, at, scenario)
        apart, fetches = rng.choice((0.0, 15.0, 30.0)), rng.random() < 0.2
        job = replace(job, user=rng.choice(USERS), fetches=fetches, apart=apart)
        jobs.append(job)
        faults += _trouble(rng, job, where.name)
    return replace(made, jobs=tuple(jobs), faults=tuple(faults))


def _for_long(
    rng: random.Random, scenario: Scenario, jobs: list[JobPlan], faults: list[Fault]
) -> Scenario:
    """One user's account is in trouble in all clusters, for long; jobs of the others come."""
    poor, *others = rng.sample(USERS, len(USERS))
    how, at = rng.choice((UNKNOWN, UNKNOWN, FORBIDDEN, AWAY)), round(rng.uniform(0, 100), 3)
    for cluster in scenario.clusters:
        if cluster.acts:
            faults.append(Fault(at, ACCOUNT, cluster.name, 1500.0, how, poor))
    jobs += [single(rng, rng.uniform(0, SPAN), user=poor) for _ in range(2)]
    for _ in range(6):
        comes = rng.uniform(SPAN, 3 * SPAN)
        job = single(rng, comes) if rng.random() < 0.7 else several(rng, comes, scenario)
        jobs.append(replace(job, user=rng.choice(others)))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


def _trouble(rng: random.Random, job: JobPlan, where: str) -> list[Fault]:
    """About the time at which a job comes, or at which it has run."""
    ends = job.at + job.run_time
    moment = rng.choice((job.at, job.at, ends, ends)) + rng.choice((-1.0, 0.0, 2.0, 6.0))
    moment = round(max(0.0, moment + rng.uniform(0, 4)), 3)
    how, lasts = rng.choice(_TROUBLES), rng.choice((30.0, 120.0, 120.0, 300.0))
    if how == UNLISTED or rng.random() < 0.15:
        lasts *= 3
    elif rng.random() < 0.1:
        lasts = 1500.0
    lasts = round(lasts * rng.uniform(0.5, 1), 3)
    whose = rng.choice((job.user, job.user, job.user, ""))
    found = [Fault(moment, ACCOUNT, where, lasts, how, whose)]
    if rng.random() < 0.6:
        dies = round(max(0.0, moment + rng.choice((-0.5, 0.5, 3.0)) * rng.random()), 3)
        then = rng.choice(("", "", ACCOUNT))
        down = round(rng.uniform(0, 20), 3)
        found.append(Fault(dies, "crash", where if then else "", down, rng.choice(_CRASHES), then))
    if rng.random() < 0.4:  # as the first of its components is cleaned
        down, how = round(rng.uniform(0, 10), 3), rng.choice(("Clean", "Clean", "written"))
        found.append(Fault(round(ends, 3), "crash", where, down, how, ACCOUNT))
    return found
