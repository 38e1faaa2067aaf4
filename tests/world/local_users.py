"""Clusters that are not ours alone: local users keep them full, administrators drain them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from metabroker.broker.core import Broker
from metabroker.clusters.simulated.model import Model, State

from .controller import is_ours, shown
from .oracle import Violation
from .scenario import DRAIN, LEAVE, LOCALS, MAINTENANCE, ClusterPlan, Fault, JobPlan, Scenario

if TYPE_CHECKING:
    from .world import World

_LATELY = 120.0  # seconds: so old is nothing that a broker counts with


class OthersWaiting:
    """Whether jobs that are not the broker's have waited in a cluster lately."""

    def __init__(self) -> None:
        self._last = -inf

    def look(self, model: Model, now: float) -> None:
        """Who waits at this moment?"""
        for job in model.jobs.values():
            if job.state is State.PENDING and not is_ours(shown(job)):
                self._last = now
                return

    def unanswered(self, now: float) -> None:
        """A command is carried out for which nobody waits any more: a job that it has made may be
        seen to wait, and is nobody's as far as the broker can know."""
        self._last = now

    def lately(self, at: float) -> bool:
        """Whether somebody did then, or not long before."""
        return at - self._last < _LATELY


def keep_full(
    rng: random.Random,
    clusters: tuple[ClusterPlan, ...],
    jobs: Sequence[JobPlan],
    faults: Sequence[Fault],
) -> tuple[tuple[ClusterPlan, ...], Sequence[Fault]]:
    """Some clusters are wanted by users of their own, and kept full by them for a while."""
    if rng.random() >= 0.35:
        return clusters, faults
    busy = {c.name for c in clusters if rng.random() < 0.7}
    found = [
        Fault(round(rng.uniform(0, rng.choice(jobs).at), 3), LOCALS, name, rng.uniform(20, 240))
        for name in sorted(busy)
    ]
    # Of the others it is looked at, too, whether anybody waits there: nobody ever does.
    return tuple(replace(c, queue_every=2.0) for c in clusters), [*faults, *found]


def leave(
    rng: random.Random, clusters: Sequence[ClusterPlan], jobs: Sequence[JobPlan]
) -> list[Fault]:
    """The users of all clusters go within a second, while a job stands in line; the broker may die
    then, and a controller stand still."""
    busy, found = [c.name for c in clusters if c.queue_every is not None], list[Fault]()
    while busy and rng.random() < 0.5:
        at = rng.choice(jobs).at + rng.uniform(3, 60)
        found += [Fault(round(at + rng.uniform(0, 0.5), 3), LEAVE, name) for name in busy]
        if rng.random() < 0.5:
            soon, how = round(at + rng.uniform(0, 2.5), 3), rng.choice(("now", "written", "Open"))
            found.append(Fault(soon, "crash", "", round(rng.uniform(0.5, 20), 3), how))
        if rng.random() < 0.3:
            soon = round(at + rng.uniform(-0.5, 1.5), 3)
            found.append(Fault(soon, "frozen", rng.choice(busy), round(rng.uniform(1, 30), 3)))
    return found


def drains(
    rng: random.Random, clusters: Sequence[ClusterPlan], jobs: Sequence[JobPlan]
) -> list[Fault]:
    """Clusters that an administrator drains, most often as a job comes."""
    found: list[Fault] = []
    while rng.random() < 0.2:
        at = round(rng.choice(jobs).at + rng.choice((rng.uniform(-5, 5), rng.uniform(0, 60))), 3)
        lasts = round(rng.choice((rng.uniform(1, 30), rng.uniform(20, 300))), 3)
        found.append(Fault(max(0.0, at), DRAIN, rng.choice(clusters).name, lasts))
    return found


def maintenance(
    rng: random.Random, clusters: Sequence[ClusterPlan], jobs: Sequence[JobPlan]
) -> list[Fault]:
    """Reservations of others that begin later: announced before a job comes, or soon after."""
    found: list[Fault] = []
    while rng.random() < 0.2:
        at = max(0.0, round(rng.choice(jobs).at + rng.uniform(-60, 20), 3))
        ahead, lasts = round(rng.uniform(30, 500), 3), round(rng.uniform(10, 300), 3)
        where, part = rng.choice(clusters).name, rng.choice(("", "", "half"))
        found.append(Fault(at, MAINTENANCE, where, round(ahead + lasts, 3), str(ahead), part))
    return found


def plans(
    rng: random.Random,
    clusters: tuple[ClusterPlan, ...],
    jobs: tuple[JobPlan, ...],
    faults: Sequence[Fault],
    never: float = 0.3,
) -> tuple[tuple[ClusterPlan, ...], tuple[JobPlan, ...], Sequence[Fault], float]:
    """Where clusters have users of their own, co-allocated jobs are planned, but for a share of
    worlds in which they `never` are; how far ahead. Reservations get lost meanwhile, and brokers
    die at any step of it."""
    busy = [c for c in clusters if c.queue_every is not None]
    if not busy or len(clusters) < 2 or rng.random() < never:
        return clusters, jobs, faults, 0.0
    names = {c.name for c in busy}
    clusters = tuple(
        replace(c, limited=c.name in names, queue_every=2.0, reserves=True) for c in clusters
    )
    least = min(c.processors for c in clusters)
    more = tuple(
        JobPlan(
            at=round(rng.uniform(10, 120), 3),
            form="components",
            sizes=tuple(rng.randint(1, max(1, least // 2)) for _ in range(2)),
            run_time=round(rng.uniform(0, 40), 3),
            limit=rng.choice((60, 120)),
        )
        for _ in range(rng.randint(1, 3))
    )
    found = [
        replace(fault, at=0.0, lasts=rng.uniform(100, 400)) if fault.what == LOCALS else fault
        for fault in faults
    ]
    for job in more:
        while rng.random() < 0.5:
            at = round(job.at + rng.choice((rng.uniform(0, 3), rng.uniform(0, 120))), 3)
            what, where = rng.choice(("vanish", "vanish", "crash", "amnesia")), rng.choice(clusters)
            how = rng.choice(("Reserve", "Reserve", "Submit", "Clean", "written", "now"))
            if what == "crash":
                found.append(Fault(at, what, "", round(rng.uniform(0, 60), 3), how))
            else:
                found.append(Fault(at, what, where.name))
    return clusters, (*jobs, *more), found, rng.choice((3600.0, 3600.0, 90.0))


def kept_full(
    rng: random.Random, scenario: Scenario
) -> tuple[tuple[ClusterPlan, ...], list[Fault]]:
    """All clusters are kept full by users of their own, from the beginning on."""
    clusters = tuple(replace(c, queue_every=2.0) for c in scenario.clusters)
    return clusters, [Fault(0.0, LOCALS, c.name, rng.uniform(150, 240)) for c in clusters]


def wanted_by_others(world: World, broker: Broker, ahead: float) -> None:
    """Nobody is seen to wait in a cluster in which nobody but our own jobs has waited lately: they
    would stand in line there for nothing. `ahead`: of the world's clock, the broker's.

    Raises:
        Violation: somebody is.
    """
    for cluster, entry in zip(world.clusters, broker.view.entries, strict=True):
        seen = entry.snapshot
        if seen is None or not seen.waiting + seen.arriving:
            continue
        if not cluster.others_waiting.lately(seen.taken_at - ahead):
            number = seen.waiting + seen.arriving
            raise Violation(f"{number} wait in {cluster.plan.name}, and are our own")
