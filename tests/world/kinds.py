"""Worlds of a special kind: what is rare elsewhere comes in each of them, for a purpose.

One world in sixteen is of some kind; a planted mistake that only such worlds can show is hunted for
in these (`mutations.planting.among`). Of the world that it is made of a kind keeps some faults.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from metabroker.policy import BACKFILLING

from .arrays import ONE
from .local_users import wanted_by_others
from .older_stores import rolled_back
from .scenario import (
    BLIND,
    CLINGS,
    COMES_AND_GOES,
    DRAIN,
    HEIR,
    LATE,
    LEAVE,
    LED,
    MEETS,
    MIDST,
    POLICIES,
    RENAME,
    ROLLBACK,
    SPAN,
    SUSPEND,
    UNSETTLED,
    ClusterPlan,
    Fault,
    JobPlan,
    Scenario,
)

Make = Callable[[random.Random, Scenario], Scenario]
KINDS: dict[str, Make] = {}
FOR_SEVERAL: set[str] = set()
"""Those of worlds in which brokers share a store; the others are of one broker."""
_SHARE = 1 / 16


def special(seed: int, scenario: Scenario, kind: str) -> Scenario:
    """The scenario, if it is to be of this kind; "": of any, or most often of none."""
    rng = random.Random(f"{seed} kind")
    several = scenario.brokers > 1
    if not kind:
        back = any(fault.what == ROLLBACK for fault in scenario.faults)
        if rng.random() >= _SHARE or back or not scenario.faults:
            return scenario
        kind = rng.choice([name for name in KINDS if (name in FOR_SEVERAL) is several])
    made = KINDS[kind](rng, scenario)
    return replace(made, faults=tuple(sorted(made.faults, key=lambda fault: fault.at)))


def _kind(make: Make) -> Make:
    KINDS[make.__name__.strip("_").replace("_", "-")] = make
    return make


def _for_several(make: Make) -> Make:
    FOR_SEVERAL.add(make.__name__.strip("_").replace("_", "-"))
    return _kind(make)


def _some(rng: random.Random, scenario: Scenario, share: float = 0.3) -> list[Fault]:
    """Of the faults that there were."""
    return [fault for fault in scenario.faults if rng.random() < share]


def _single(
    rng: random.Random, at: float, where: Sequence[ClusterPlan] = (), **more: object
) -> JobPlan:
    """A job of one component, of any cluster or of one, that runs for a while."""
    cluster = rng.choice(where) if where else None
    job = JobPlan(
        round(at, 3),
        "single" if cluster is None else "chosen",
        (rng.randint(1, 4 if cluster is None else max(1, cluster.processors // 4)),),
        () if cluster is None else (cluster.name,),
        run_time=round(rng.uniform(20, 60), 3),
    )
    return replace(job, **more)  # type: ignore[arg-type]


def _several(rng: random.Random, at: float, scenario: Scenario, **more: object) -> JobPlan:
    """A job of two components, or of one where there is one cluster."""
    least = min(cluster.processors for cluster in scenario.clusters)
    parts = min(2, len(scenario.clusters))
    sizes = tuple(rng.randint(1, max(1, least // 3)) for _ in range(parts))
    run_time = round(rng.uniform(10, 40), 3)
    job = JobPlan(round(at, 3), "components", sizes, run_time=run_time)
    return replace(job, **more)  # type: ignore[arg-type]


# --- what clusters show -------------------------------------------------------------------------


@_kind
def _heirs(rng: random.Random, scenario: Scenario) -> Scenario:
    """A controller forgets our jobs, and somebody's by hand get their ids."""
    jobs, faults = list(scenario.jobs), _some(rng, scenario)
    for _ in range(3):
        at, where = rng.uniform(0, SPAN), rng.choice(scenario.clusters)
        jobs.append(_single(rng, at, [where]))
        forgets = at + rng.uniform(0.1, 3.0)
        faults.append(Fault(round(forgets, 3), "amnesia", where.name))
        begins, lasts = forgets + rng.uniform(6.2, 8.0), rng.uniform(40, 120)
        faults.append(Fault(round(begins, 3), HEIR, where.name, round(lasts, 3)))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@_kind
def _blind(rng: random.Random, scenario: Scenario) -> Scenario:
    """A listing leaves out a job that is there, once; or several do of a controller that has just
    been started."""
    jobs, faults = list(scenario.jobs), _some(rng, scenario)
    for _ in range(4):
        at, where = rng.uniform(0, SPAN), rng.choice(scenario.clusters)
        jobs.append(_single(rng, at, [where]))
        how = rng.choice(("", UNSETTLED))
        lasts = rng.uniform(8, 25) if how else rng.uniform(1.0, 2.5)
        begins = at + rng.choice((rng.uniform(0.3, 3), rng.uniform(3, 15)))
        faults.append(Fault(round(begins, 3), BLIND, where.name, round(lasts, 3), how))
    # Who asks often is told nothing twice within a moment.
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults), poll=3.0, look=2.0)


@_kind
def _late(rng: random.Random, scenario: Scenario) -> Scenario:
    """What was given up long ago comes to be, and is not removed with the first try."""
    clusters = tuple(replace(c, reserves=True) for c in scenario.clusters)
    jobs, faults = list(scenario.jobs), _some(rng, scenario, 0.15)
    for _ in range(3):
        at = rng.uniform(0, SPAN / 2)
        jobs.append(_several(rng, at, scenario))
        for cluster in clusters:
            faults.append(Fault(round(at - 0.2, 3), LATE, cluster.name, 60.0, CLINGS))
    faults = [replace(fault, at=max(0.0, fault.at)) for fault in faults]
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@_kind
def _renamed(rng: random.Random, scenario: Scenario) -> Scenario:
    """Jobs that wait in their clusters' queues are renamed there, and then cancelled."""
    clusters, faults = wanted_by_others(rng, scenario)
    jobs = list(scenario.jobs)
    for _ in range(4):
        at = rng.uniform(12, SPAN / 2)
        named, ends = at + rng.uniform(1, 20), rng.uniform(12, 50)
        jobs.append(_single(rng, at, clusters, actions=((round(ends, 3), "cancel"),)))
        faults += [Fault(round(named, 3), RENAME, c.name) for c in clusters]
    faults += _some(rng, scenario, 0.15)
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


# --- in line ------------------------------------------------------------------------------------


@_kind
def _leaving(rng: random.Random, scenario: Scenario) -> Scenario:
    """Those who keep all clusters full go at once, while jobs stand in line; the broker may die."""
    return _in_line(rng, scenario, (0.5, 20))


@_kind
def _patience(rng: random.Random, scenario: Scenario) -> Scenario:
    """The same; and no broker is there for longer than a sibling waits at its gate."""
    return _in_line(rng, scenario, (61, 90))


def _in_line(rng: random.Random, scenario: Scenario, away: tuple[float, float]) -> Scenario:
    clusters, faults = wanted_by_others(rng, scenario)
    jobs = list(scenario.jobs)
    for _ in range(3):
        at = rng.uniform(12, 100)
        jobs.append(_single(rng, at))
    goes = rng.uniform(30, 130)
    faults += [Fault(round(goes + rng.uniform(0, 0.5), 3), LEAVE, c.name) for c in clusters]
    how = rng.choice(("now", "now", "written", "Open"))
    lasts = round(rng.uniform(*away), 3)
    faults.append(Fault(round(goes + rng.uniform(0, 2.5), 3), "crash", "", lasts, how))
    faults += _some(rng, scenario, 0.15)
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@_kind
def _come_and_go(rng: random.Random, scenario: Scenario) -> Scenario:
    """In every cluster somebody submits jobs that never start, and cancels each soon; the broker
    may die."""
    clusters = tuple(replace(c, system="slurm", queue_every=2.0) for c in scenario.clusters)
    faults = [Fault(0.0, COMES_AND_GOES, c.name, SPAN + 60) for c in clusters]
    jobs = [_single(rng, rng.uniform(0, 100)) for _ in range(3)]
    if rng.random() < 0.5:
        at, lasts = rng.uniform(10, 100), rng.uniform(0, 20)
        faults.append(Fault(round(at, 3), "crash", "", round(lasts, 3), "now"))
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@_kind
def _drained_in_line(rng: random.Random, scenario: Scenario) -> Scenario:
    """Clusters are drained, just before those go who keep them full, while jobs stand in line."""
    clusters, faults = wanted_by_others(rng, scenario)
    jobs = [*scenario.jobs, *(_single(rng, rng.uniform(12, 60)) for _ in range(6))]
    goes = rng.uniform(70, 130)
    for cluster in clusters:
        faults.append(Fault(round(goes + rng.uniform(0, 0.3), 3), LEAVE, cluster.name))
        drained, lasts = goes - rng.uniform(-0.2, 0.5), rng.uniform(10, 60)
        faults.append(Fault(round(drained, 3), DRAIN, cluster.name, round(lasts, 3)))
    faults += _some(rng, scenario, 0.1)
    made = replace(scenario, clusters=clusters, slice=rng.choice((1, 1, scenario.slice)))
    return replace(made, jobs=tuple(jobs), faults=tuple(faults))


# --- what brokers suffer ------------------------------------------------------------------------


@_kind
def _paused(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker's host stands still, for longer than what it knows is fresh; and when it goes on a
    cluster does not answer, while jobs come."""
    at, lasts = rng.uniform(20, 120), rng.uniform(40, 150)
    faults = _some(rng, scenario, 0.15)
    faults.append(Fault(round(at, 3), "stop", "", round(lasts, 3), "now"))
    again = at + lasts
    for cluster in scenario.clusters:
        if rng.random() < 0.7:
            what = rng.choice(("frozen", "frozen", "down"))
            before = rng.uniform(0.5, 20)
            hangs = round(before + rng.uniform(5, 40), 3)
            faults.append(Fault(round(again - before, 3), what, cluster.name, hangs))
    some = (_single(rng, again + rng.uniform(-2, 5)) for _ in range(4))
    jobs = (*scenario.jobs, *some)
    return replace(scenario, jobs=jobs, faults=tuple(faults))


@_kind
def _cancelled(rng: random.Random, scenario: Scenario) -> Scenario:
    """A job that runs is cancelled, or all of an array; the broker dies as soon as that is told."""
    jobs, faults = list(scenario.jobs), _some(rng, scenario, 0.15)
    for _ in range(3):
        at, after = rng.uniform(0, SPAN), round(rng.uniform(12, 25), 3)
        array = rng.choice(("", "", "0-7"))
        job = _single(rng, at, run_time=60.0, actions=((after, "cancel"),), array=array)
        jobs.append(job)
        soon = round(job.at + after - rng.choice((0.002, -rng.uniform(0, 1))), 3)
        how, lasts = rng.choice(("written", "written", "now")), round(rng.uniform(0, 20), 3)
        faults.append(Fault(soon, "crash", "", lasts, how))
    slices = rng.choice((1, scenario.slice))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults), slice=slices)


@_kind
def _released(rng: random.Random, scenario: Scenario) -> Scenario:
    """Tasks of arrays that wait are held, and released while others of the array are under way."""
    clusters, faults = wanted_by_others(rng, scenario)
    jobs = list(scenario.jobs)
    for _ in range(3):
        moments = sorted(round(rng.uniform(1, 60), 3) for _ in range(4))
        holds = tuple((moment, ONE) for moment in moments)
        array, runs = f"0-5%{rng.choice((1, 2))}", round(rng.uniform(8, 25), 3)
        jobs.append(_single(rng, rng.uniform(0, 60), array=array, run_time=runs, actions=holds))
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@_kind
def _whims(rng: random.Random, scenario: Scenario) -> Scenario:
    """Jobs are cancelled, or held, just when they are about to start."""
    jobs, faults = list(scenario.jobs), _some(rng, scenario)
    for _ in range(4):
        event = rng.choice(("opened", "opened", "submitted", "submitting", "at the barrier"))
        action = rng.choice(("cancel", "hold"))
        whims = ((event, action, round(rng.uniform(0, 0.6), 3)),)
        at = rng.uniform(0, SPAN)
        alone = rng.random() < 1 / 3
        job = _single(rng, at) if alone else _several(rng, at, scenario)
        job = replace(job, whims=whims)
        jobs.append(job)
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@_kind
def _suspended(rng: random.Random, scenario: Scenario) -> Scenario:
    """Administrators suspend jobs that run, at their gates or behind them, and let them go on."""
    jobs, faults = list(scenario.jobs), _some(rng, scenario)
    for _ in range(5):
        at, where = rng.uniform(0, SPAN), rng.choice(scenario.clusters)
        limit, runs = rng.choice((60, 120, 600)), round(rng.uniform(20, 50), 3)
        jobs.append(_several(rng, at, scenario, limit=limit, run_time=runs))
        lasts = round(rng.uniform(5, 150) if rng.random() < 0.7 else rng.uniform(620, 800), 3)
        stops = round(at + rng.choice((rng.uniform(0, 3), rng.uniform(3, 30))), 3)
        faults.append(Fault(stops, SUSPEND, where.name, lasts))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@_kind
def _midst(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker dies between two of the steps in which it lays out a gate."""
    jobs, faults = list(scenario.jobs), _some(rng, scenario, 0.15)
    for _ in range(4):
        at = rng.uniform(0, SPAN)
        jobs.append(rng.choice((_single(rng, at), _several(rng, at, scenario))))
        lasts = round(rng.uniform(0, 20), 3)
        faults.append(Fault(round(max(0.0, at - 0.5), 3), "crash", "", lasts, MIDST))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@_kind
def _doomed(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker dies when a component has been submitted, and the cluster of another one cannot be
    reached for longer than an attempt may take."""
    clusters = tuple(replace(c, reserves=False) for c in scenario.clusters)
    jobs, faults = list(scenario.jobs), _some(rng, scenario, 0.1)
    at = rng.uniform(5, 60)
    jobs.append(
        _several(rng, at, scenario, form="on", clusters=tuple(c.name for c in clusters[:2]))
    )
    lasts, away = round(rng.uniform(0, 5), 3), round(rng.uniform(150, 300), 3)
    faults.append(Fault(round(at - 0.1, 3), "crash", clusters[0].name, lasts, "Submit", "down"))
    faults.append(Fault(round(at + 0.3, 3), "down", clusters[0].name, away))
    return replace(scenario, clusters=clusters, jobs=tuple(jobs), faults=tuple(faults))


@_for_several
def _meetings(rng: random.Random, scenario: Scenario) -> Scenario:
    """A leader is stopped as it is about to arm a gate, or to open it; the next one ends the job,
    and meets it there."""
    jobs, faults = list(scenario.jobs), _some(rng, scenario, 0.15)
    for _ in range(3):
        at = rng.uniform(0, SPAN)
        jobs.append(_several(rng, at, scenario, whims=((LED, "cancel", 0.01),)))
        lasts, to = round(rng.uniform(30, 120), 3), rng.choice(("armed", "go"))
        faults.append(Fault(round(max(0.0, at - 0.1), 3), "stop", "", lasts, MEETS, to))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@_kind
def _lossy(rng: random.Random, scenario: Scenario) -> Scenario:
    """Jobs are submitted to clusters that lose requests and answers, and are put back there."""
    jobs, faults = list(scenario.jobs), _some(rng, scenario, 0.15)
    for cluster in scenario.clusters:
        lasts = round(rng.uniform(100, 200), 3)
        faults.append(Fault(round(rng.uniform(0, 20), 3), "lossy", cluster.name, lasts))
    for _ in range(6):
        at, where = rng.uniform(5, 100), rng.choice(scenario.clusters)
        jobs.append(_single(rng, at, [where]))
        if rng.random() < 0.5:
            again = round(at + rng.uniform(5, 40), 3)
            faults.append(Fault(again, "requeue", where.name))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@_kind
def _older_store(rng: random.Random, scenario: Scenario) -> Scenario:
    """The store goes back."""
    given = (scenario.clusters, scenario.jobs, scenario.faults)
    clusters, jobs, faults = rolled_back(rng, *given, share=1.0)
    jobs = tuple(replace(job, after=(), array="") for job in jobs)
    return replace(scenario, clusters=clusters, jobs=jobs, faults=tuple(faults))


@_kind
def _other_policy(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker dies while all clusters are wanted by others, and is started with another policy:
    jobs wait in queues that it may not have."""
    clusters, faults = wanted_by_others(rng, scenario)
    jobs = [replace(job, after=()) for job in scenario.jobs]
    jobs += [_single(rng, rng.uniform(5, 60)) for _ in range(2)]
    jobs += [_several(rng, rng.uniform(5, 60), scenario) for _ in range(2)]
    at, lasts = rng.uniform(40, 120), rng.uniform(0, 15)
    faults.append(Fault(round(at, 3), "crash", "", round(lasts, 3), "now"))
    faults += _some(rng, scenario, 0.1)
    later = rng.choice([policy for policy in POLICIES if policy != scenario.policy])
    made = replace(scenario, clusters=clusters, faults=tuple(faults), later=later)
    return replace(made, jobs=tuple(jobs), overtaken=None)


@_kind
def _overtaken(rng: random.Random, scenario: Scenario) -> Scenario:
    """Small jobs overtake large ones, which may not be overtaken often; and the broker dies."""
    jobs, faults = list(scenario.jobs), _some(rng, scenario, 0.15)
    most = max(cluster.processors for cluster in scenario.clusters)
    for _ in range(3):
        jobs.append(_single(rng, rng.uniform(5, 60), sizes=(most,)))
    jobs += [_single(rng, rng.uniform(0, 150)) for _ in range(8)]
    for _ in range(2):
        at, lasts = rng.uniform(20, 160), rng.uniform(0, 15)
        faults.append(Fault(round(at, 3), "crash", "", round(lasts, 3), "now"))
    policy = scenario.policy if scenario.policy not in BACKFILLING else "LS-OR"
    jobs = [replace(job, after=()) for job in jobs]
    overtaken = rng.choice((1, 1, 2, 3))
    made = replace(scenario, policy=policy, overtaken=overtaken)
    return replace(made, jobs=tuple(jobs), faults=tuple(faults))
