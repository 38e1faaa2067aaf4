"""What clusters show, and what is done there."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.world.beside import AWAY
from tests.world.local_users import kept_full
from tests.world.scenario import (
    BLIND,
    CLINGS,
    HEIR,
    HOST,
    LATE,
    RENAME,
    SILENT,
    SPAN,
    SUSPEND,
    UNSETTLED,
    Fault,
    JobPlan,
    Scenario,
)

from .making import several, single, some
from .registry import apart, kind


@kind
def _heirs(rng: random.Random, scenario: Scenario) -> Scenario:
    """A controller forgets our jobs, and somebody's by hand get their ids."""
    jobs, faults = list(scenario.jobs), some(rng, scenario)
    for _ in range(3):
        at, where = rng.uniform(0, SPAN), rng.choice(scenario.clusters)
        jobs.append(single(rng, at, [where]))
        forgets = at + rng.uniform(0.1, 3.0)
        faults.append(Fault(round(forgets, 3), "amnesia", where.name))
        begins, lasts = forgets + rng.uniform(6.2, 8.0), rng.uniform(40, 120)
        faults.append(Fault(round(begins, 3), HEIR, where.name, round(lasts, 3)))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@apart
def _ids_again(rng: random.Random, scenario: Scenario) -> Scenario:
    """A controller forgets jobs that no poll has shown, and others of ours get their ids at once,
    which run for long, and some of which are renamed."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.1)
    for _ in range(3):
        at, where = rng.uniform(0, SPAN), rng.choice(scenario.clusters)
        forgets = round(at + rng.uniform(0.5, 2.5), 3)
        faults.append(Fault(forgets, "amnesia", where.name))
        jobs.append(single(rng, at, [where]))
        for _ in range(3):
            comes, lasts = forgets + rng.uniform(-0.3, 2.0), round(rng.uniform(40, 90), 3)
            jobs.append(single(rng, comes, [where], run_time=lasts))
        for _ in range(2):
            faults.append(Fault(round(forgets + rng.uniform(1.5, 12.0), 3), RENAME, where.name))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults), poll=3.0)


@kind
def _blind(rng: random.Random, scenario: Scenario) -> Scenario:
    """A listing leaves out a job that is there, once; or several do of a controller that has just
    been started."""
    jobs, faults = list(scenario.jobs), some(rng, scenario)
    for _ in range(4):
        at, where = rng.uniform(0, SPAN), rng.choice(scenario.clusters)
        jobs.append(single(rng, at, [where]))
        how = rng.choice(("", UNSETTLED))
        lasts = rng.uniform(8, 25) if how else rng.uniform(1.0, 2.5)
        begins = at + rng.choice((rng.uniform(0.3, 3), rng.uniform(3, 15)))
        faults.append(Fault(round(begins, 3), BLIND, where.name, round(lasts, 3), how))
    # Who asks often is told nothing twice within a moment.
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults), poll=3.0, look=2.0)


@kind
def _late(rng: random.Random, scenario: Scenario) -> Scenario:
    """What was given up long ago comes to be, and is not removed with the first try."""
    clusters = tuple(replace(c, reserves=True) for c in scenario.clusters)
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.15)
    for _ in range(3):
        at = rng.uniform(0, SPAN / 2)
        jobs.append(several(rng, at, scenario))
        for cluster in clusters:
            faults.append(Fault(round(at - 0.2, 3), LATE, cluster.name, 60.0, CLINGS))
    faults = [replace(fault, at=max(0.0, fault.at)) for fault in faults]
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@kind
def _renamed(rng: random.Random, scenario: Scenario) -> Scenario:
    """Jobs that wait in their clusters' queues are renamed there, and then cancelled."""
    clusters, faults = kept_full(rng, scenario)
    jobs = list(scenario.jobs)
    for _ in range(4):
        at = rng.uniform(12, SPAN / 2)
        named, ends = at + rng.uniform(1, 20), rng.uniform(12, 50)
        jobs.append(single(rng, at, clusters, actions=((round(ends, 3), "cancel"),)))
        faults += [Fault(round(named, 3), RENAME, c.name) for c in clusters]
    faults += some(rng, scenario, 0.15)
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@kind
def _away(rng: random.Random, scenario: Scenario) -> Scenario:
    """A component ends before the others, and the host of its cluster cannot be reached then."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.1)
    for _ in range(3):
        at, apart = rng.uniform(0, 60), round(rng.uniform(20, 60), 3)
        job = several(rng, at, scenario, run_time=round(rng.uniform(5, 15), 3), apart=apart)
        jobs.append(job)
        for cluster in scenario.clusters:
            away, lasts = at + job.run_time + rng.uniform(-3, 3), rng.uniform(5, 40)
            faults.append(Fault(round(away, 3), "down", cluster.name, round(lasts, 3), HOST))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@kind
def _suspended(rng: random.Random, scenario: Scenario) -> Scenario:
    """Administrators suspend jobs that run, at their gates or behind them, and let them go on."""
    jobs, faults = list(scenario.jobs), some(rng, scenario)
    for _ in range(5):
        at, where = rng.uniform(0, SPAN), rng.choice(scenario.clusters)
        limit, runs = rng.choice((60, 120, 600)), round(rng.uniform(20, 50), 3)
        jobs.append(several(rng, at, scenario, limit=limit, run_time=runs))
        lasts = round(rng.uniform(5, 150) if rng.random() < 0.7 else rng.uniform(620, 800), 3)
        stops = round(at + rng.choice((rng.uniform(0, 3), rng.uniform(3, 30))), 3)
        faults.append(Fault(stops, SUSPEND, where.name, lasts))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@kind
def _lossy(rng: random.Random, scenario: Scenario) -> Scenario:
    """Jobs are submitted to clusters that lose requests and answers, and are put back there."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.15)
    for cluster in scenario.clusters:
        lasts = round(rng.uniform(100, 200), 3)
        faults.append(Fault(round(rng.uniform(0, 20), 3), "lossy", cluster.name, lasts))
    for _ in range(6):
        at, where = rng.uniform(5, 100), rng.choice(scenario.clusters)
        jobs.append(single(rng, at, [where]))
        if rng.random() < 0.5:
            again = round(at + rng.uniform(5, 40), 3)
            faults.append(Fault(again, "requeue", where.name))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@kind
def _doomed(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker dies when a component has been submitted, and the cluster of another one cannot be
    reached for longer than an attempt may take."""
    clusters = tuple(replace(c, reserves=False) for c in scenario.clusters)
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.1)
    at = rng.uniform(5, 60)
    jobs.append(several(rng, at, scenario, form="on", clusters=tuple(c.name for c in clusters[:2])))
    lasts, away = round(rng.uniform(0, 5), 3), round(rng.uniform(150, 300), 3)
    faults.append(Fault(round(at - 0.1, 3), "crash", clusters[0].name, lasts, "Submit", "down"))
    faults.append(Fault(round(at + 0.3, 3), "down", clusters[0].name, away))
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@apart
def _taken(rng: random.Random, scenario: Scenario) -> Scenario:
    """Others take what was idle at the last poll, just before a job of two components wants it."""
    clusters = tuple(
        replace(c, reserves=True, unit=1, system="slurm", queue_every=None)
        for c in scenario.clusters
    )
    jobs, faults = list(scenario.jobs), list[Fault]()
    for at in rng.sample(range(15, 180), 5):
        where, *others = rng.sample(clusters, min(2, len(clusters)))
        on = tuple(c.name for c in (where, *others))
        sizes = (where.processors - 2, *(1 for _ in others))  # another broker has two of them
        moment = at + rng.uniform(0.0, 1.0)
        runs = round(rng.uniform(5, 20), 3)
        jobs.append(
            several(rng, moment, scenario, form="on", clusters=on, sizes=sizes, run_time=runs)
        )
        comes, lasts = moment - rng.uniform(0.1, 0.5), rng.uniform(12, 25)
        faults.append(Fault(round(comes, 3), "full", where.name, round(lasts, 3)))
    return replace(
        scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults), poll=10.0, look=2.0
    )


@apart
def _beside(rng: random.Random, scenario: Scenario) -> Scenario:
    """One cluster does not answer, and jobs wait for it; all others have room for theirs."""
    plain = {"unit": 1, "queue_every": None, "acts": "", "limited": False}
    clusters = tuple(replace(cluster, **plain) for cluster in scenario.clusters)  # type: ignore[arg-type]
    if len(clusters) < 2:
        return scenario
    *others, away = clusters
    jobs = [single(rng, 9.0, [away])]
    for number in range(2):
        names = (away.name, others[0].name)
        jobs.append(JobPlan(5.0 + number, "on", (1, 1), names, run_time=5.0))
    for cluster in others:
        room = cluster.processors - 3
        while room > 0:
            size = rng.randint(1, room)
            room -= size
            job = single(rng, rng.uniform(10, 90), [cluster], run_time=round(rng.uniform(1, 60), 3))
            jobs.append(replace(job, sizes=(size,)))
    fault = Fault(1.0, rng.choice(SILENT), away.name, AWAY)
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=(fault,), kept=None)
