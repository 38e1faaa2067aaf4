"""Co-allocated jobs that are planned ahead in clusters with local users, in virtual time.

As the daemon does it (`broker.planning`, by the same `policy.availability`): a co-allocated job
that waits, and would go to a contested cluster, gets the earliest time at which all its clusters
can have it, behind all who wait in their own queues. Reservations keep that time. It starts then,
or earlier if all is idle before, and is told an earlier time if much ended before its limit. What
making and moving reservations costs is not simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from metabroker.policy import Placement, Request, Scheduler
from metabroker.policy.availability import (
    Booked,
    before,
    book,
    earliest_common_start,
    give_back,
    profile_of_cluster,
)
from metabroker.policy.local_reserving import LocalReserving
from metabroker.policy.profile import Profile
from metabroker.policy.view import SchedulerView

from .job import SimJob

_WORTH_IT, _PART = 15.0, 0.1  # a plan is moved for so many seconds, and such a part of its wait


@dataclass(frozen=True)
class Plan:
    """How jobs are planned: up to `jobs` of a queue at a time, for at most `ahead` seconds from
    now, never in more than `share` of a cluster (one alone may have more). Who waits is looked at
    every `again` seconds. All in seconds, so the workload must be, too."""

    jobs: int = 20
    share: float = 0.5
    ahead: float = 86400.0
    again: float = 15.0


@dataclass
class PlanFigures:
    """What plans came to. `idle`: processor-seconds that stood idle for them while the head of a
    cluster's own queue could have had them; `area`: those of the planned jobs themselves."""

    planned: int = 0
    moved: int = 0
    at_once: int = 0
    late: int = 0
    idle: float = 0.0
    area: float = 0.0


class Planned(NamedTuple):
    """A job with a time, in these clusters."""

    start: float
    clusters: Placement
    queue: int
    since: float


Begin = Callable[[int, Placement, float], None]


class Plans:
    """The jobs that have a time. `begin` starts a job that has left its queue; `restless` gets the
    clusters in which others may start now."""

    def __init__(
        self,
        plan: Plan,
        pools: Sequence[LocalReserving],
        policy: Scheduler,
        waiting: Mapping[int, SimJob],
        restless: set[int],
        begin: Begin,
    ) -> None:
        self._plan = plan
        self._pools = pools
        self._policy = policy
        self._view = SchedulerView(policy)
        self._waiting = waiting
        self._restless = restless
        self._begin = begin
        self._planned: dict[int, Planned] = {}
        self._known: dict[tuple[int, int], Profile] = {}
        """By cluster and who comes first there: what is free, until anything is booked anew."""
        self._next = -inf
        self._last = 0.0
        self.figures = PlanFigures()

    def __bool__(self) -> bool:
        return bool(self._planned)

    def next_start(self, now: float) -> float:
        """When the next of them starts; those whose time has come wait for an end."""
        return min((p.start for p in self._planned.values() if p.start > now), default=inf)

    def passed(self, now: float) -> None:
        """So much time has passed, in which nothing changed."""
        if self._planned:
            idle = sum(pool.idle_for_reservations() for pool in self._pools)
            self.figures.idle += idle * (now - self._last)
        self._last = now

    def start_due(self, now: float) -> None:
        """Who was planned for now starts. Where a job outlives its estimate it starts late."""
        due = [(p.start, key) for key, p in self._planned.items() if p.start <= now]
        for start, key in sorted(due):
            if self._has_idle(key):
                self.figures.late += start < now
                self._start(key, now)

    def after_pass(self, contested: Collection[int], now: float) -> bool:
        """Who is not started may get a time, or an earlier one. Whether any other may start."""
        before_it = len(self._restless)
        for key, planned in sorted(self._planned.items()):
            if planned.start > now and self._has_idle(key) and self._may_begin(key, now):
                self.figures.at_once += 1
                self._start(key, now)
        if now >= self._next:
            self._next = now + self._plan.again
            self._known.clear()
            for key in sorted(self._planned):
                self._move(key, now)
            if contested:
                self._plan_more(set(contested), now)
        return len(self._restless) > before_it

    # --- a time -------------------------------------------------------------------------------

    def _plan_more(self, contested: set[int], now: float) -> None:
        counts: dict[int, int] = {}
        for planned in self._planned.values():
            counts[planned.queue] = counts.get(planned.queue, 0) + 1
        for entry in self._view.next_coallocated(self._plan.jobs):
            job = self._waiting[entry.key]
            queue = entry.queue
            if counts.get(queue, 0) >= self._plan.jobs:
                continue
            start, clusters = self._earliest(entry.key, entry.request, job, job.submit, now)
            if not clusters or start - now > self._plan.ahead or contested.isdisjoint(clusters):
                continue
            if not all(self._view.may_start(entry.seq, c, now) for c in clusters):
                continue
            counts[queue] = counts.get(queue, 0) + 1
            self._policy.remove(entry.key, started=clusters)
            self._planned[entry.key] = Planned(start, clusters, queue, job.submit)
            self._book(entry.key, job, now)
            self.figures.planned += 1

    def _earliest(
        self, key: int, request: Request, job: SimJob, since: float, now: float
    ) -> tuple[float, Placement]:
        most = max(size for _, size in request.needs) if request.needs else max(request.sizes)
        pools = [self._free(c, key, most, since, now) for c in range(len(self._pools))]
        return earliest_common_start(pools, request, job.estimate, now)

    def _free(self, cluster: int, key: int, most: int, since: float, now: float) -> Profile:
        """What will be free there for this job, after who comes first there, within the share."""
        told, own = self._pools[cluster].outlook(), self._pools[cluster].booked(key)
        ahead = before(told.wanted, since)
        if (cluster, ahead) not in self._known:
            told = told._replace(wanted=told.wanted[:ahead])
            self._known[cluster, ahead] = profile_of_cluster(told, now)
        profile = give_back(self._known[cluster, ahead], own, now)
        share = Profile([max(int(told.processors * self._plan.share), most)])
        book(share, told.booked, now)
        return profile.least(give_back(share, own, now))

    def _move(self, key: int, now: float) -> None:
        """To an earlier time in the same clusters, if that is worth it."""
        planned, job = self._planned[key], self._waiting[key]
        if planned.start <= now:
            return
        where = Request(job.request.sizes, planned.clusters)
        start, clusters = self._earliest(key, where, job, planned.since, now)
        if not clusters or start >= planned.start - max(_WORTH_IT, (planned.start - now) * _PART):
            return
        self._release(key, now)
        self._planned[key] = planned._replace(start=start)
        self._book(key, job, now)
        self.figures.moved += 1

    # --- reservations -------------------------------------------------------------------------

    def _needs(self, key: int) -> dict[int, int]:
        """Processors by cluster."""
        found: dict[int, int] = {}
        sizes = self._waiting[key].request.sizes
        for cluster, size in zip(self._planned[key].clusters, sizes, strict=True):
            found[cluster] = found.get(cluster, 0) + size
        return found

    def _book(self, key: int, job: SimJob, now: float) -> None:
        self._known.clear()
        start = self._planned[key].start
        for cluster, size in self._needs(key).items():
            self._pools[cluster].book(key, Booked(size, start, start + job.estimate), now)
            self._restless.add(cluster)

    def _release(self, key: int, now: float) -> None:
        for cluster in self._needs(key):
            self._pools[cluster].release(key, now)
            self._restless.add(cluster)

    def _has_idle(self, key: int) -> bool:
        return all(self._pools[c].has_idle(size) for c, size in self._needs(key).items())

    def _may_begin(self, key: int, now: float) -> bool:
        estimate = self._waiting[key].estimate
        return all(self._pools[c].may_begin(key, estimate, now) for c in self._needs(key))

    def _start(self, key: int, now: float) -> None:
        job = self._waiting[key]
        for cluster in self._needs(key):
            self._pools[cluster].begin(key, job.estimate, now)
            self._restless.add(cluster)
        self.figures.area += job.request.total * job.run_time
        self._begin(key, self._planned.pop(key).clusters, now)
