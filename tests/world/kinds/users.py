"""What users do at a bad moment."""

from __future__ import annotations

import random
from dataclasses import replace

from metabroker.policy import BACKFILLING
from tests.world.arrays import ONE
from tests.world.local_users import kept_full
from tests.world.scenario import (
    SPAN,
    Fault,
    Scenario,
)

from .making import several, single, some
from .registry import apart, kind


@kind
def _cancelled(rng: random.Random, scenario: Scenario) -> Scenario:
    """A job that runs is cancelled, or all of an array; the broker dies as soon as that is told."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.15)
    for _ in range(3):
        at, after = rng.uniform(0, SPAN), round(rng.uniform(12, 25), 3)
        array = rng.choice(("", "", "0-7"))
        job = single(rng, at, run_time=60.0, actions=((after, "cancel"),), array=array)
        jobs.append(job)
        soon = round(job.at + after - rng.choice((0.002, -rng.uniform(0, 1))), 3)
        how, lasts = rng.choice(("written", "written", "now")), round(rng.uniform(0, 20), 3)
        faults.append(Fault(soon, "crash", "", lasts, how))
    slices = rng.choice((1, scenario.slice))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults), slice=slices)


@kind
def _released(rng: random.Random, scenario: Scenario) -> Scenario:
    """Tasks of arrays that wait are held, and released while others of the array are under way."""
    clusters, faults = kept_full(rng, scenario)
    jobs = list(scenario.jobs)
    for _ in range(3):
        moments = sorted(round(rng.uniform(1, 60), 3) for _ in range(4))
        holds = tuple((moment, ONE) for moment in moments)
        array, runs = f"0-5%{rng.choice((1, 2))}", round(rng.uniform(8, 25), 3)
        jobs.append(single(rng, rng.uniform(0, 60), array=array, run_time=runs, actions=holds))
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@kind
def _held_arrays(rng: random.Random, scenario: Scenario) -> Scenario:
    """All of an array is held, most often for good or until all else is over, a task in each turn;
    the broker dies as soon as that is told, or room is there for its tasks just then."""
    clusters, faults = kept_full(rng, scenario)
    jobs = list(scenario.jobs)
    for _ in range(4):
        at, after = rng.uniform(0, 60), round(rng.uniform(1, 40), 3)
        actions = [(after, "hold")]
        if rng.random() < 0.7:
            actions.append((round(after + rng.choice((0.05, rng.uniform(1, 60))), 3), "release"))
        if rng.random() < 0.5:
            soon = round(at + after - rng.choice((0.002, -rng.uniform(0, 1))), 3)
            how, lasts = rng.choice(("written", "written", "now")), round(rng.uniform(0, 20), 3)
            faults.append(Fault(soon, "crash", "", lasts, how))
        array, runs = f"0-7{rng.choice(('', '%1'))}", round(rng.uniform(3, 15), 3)
        jobs.append(single(rng, at, sizes=(1,), array=array, run_time=runs, actions=tuple(actions)))
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults), slice=1)


@kind
def _whims(rng: random.Random, scenario: Scenario) -> Scenario:
    """Jobs are cancelled, or held, just when they are about to start."""
    jobs, faults = list(scenario.jobs), some(rng, scenario)
    for _ in range(4):
        event = rng.choice(("opened", "opened", "submitted", "submitting", "at the barrier"))
        action = rng.choice(("cancel", "hold"))
        whims = ((event, action, round(rng.uniform(0, 0.6), 3)),)
        at = rng.uniform(0, SPAN)
        alone = rng.random() < 1 / 3
        job = single(rng, at) if alone else several(rng, at, scenario)
        job = replace(job, whims=whims)
        jobs.append(job)
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@kind
def _overtaken(rng: random.Random, scenario: Scenario) -> Scenario:
    """Small jobs overtake large ones, which may not be overtaken often; and the broker dies."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.15)
    most = max(cluster.processors for cluster in scenario.clusters)
    for _ in range(3):
        jobs.append(single(rng, rng.uniform(5, 60), sizes=(most,)))
    jobs += [single(rng, rng.uniform(0, 150)) for _ in range(8)]
    for _ in range(2):
        at, lasts = rng.uniform(20, 160), rng.uniform(0, 15)
        faults.append(Fault(round(at, 3), "crash", "", round(lasts, 3), "now"))
    policy = scenario.policy if scenario.policy not in BACKFILLING else "LS-OR"
    jobs = [replace(job, after=()) for job in jobs]
    overtaken = rng.choice((1, 1, 2, 3))
    made = replace(scenario, policy=policy, overtaken=overtaken)
    return replace(made, jobs=tuple(jobs), faults=tuple(faults))


@apart
def _told_to_end(rng: random.Random, scenario: Scenario) -> Scenario:
    """Users cancel jobs that run, or these come to their time limits; their scripts end when they
    are told to, some of them with exit code 0."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.2)
    for _ in range(4):
        at, gives_up = rng.uniform(0, SPAN), round(rng.uniform(12, 40), 3)
        one = single(rng, at) if rng.random() < 0.5 else several(rng, at, scenario)
        if rng.random() < 0.5:
            one = replace(one, run_time=90.0, actions=((gives_up, "cancel"),))
        else:
            one = replace(one, run_time=400.0, limit=60)
        jobs.append(replace(one, traps=True))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))
