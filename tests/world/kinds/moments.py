"""What must meet in one moment to show at all."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.world.local_users import kept_full, plans
from tests.world.scenario import (
    BLIND,
    EMPTY,
    LATE,
    LOCALS,
    PROMOTED,
    RENAME,
    ROLLBACK,
    SPAN,
    TWICE,
    UNHEARD,
    Fault,
    Scenario,
)

from .brokers import older_store
from .making import several, single, some
from .registry import apart


@apart
def _opened_in_part(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker dies when it has opened one gate of several, and is away for longer than a
    component waits for its barrier: those that are armed wait on, perhaps for longer than their
    native jobs may take."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.1)
    for _ in range(2):
        at, runs = rng.uniform(5, 120), round(rng.uniform(100, 200), 3)
        if rng.random() < 0.3:
            jobs.append(several(rng, at, scenario, run_time=round(runs / 4, 3), limit=60))
            lasts = round(rng.uniform(150, 350), 3)
        else:
            jobs.append(several(rng, at, scenario, run_time=runs))
            lasts = round(rng.uniform(70, 200), 3)
        faults.append(Fault(round(at - 0.1, 3), "crash", "", lasts, "Open"))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@apart
def _unseen_starts(rng: random.Random, scenario: Scenario) -> Scenario:
    """The broker dies as gates are opened; when it is back, it sees with one look that components
    had come, and have started."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.1)
    for _ in range(3):
        at, runs = rng.uniform(5, 150), round(rng.uniform(80, 150), 3)
        jobs.append(several(rng, at, scenario, run_time=runs))
        lasts = round(rng.uniform(2, 20), 3)
        faults.append(
            Fault(round(at - 0.1, 3), "crash", "", lasts, rng.choice(("Open", "written")))
        )
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@apart
def _twins(rng: random.Random, scenario: Scenario) -> Scenario:
    """Submissions are carried out twice within a second, where there is room for both jobs; each is
    told of the first, or of none."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.1)
    faults += [Fault(0.0, LATE, c.name, SPAN, TWICE) for c in scenario.clusters]
    for _ in range(6):
        jobs.append(single(rng, rng.uniform(0, 200)))
        jobs.append(several(rng, rng.uniform(0, 200), scenario))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@apart
def _unheard(rng: random.Random, scenario: Scenario) -> Scenario:
    """Nobody hears that a submission was carried out; the job starts, and is renamed before anybody
    has seen it."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.1)
    for _ in range(4):
        at, where = rng.uniform(5, 150), rng.choice(scenario.clusters)
        jobs.append(single(rng, at, [where], run_time=round(rng.uniform(30, 60), 3)))
        lasts = rng.choice((3.0, SPAN))
        faults.append(Fault(round(at - 0.1, 3), LATE, where.name, lasts, UNHEARD))
        for _ in range(2):
            named = round(at + rng.choice((rng.uniform(0.05, 2), rng.uniform(0.05, 8))), 3)
            faults.append(Fault(named, RENAME, where.name))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@apart
def _before_the_commit(rng: random.Random, scenario: Scenario) -> Scenario:
    """The store goes back to when all components were armed, and nothing else shows that it did."""
    made = older_store(rng, scenario)
    at = round(rng.uniform(20, 150), 3)
    one = several(rng, at, scenario, run_time=round(rng.uniform(60, 100), 3))
    jobs = (*(job for job in made.jobs if job.at < at - 10), one)
    faults = [fault for fault in made.faults if fault.what not in (ROLLBACK, "frozen")]
    faults.append(Fault(round(at - 0.2, 3), ROLLBACK, "", 0.0, "copied", "Arm"))
    how, lasts = rng.choice(("back", PROMOTED)), round(rng.uniform(0.1, 20), 3)
    faults.append(Fault(round(at + rng.uniform(3, 25), 3), ROLLBACK, "", lasts, how))
    return replace(made, jobs=jobs, faults=tuple(faults))


@apart
def _lost_opening(rng: random.Random, scenario: Scenario) -> Scenario:
    """The store goes back to when a co-allocated job was reserved, submitted or armed, and has been
    opened since. Then the files of one of its clusters do not answer."""
    made = older_store(rng, scenario)
    at, where = rng.uniform(20, 100), rng.choice(scenario.clusters).name
    one = several(rng, at, scenario, run_time=round(rng.uniform(60, 150), 3))
    jobs = (*(job for job in made.jobs if job.at < at - 10), one)
    faults = [fault for fault in made.faults if fault.what not in (ROLLBACK, "frozen", "files")]
    back, lasts = at + rng.uniform(3, 10), rng.uniform(0.1, 5)
    away, moment = back + lasts - rng.uniform(0, 3), rng.choice(("Reserve", "Submit", "Arm", "Arm"))
    faults += [
        Fault(round(at - 0.2, 3), ROLLBACK, "", 0.0, "copied", moment),
        Fault(round(back, 3), ROLLBACK, "", round(lasts, 3), rng.choice(("back", PROMOTED))),
        Fault(round(away, 3), "files", where, round(rng.uniform(20, 200), 3)),
    ]
    return replace(made, jobs=jobs, faults=tuple(faults))


@apart
def _corresponding(rng: random.Random, scenario: Scenario) -> Scenario:
    """Each task of an array waits for the one of its number in another, which ends well or not, and
    before it comes or after."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.15)
    for _ in range(2):
        at, runs = rng.uniform(0, 60), round(rng.uniform(5, 30), 3)
        exits, sizes = rng.choice(((0,), (1,))), (rng.choice((1, 2)),)
        array = f"0-5%{rng.choice((1, 2, 6))}"
        first, later = len(jobs), at + rng.choice((rng.uniform(0.1, 5), rng.uniform(20, 90)))
        one = single(rng, at, exits=exits, sizes=sizes, run_time=runs, array=array)
        jobs.append(one)
        waits = (("aftercorr", first),)
        jobs.append(replace(one, at=round(later, 3), exits=(0,), after=waits))
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults))


@apart
def _planned(rng: random.Random, scenario: Scenario) -> Scenario:
    """Jobs are planned ahead beside others that have been overtaken as often as they may be."""
    full, wanted = kept_full(rng, scenario)
    beside = [*wanted, *some(rng, scenario, 0.1)]
    clusters, jobs, found, ahead = plans(rng, full, scenario.jobs, beside, never=0.0)
    most = max(cluster.processors for cluster in clusters)
    more = [single(rng, rng.uniform(5, 40), sizes=(most,), limit=60) for _ in range(3)]
    more += [single(rng, rng.uniform(20, 150), limit=60) for _ in range(6)]
    for _ in range(4):
        more.append(several(rng, rng.uniform(30, 160), scenario, limit=60))
    faults = [f if f.what != LOCALS else replace(f, lasts=rng.uniform(20, 120)) for f in found]
    made = replace(scenario, clusters=clusters, faults=tuple(faults), ahead=ahead)
    return replace(made, jobs=(*jobs, *more), overtaken=rng.choice((1, 1, 2)))


@apart
def _kept_results(rng: random.Random, scenario: Scenario) -> Scenario:
    """The disk at home is full when results come back, and users give up; what has ended does not
    stay for long."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.1)
    for _ in range(4):
        at, runs = rng.uniform(0, 100), round(rng.uniform(2, 10), 3)
        gives_up = round(runs + rng.uniform(5, 30), 3)
        jobs.append(single(rng, at, fetches=True, run_time=runs, actions=((gives_up, "cancel"),)))
    faults.append(Fault(0.0, "home", "", SPAN))
    kept = round(rng.uniform(40, 60), 3)
    return replace(scenario, jobs=tuple(jobs), faults=tuple(faults), kept=kept)


@apart
def _slow_listings(rng: random.Random, scenario: Scenario) -> Scenario:
    """Jobs are submitted while a listing is on its way; the next one leaves all of them out."""
    jobs, faults = list(scenario.jobs), some(rng, scenario, 0.05)
    clusters = tuple(replace(c, system="slurm") for c in scenario.clusters)
    for burst in range(4):
        at, where = 20.0 + 45 * burst, rng.choice(clusters)
        stands, first = 6.5, rng.uniform(4.5, 6)  # seconds; one look in each of about six
        faults.append(Fault(at, "frozen", where.name, stands))
        one = single(rng, at, [where], sizes=(1,), run_time=40.0)
        came = (at + first + rng.uniform(0, 0.4) for _ in range(6))
        jobs += [replace(one, at=round(moment, 3)) for moment in came]
        faults.append(Fault(at + stands + 5.9, BLIND, where.name, 1.5, EMPTY))
    made = replace(scenario, clusters=clusters, poll=6.0, look=2.0)
    return replace(made, jobs=tuple(jobs), faults=tuple(faults))
