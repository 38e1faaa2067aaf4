"""Makes the world of a seed. Each kind of fault that came later has a stream of random numbers of
its own, so that a seed's other faults stay what they were."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from metabroker.policy import BACKFILLING

from . import broker_faults, local_users
from .arrays import with_arrays
from .dependencies import with_dependencies
from .kinds import special
from .letters import with_letters
from .older_stores import rolled_back
from .reads import with_reads
from .scenario import (
    CRASHES,
    DENIALS,
    DENIES,
    FULL,
    LATE,
    LIE,
    MOMENTS,
    POLICIES,
    POWER,
    RENAME,
    SPAN,
    STORE,
    SYSTEMS,
    TROUBLE,
    WHOLE,
    WINDOWS,
    ClusterPlan,
    Fault,
    JobPlan,
    Scenario,
)  # fmt: skip
from .splitting import of_policy


def generate(seed: int, mutation: str = "", brokers: int = 1, kind: str = "") -> Scenario:
    """The world of a seed, with so many brokers; `kind`: one of `kinds.KINDS`, or any."""
    return special(seed, _ordinary(seed, mutation, brokers), kind)


def _ordinary(seed: int, mutation: str, brokers: int) -> Scenario:
    rng = random.Random(seed)
    clusters = _clusters(seed, rng)
    jobs = tuple(_job(rng, clusters) for _ in range(rng.randint(2, 9)))
    files = random.Random(f"{seed} files")
    jobs = tuple(_with_files(files, job) for job in jobs)
    lone = random.Random(f"{seed} lone")
    jobs = tuple(replace(job, lone=lone.choice((-1, 0, 1))) for job in jobs)
    if all(cluster.unit == 1 for cluster in clusters):
        jobs = _with_shapes(random.Random(f"{seed} shapes"), clusters, jobs)
    calm = rng.random() < 0.05
    holes = [] if calm else _black_holes(random.Random(f"{seed} denies"), clusters)
    if holes:
        users = random.Random(f"{seed} users")
        jobs = tuple(replace(job, user=users.choice("uvw")) for job in jobs)
    poll, look = rng.choice(((10.0, 2.0), (10.0, 2.0), (3.0, 10.0), (5.0, 5.0)))
    policy, overhead, jobs = of_policy(seed, rng.choice(POLICIES), jobs)
    faults: Sequence[Fault] = ()
    ahead = 0.0
    if not calm:
        faults = [*_faults(rng, clusters, jobs), *holes]
        faults = [*faults, *_renames(random.Random(f"{seed} renames"), clusters, jobs)]
        faults = _with_files_faults(files, faults, jobs)
        faults = _with_power(random.Random(f"{seed} power"), faults, jobs)
        faults = _with_trouble(random.Random(f"{seed} trouble"), faults, jobs)
        faults = _with_troubled_steps(random.Random(f"{seed} troubled steps"), faults, jobs)
        faults = _with_crowds(random.Random(f"{seed} crowds"), faults, clusters, jobs)
        faults = _with_late_commands(random.Random(f"{seed} late"), faults, clusters, jobs)
        faults = [*faults, *local_users.drains(random.Random(f"{seed} drains"), clusters, jobs)]
        shut = random.Random(f"{seed} maintenance")
        faults = [*faults, *local_users.maintenance(shut, clusters, jobs)]
        faults = _with_lies(random.Random(f"{seed} lies"), faults, clusters, jobs)
        busy = random.Random(f"{seed} locals")
        clusters, faults = local_users.keep_full(busy, clusters, jobs, faults)
        faults = [*faults, *local_users.leave(random.Random(f"{seed} leave"), clusters, jobs)]
        planned = random.Random(f"{seed} plans")
        clusters, jobs, faults, ahead = local_users.plans(planned, clusters, jobs, faults)
        if brokers > 1:
            faults = broker_faults.with_broker_faults(random.Random(f"{seed} brokers"), faults)
            faults = broker_faults.with_meetings(random.Random(f"{seed} meetings"), faults)
            faults = broker_faults.with_clock_steps(random.Random(f"{seed} clocks"), faults)
        else:
            rolled = random.Random(f"{seed} rollback")
            clusters, jobs, faults = rolled_back(rolled, clusters, jobs, faults)
    jobs = with_arrays(random.Random(f"{seed} arrays"), jobs, faults)
    jobs = with_dependencies(random.Random(f"{seed} dependencies"), jobs, faults)
    jobs = with_letters(random.Random(f"{seed} letters"), with_reads(seed, clusters, jobs))
    return Scenario(
        seed,
        policy,
        clusters,
        jobs,
        tuple(sorted(faults, key=lambda fault: fault.at)),
        poll=poll,
        look=look,
        overtaken=_overtaken(rng, policy),
        completion_retries=rng.choice((0, 0, 1, 2)),
        # In some worlds what is too much for one turn begins with the second job.
        slice=random.Random(f"{seed} slices").choice((WHOLE, WHOLE, WHOLE, 1, 2)),
        mutation=mutation,
        brokers=brokers,
        ahead=ahead,
        kept=_kept(random.Random(f"{seed} retention")),
        overhead=overhead,
    )


def _overtaken(rng: random.Random, policy: str) -> int | None:
    bound = rng.choice((None, 1, 2, 20))
    return None if policy in BACKFILLING else bound


def _kept(rng: random.Random) -> float | None:
    """In one world of ten ended jobs are kept for minutes: longer than users wait for an answer."""
    return round(rng.uniform(40, 200), 3) if rng.random() < 0.1 else None


def _clusters(seed: int, rng: random.Random) -> tuple[ClusterPlan, ...]:
    clusters = tuple(
        ClusterPlan(
            name,
            rng.choice((8, 16, 24, 32)),
            reserves=rng.random() < 0.7,
            offset=rng.choice((0.0, 0.0, 0.0, rng.uniform(-30, 30))),
            drift=rng.choice((0.0, 0.0, 0.0, rng.uniform(-0.02, 0.02))),
        )
        for name in ("c0", "c1", "c2", "c3")[: rng.choice((1, 2, 3, 3, 3, 4))]
    )
    nodes = random.Random(f"{seed} nodes")
    if nodes.random() < 0.2:
        clusters = tuple(replace(c, unit=nodes.choice((1, 2, 4, 8))) for c in clusters)
    systems = random.Random(f"{seed} systems")
    if systems.random() < 0.4:
        clusters = tuple(replace(c, system=systems.choice(SYSTEMS)) for c in clusters)
    return clusters


def _job(rng: random.Random, clusters: Sequence[ClusterPlan]) -> JobPlan:
    largest = max(c.processors for c in clusters)
    form = rng.choice(("single", "chosen", "components", "components", "on", "on", "total"))
    names: tuple[str, ...] = ()
    if form == "single":
        sizes: tuple[int, ...] = (rng.randint(1, largest),)
    elif form == "chosen":
        where = rng.choice(clusters)
        sizes, names = (rng.randint(1, where.processors),), (where.name,)
    elif form == "total":
        sizes = (rng.randint(1, sum(c.processors for c in clusters)),)
    else:
        chosen = rng.sample(list(clusters), rng.randint(1, len(clusters)))
        smallest = min(c.processors for c in chosen)
        if form == "on":
            sizes = tuple(rng.randint(1, c.processors) for c in chosen)
            names = tuple(c.name for c in chosen)
        else:
            sizes = tuple(rng.randint(1, smallest) for _ in chosen)
    return JobPlan(
        at=round(rng.uniform(0, SPAN), 3),
        form=form,
        sizes=sizes,
        clusters=names,
        run_time=round(rng.choice((1.0, rng.uniform(0, 20), rng.uniform(0, 120))), 3),
        exits=tuple(rng.choice((0, 0, 0, 1, 7)) for _ in range(rng.randint(1, 3))),
        limit=rng.choice((60, 600, 600)),
        hold=rng.random() < 0.08,
        traps=rng.random() < 0.3,
        actions=tuple(_actions(rng)),
    )


def _with_shapes(
    rng: random.Random, clusters: Sequence[ClusterPlan], jobs: tuple[JobPlan, ...]
) -> tuple[JobPlan, ...]:
    """In one world of ten some jobs have tasks of several processors, as many as fit on the four
    nodes of each cluster: a job may be taken in before the nodes are known."""
    if rng.random() >= 0.1:
        return jobs
    node, found = min(cluster.processors for cluster in clusters) // 4, []
    for job in jobs:
        cpus = rng.choice([n for n in (1, 2, 3, 4) if n <= node])
        most = 4 * (node // cpus) if cpus > 1 else max(job.sizes)
        sizes = tuple(min(most, max(1, size // cpus)) for size in job.sizes)
        found.append(replace(job, cpus=cpus, sizes=sizes))
    return tuple(found)


def _with_files(rng: random.Random, job: JobPlan) -> JobPlan:
    return replace(job, sends=rng.random() < 0.2, fetches=rng.random() < 0.2)


def _with_files_faults(
    rng: random.Random, faults: Sequence[Fault], jobs: Sequence[JobPlan]
) -> Sequence[Fault]:
    """What else goes wrong where there are files: no space at home, a crash around a transfer."""
    having = [job for job in jobs if job.sends or job.fetches]
    if not having:
        return faults
    found = list(faults)
    if rng.random() < 0.3:
        at = round(rng.choice(having).at + rng.uniform(0, 30), 3)
        lasts = round(rng.uniform(0, 90), 3)
        found.append(Fault(at, "crash", "", lasts, rng.choice(("Stage", "Fetch", "Clean"))))
    if rng.random() < 0.2:
        lasts = round(rng.choice((rng.uniform(1, 60), rng.uniform(1, 400))), 3)
        found.append(Fault(round(rng.uniform(0, SPAN), 3), "home", "", lasts))
    return found


def _with_trouble(
    rng: random.Random, faults: Sequence[Fault], jobs: Sequence[JobPlan]
) -> Sequence[Fault]:
    """A store that cannot be written while a job comes or runs; and often a crash before it can."""
    found = list(faults)
    if rng.random() < 0.3:
        at = round(rng.choice(jobs).at + rng.choice((-1.0, rng.uniform(0, 30))), 3)
        lasts = round(rng.uniform(3, 30), 3)
        found.append(Fault(max(0.0, at), TROUBLE, "", lasts, "", rng.choice(("", FULL))))
        if rng.random() < 0.6:
            crash = round(at + rng.uniform(1.5, lasts), 3)
            found.append(Fault(max(0.0, crash), "crash", "", round(rng.uniform(0, 60), 3), "now"))
    return found


def _with_troubled_steps(
    rng: random.Random, faults: Sequence[Fault], jobs: Sequence[JobPlan]
) -> Sequence[Fault]:
    """A store that cannot be written from the moment on at which a component's step is done: what
    is answered for the others of its job comes while it is so."""
    found = list(faults)
    while rng.random() < 0.35:
        at = round(rng.choice(jobs).at + rng.choice((0.0, rng.uniform(0, 60))), 3)
        lasts = round(rng.uniform(1, 20), 3)
        how, then = rng.choice(CRASHES[3:]), rng.choice(("", FULL))
        found.append(Fault(max(0.0, at), TROUBLE, "", lasts, how, then))
    return found


def _with_crowds(
    rng: random.Random,
    faults: Sequence[Fault],
    clusters: Sequence[ClusterPlan],
    jobs: Sequence[JobPlan],
) -> Sequence[Fault]:
    """The broker is killed while a job is on its way; and a cluster that the job may want is full,
    or cannot be reached any more, for longer than an attempt waits for it."""
    if rng.random() >= 0.3:
        return faults
    job = rng.choice(jobs)
    where = rng.choice(job.clusters or [c.name for c in clusters])
    at, lasts = round(job.at + rng.uniform(-1, 2), 3), round(rng.uniform(0, 20), 3)
    how, then = rng.choice(("Reserve", "Submit", "Arm", "now")), rng.choice(("down", "frozen", ""))
    found = [Fault(max(0.0, at), "crash", where if then else "", lasts, how, then)]
    if not then:
        found.append(Fault(max(0.0, at), "full", where, round(rng.uniform(90, 200), 3)))
    return (*faults, *found)


def _with_power(
    rng: random.Random, faults: Sequence[Fault], jobs: Sequence[JobPlan]
) -> Sequence[Fault]:
    """The power of the homes' host fails, most often just when results have been fetched."""
    fetching = [job for job in jobs if job.fetches]
    if not fetching or rng.random() < 0.5:
        return faults
    job = rng.choice(fetching)
    at = round(job.at + rng.uniform(0, job.run_time + 20), 3)
    how = rng.choice(("now", "Fetch", "Fetch", "Discard", "Discard", "written"))
    return (*faults, Fault(at, POWER, "", round(rng.uniform(0, 60), 3), how))


def _with_late_commands(
    rng: random.Random,
    faults: Sequence[Fault],
    clusters: Sequence[ClusterPlan],
    jobs: Sequence[JobPlan],
) -> Sequence[Fault]:
    """What was asked for comes to be when it was given up long ago."""
    found = list(faults)
    while rng.random() < 0.25:
        at = round(rng.choice(jobs).at + rng.uniform(-5, 1), 3)
        found.append(Fault(max(0.0, at), LATE, rng.choice(clusters).name, 60.0))
    return found


def _with_lies(
    rng: random.Random,
    faults: Sequence[Fault],
    clusters: Sequence[ClusterPlan],
    jobs: Sequence[JobPlan],
) -> Sequence[Fault]:
    """What clusters say that is not so, once there is a job that has not started yet."""
    found = list(faults)
    while rng.random() < 0.3:
        at = round(rng.choice(jobs).at + rng.uniform(0, 6), 3)
        found.append(Fault(at, LIE, rng.choice(clusters).name, 60.0))
    return found


def _black_holes(rng: random.Random, clusters: Sequence[ClusterPlan]) -> list[Fault]:
    """Clusters that refuse every submission for a while."""
    found: list[Fault] = []
    while rng.random() < 0.25:
        at, lasts = round(rng.uniform(0, SPAN), 3), round(rng.uniform(20, 400), 3)
        found.append(Fault(at, DENIES, rng.choice(clusters).name, lasts, rng.choice(DENIALS)))
    return found


def _renames(
    rng: random.Random, clusters: Sequence[ClusterPlan], jobs: Sequence[JobPlan]
) -> list[Fault]:
    """Jobs that get another name, most often soon after they have come."""
    found: list[Fault] = []
    while rng.random() < 0.25:
        at = round(rng.choice(jobs).at + rng.choice((rng.uniform(0, 3), rng.uniform(0, 60))), 3)
        found.append(Fault(at, RENAME, rng.choice(clusters).name))
    return found


def _actions(rng: random.Random) -> list[tuple[float, str]]:
    actions = []
    while rng.random() < 0.25:
        delay = rng.choice((rng.uniform(0, 2), rng.uniform(0, 15), rng.uniform(0, 150)))
        actions.append((round(delay, 3), rng.choice(("cancel", "hold", "release", "release"))))
    return sorted(actions)


def _faults(
    rng: random.Random, clusters: Sequence[ClusterPlan], jobs: Sequence[JobPlan]
) -> list[Fault]:
    found = []
    close = rng.random() < 0.5  # to jobs that have just come
    for _ in range(rng.randint(1, 7)):
        at = rng.uniform(0, SPAN)
        if close:
            at = rng.choice(jobs).at + rng.choice((rng.uniform(0, 1), rng.uniform(0, 60)))
        at = round(at, 3)
        kind = rng.random()
        if kind < 0.5:
            what = rng.choice(tuple(WINDOWS))
            shortest, longest = WINDOWS[what]
            lasts = round(rng.uniform(shortest, longest), 3)
            found.append(Fault(at, what, rng.choice(clusters).name, lasts))
        elif kind < 0.57:
            found.append(Fault(at, "store", "", round(rng.uniform(*STORE[TROUBLE]), 3)))
        else:
            what = "crash" if rng.random() < 0.4 else rng.choice(MOMENTS)
            if what == "crash":
                # At times for longer than a component waits at the barrier.
                lasts = round(rng.choice((rng.uniform(0, 90), rng.uniform(0, 90), 300.0)), 3)
                then = rng.choice(("", "down", "frozen", "full", "drained", "files"))
                where = rng.choice(clusters).name if then else ""
                found.append(Fault(at, what, where, lasts, rng.choice(CRASHES), then))
            else:
                found.append(Fault(at, what, rng.choice(clusters).name))
    return found
