"""Where others wait too: siblings in line."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.world.local_users import kept_full
from tests.world.scenario import (
    COMES_AND_GOES,
    DRAIN,
    LEAVE,
    ROLLBACK,
    SPAN,
    Fault,
    Scenario,
)

from .making import single, some
from .registry import apart, kind


@kind
def _nobody_else(rng: random.Random, scenario: Scenario) -> Scenario:
    """Nobody but us waits anywhere, and many jobs of ours come: while a cluster's queue is listed,
    too."""
    clusters = tuple(replace(c, queue_every=0.5, system="slurm") for c in scenario.clusters)
    jobs = [single(rng, rng.uniform(130, 190), run_time=3.0) for _ in range(20)]
    faults = some(rng, scenario, 0.1)
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults), poll=2.0)


@kind
def _leaving(rng: random.Random, scenario: Scenario) -> Scenario:
    """Those who keep all clusters full go at once, while jobs stand in line; the broker may die."""
    return _in_line(rng, scenario, (0.5, 20))


@kind
def _patience(rng: random.Random, scenario: Scenario) -> Scenario:
    """The same; and no broker is there for longer than a sibling waits at its gate."""
    return _in_line(rng, scenario, (61, 90))


def _in_line(rng: random.Random, scenario: Scenario, away: tuple[float, float]) -> Scenario:
    clusters, faults = kept_full(rng, scenario)
    jobs = list(scenario.jobs)
    for _ in range(3):
        at = rng.uniform(12, 100)
        jobs.append(single(rng, at))
    goes = rng.uniform(30, 130)
    faults += [Fault(round(goes + rng.uniform(0, 0.5), 3), LEAVE, c.name) for c in clusters]
    how = rng.choice(("now", "now", "written", "Open"))
    lasts = round(rng.uniform(*away), 3)
    faults.append(Fault(round(goes + rng.uniform(0, 2.5), 3), "crash", "", lasts, how))
    faults += some(rng, scenario, 0.15)
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@kind
def _come_and_go(rng: random.Random, scenario: Scenario) -> Scenario:
    """In every cluster somebody submits jobs that never start, and cancels each soon; the broker
    may die."""
    clusters = tuple(replace(c, system="slurm", queue_every=2.0) for c in scenario.clusters)
    faults = [Fault(0.0, COMES_AND_GOES, c.name, SPAN + 60) for c in clusters]
    jobs = [single(rng, rng.uniform(0, 100)) for _ in range(3)]
    if rng.random() < 0.5:
        at, lasts = rng.uniform(10, 100), rng.uniform(0, 20)
        faults.append(Fault(round(at, 3), "crash", "", round(lasts, 3), "now"))
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@kind
def _drained_in_line(rng: random.Random, scenario: Scenario) -> Scenario:
    """Clusters are drained, just before those go who keep them full, while jobs stand in line."""
    clusters, faults = kept_full(rng, scenario)
    jobs = [*scenario.jobs, *(single(rng, rng.uniform(12, 60)) for _ in range(6))]
    goes = rng.uniform(70, 130)
    for cluster in clusters:
        faults.append(Fault(round(goes + rng.uniform(0, 0.3), 3), LEAVE, cluster.name))
        drained, lasts = goes - rng.uniform(-0.2, 0.5), rng.uniform(10, 60)
        faults.append(Fault(round(drained, 3), DRAIN, cluster.name, round(lasts, 3)))
    faults += some(rng, scenario, 0.1)
    made = replace(scenario, clusters=clusters, slice=rng.choice((1, 1, scenario.slice)))
    return replace(made, jobs=tuple(jobs), faults=tuple(faults))


@apart
def _lost_choice(rng: random.Random, scenario: Scenario) -> Scenario:
    """While jobs stand in line the store goes back by a moment. Then the files of one cluster do
    not answer, and all others go who keep the clusters full. Or those of that cluster have gone
    before, so that one comes up there which had not been submitted, as the store then tells."""
    clusters, faults = kept_full(rng, scenario)
    jobs = [single(rng, rng.uniform(5, 60), run_time=rng.uniform(60, 200)) for _ in range(12)]
    back, lasts = rng.uniform(30, 70), rng.uniform(0.5, 5)
    away, where = back + lasts - rng.uniform(0, 3), rng.choice(clusters).name
    copied = Fault(round(back - rng.uniform(1, 10), 3), ROLLBACK, "", 0.0, "copied")
    if rng.random() < 0.5:
        came = back - rng.uniform(2.5, 6)
        jobs.append(single(rng, came, run_time=rng.uniform(60, 200)))
        copied = replace(copied, at=round(came - 0.1, 3), then="Submit")
        faults.append(Fault(round(came + rng.uniform(-1, 1), 3), LEAVE, where))
    faults += [
        copied,
        Fault(round(back, 3), ROLLBACK, "", round(lasts, 3), "back"),
        Fault(round(away, 3), "files", where, round(rng.uniform(20, 60), 3)),
    ]
    for cluster in clusters:
        faults.append(Fault(round(back + lasts + rng.uniform(0, 20), 3), LEAVE, cluster.name))
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults), brokers=1)


@apart
def _lost_sibling(rng: random.Random, scenario: Scenario) -> Scenario:
    """Jobs stand in line; a cluster that did not answer so far answers, so that they stand there
    too, and those who keep it full go. The store goes back to before that; often nothing else has
    happened meanwhile. Then its files may not answer."""
    clusters, faults = kept_full(rng, scenario)
    where, comes = rng.choice(clusters).name, rng.uniform(25, 50)
    leaves = comes + rng.uniform(3, 15)
    back, lasts = leaves + rng.uniform(1, 6), rng.uniform(0.5, 5)
    jobs = [single(rng, rng.uniform(5, 20), run_time=rng.uniform(60, 200)) for _ in range(5)]
    if rng.random() < 0.3:
        jobs.append(single(rng, rng.uniform(comes, back), run_time=rng.uniform(60, 200)))
    faults += [
        Fault(1.0, "frozen", where, round(comes - 1.0, 3)),
        Fault(round(comes - rng.uniform(0.1, 4), 3), ROLLBACK, "", 0.0, "copied"),
        Fault(round(leaves, 3), LEAVE, where),
        Fault(round(back, 3), ROLLBACK, "", round(lasts, 3), "back"),
    ]
    if rng.random() < 0.5:
        away = back + lasts - rng.uniform(0, 3)
        faults.append(Fault(round(away, 3), "files", where, round(rng.uniform(20, 60), 3)))
    made = replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))
    return replace(made, brokers=1, poll=rng.choice((2.0, 5.0)))
