"""Who is planned ahead, decided after each pass of the policy (see `saga.plans`).

A co-allocated job that waits, and would go to a cluster that others want too, gets the earliest
time at which all its clusters can have it: see `policy.availability`, which puts it behind all who
wait in the clusters' own queues. The first `Settings.plan_jobs` of each queue are planned, as far
ahead as `plan_ahead`, and never more than `plan_share` of a cluster at a time.

Where nobody else wants any of its clusters the policy alone decides, as without this module.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from math import inf

from metabroker.policy.availability import (
    Booked,
    Held,
    Outlook,
    before,
    book,
    earliest_common_start,
    give_back,
    profile_of_cluster,
)
from metabroker.policy.close_to_files import close_to_files
from metabroker.policy.profile import Profile
from metabroker.policy.request import Placement, Request

from . import tokens
from .job import Component, Job
from .observation import SOON, Snapshot
from .queues import Queues
from .resource_limits import Usage
from .saga import Saga, is_held
from .state import BrokerState
from .states import Step
from .upcoming import Upcoming

_LOOKED_AT = 16  # jobs of a queue of which some may have no time now
_WORTH_IT, _PART = 15.0, 0.1  # a plan is moved for so many seconds, and such a part of its wait
_SECOND = 1.0  # clusters tell no part of one
_A_MOMENT = 5.0  # seconds: a plan that begins so soon is being moved, or submitted
_AT_ONCE = 4  # plans of a cluster that are moved: if one is refused, so are those after it
_MARGIN = 5.0  # seconds: clocks differ, and jobs take a moment to end


class Planning:
    """Gives jobs a time, and starts them earlier if all is idle earlier."""

    def __init__(self, state: BrokerState, queues: Queues, saga: Saga) -> None:
        self._state = state
        self._queues = queues
        self._saga = saga
        self._next = 0.0  # when those who wait are looked at again
        self._known: dict[int, tuple[object, Profile]] = {}  # profiles, with what they are of

    def after_pass(self, usage: Usage, now: float) -> None:
        """Who has not started may get a time. `usage`: what is in use, for limits."""
        if not self._state.settings.plan_ahead:
            return
        standing = self._saga.plans.standing()
        moving = Counter[int]()  # plans, by cluster
        for job in standing:
            if any(c.step is not Step.NONE for c in job.components):
                moving.update({c.cluster for c in job.components})
        for job in standing:
            clusters = {c.cluster for c in job.components}
            may_move = all(moving[cluster] < _AT_ONCE for cluster in clusters)
            if self._start_earlier(job, now, may_move=may_move):
                moving.update(clusters)
        contested = self._state.ledger.contested(now, line=False)
        waiting = self._waiting() if contested else []
        counts = Counter(job.queue for job in standing)
        for job in waiting:
            if counts[job.queue] < self._state.settings.plan_jobs:
                counts[job.queue] += self._plan(job, set(contested), usage, now)
        if waiting or standing:
            self._look_again(now)

    def _look_again(self, now: float) -> None:
        """Those who wait, and those who have a time, are looked at again in a while."""
        settings = self._state.settings
        early = bool(self._saga.plans.standing())
        latest = now + (settings.plan_early if early else settings.plan_again)
        if not now < self._next <= latest:
            self._next = latest
            self._queues.retry_at(latest)

    def _waiting(self) -> list[Job]:
        """The first of each queue, and those that are in none since nothing takes them now."""
        most, jobs = max(self._state.settings.plan_jobs, _LOOKED_AT), self._state.jobs
        found = [jobs[entry.key] for entry in self._queues.scheduler_view.next_coallocated(most)]
        set_aside = [job for job in self._queues.refusals.jobs.values() if not job.single]
        found += sorted(set_aside, key=lambda job: job.seq)[:most]
        # A reservation for such tasks, files that are sent before it begins, and clusters that must
        # be near to each other are not planned.
        plain = [job for job in found if not job.shape and not job.stages_in]
        plain = [job for job in plain if not self._state.owes(job)]
        return [job for job in plain if job.max_latency is None]

    # --- a time -------------------------------------------------------------------------------

    def _plan(self, job: Job, contested: set[int], usage: Usage, now: float) -> bool:
        """Begin the job's plan, if it gets a time."""
        plans, settings = self._saga.plans, self._state.settings
        least, held_back = plans.not_before(job, now), self._queues.held_back
        if least is None or held_back.beyond(job, job.queue, usage) is not None:
            return False
        least = max(least, now + settings.plan_lead)
        request = self._request(job, now)
        if request is None:
            return False
        start, placement = self._earliest(job, request, least, now)
        useful = start - now <= settings.plan_ahead and not contested.isdisjoint(placement)
        plans.later(job, now, settings.plan_again)
        if not useful:
            return False
        beyond = held_back.beyond(job, job.queue, usage, placement)
        if beyond is not None:
            held_back.keep_away(job, placement, beyond, usage, self._queues.can_go)
            return False
        if not self._leaves_queue(job, placement, now):
            return False
        if self._queues.refusals.suspensions:
            self._queues.refusals.spend(job, set(placement), now)
        usage.add(job, held_back.weight(job, placement), 1)
        try:
            self._saga.attempts.begin(job, placement, now, planned=start)
            plans.watch(job)
        except Exception as error:
            self._saga.containment.contain(job.id, error, now)
        return True

    def _leaves_queue(self, job: Job, placement: Placement, now: float) -> bool:
        """It goes to these clusters, and overtakes whom it overtakes; unless somebody waits who may
        not be overtaken again."""
        queues, aside = self._queues, job.id not in self._queues.scheduler
        if aside:  # nothing takes it now, but it has its place
            queues.refusals.remove(job.id)
            request = queues.request_of(job)
            queues.scheduler.arrive(job.id, request, job.queue, job.queued_at, seq=job.seq)
        if self._may_overtake(job, placement, now):
            queues.started(job, placement)
            return True
        if aside:
            queues.scheduler.remove(job.id)
            queues.refusals.add(job)
        return False

    def _may_overtake(self, job: Job, placement: Placement, now: float) -> bool:
        """Whether nobody waits who may not be overtaken again in these clusters."""
        view = self._queues.scheduler_view
        return all(view.may_start(job.seq, cluster, now) for cluster in placement)

    def _request(self, job: Job, now: float) -> Request | None:
        """What it asks for, of the clusters that it may go to; None: it may go nowhere."""
        barred = self._queues.refusals.elsewhere(job, now, later=True)
        barred |= self._queues.held_back.barred(job)
        if job.request.clusters is not None and not barred.isdisjoint(job.request.clusters):
            return None
        return self._queues.request_of(job, barred)

    def _earliest(
        self, job: Job, request: Request, least: float, now: float
    ) -> tuple[float, Placement]:
        """When and where, without what it has already; (inf, ()): never, as far as is known."""
        settings = self._state.settings
        units = [cluster.unit for cluster in settings.clusters]

        def place(request: Request, free: Sequence[int]) -> Placement | None:
            whole = [n // unit * unit for n, unit in zip(free, units, strict=True)]
            return close_to_files(request, whole)  # Worst Fit, if it is not to go by files

        seconds = job.time_limit + settings.plan_slack
        needs = request.needs or [(0, size) for size in request.sizes]
        most = max(processors for _, processors in needs)
        pools = [self._pool(c, job, most, now) for c in range(len(settings.clusters))]
        start, placement = earliest_common_start(pools, request, seconds, least, place=place)
        return (start, ()) if start == inf else (float(math.ceil(start + _MARGIN)), placement)

    def _pool(self, cluster: int, of: Job, needed: int, now: float) -> Profile:
        """What will be free there for a job, without what it has; no processors, where a plan
        cannot be held, or the time to come, or the cluster's clock, is not known. `needed`: so many
        a job alone may always have of the share of plans."""
        settings, ledger = self._state.settings, self._state.ledger
        told, last = ledger.entries[cluster].outlook, ledger.entries[cluster].snapshot
        fresh = told is not None and now - told.taken_at <= settings.stale_after
        able = settings.clusters[cluster].reserves and ledger.takes_jobs(cluster, now)
        if told is None or last is None or not fresh or not able or last.clock_awaited:
            return Profile([0])
        planned = self._planned(cluster, told)
        ahead = before(told.wanted, of.queued_at + ledger.entries[cluster].clock_offset + _SECOND)
        key = (told.taken_at, last.taken_at, planned, ahead)
        found = self._known.get(cluster)
        if found is None or found[0] != key:  # it is much work, and asked for often
            outlook = self._outlook(cluster, told, [booked for _, booked in planned], ahead)
            found = self._known[cluster] = key, profile_of_cluster(outlook, now)
        profile = found[1]
        own = [booked for number, booked in planned if number == of.id]
        if own:
            profile = give_back(profile, own, now)
        most = ledger.capacity(now)[cluster]
        held = settings.clusters[cluster].held(needed)
        share = Profile([max(int(most * settings.plan_share), held)])
        book(share, (booked for number, booked in planned if number != of.id), now)
        return profile.least(share)

    def _planned(self, cluster: int, told: Snapshot) -> list[tuple[int, Booked]]:
        """What is planned there, by job, and has not begun."""
        found = []
        for component in self._saga.claims.live[cluster].values():
            start, job = component.planned, self._state.jobs.get(component.ref.job)
            if start is not None and component.ahead and start - SOON > told.taken_at:
                limit = 0 if job is None else job.time_limit
                end = start + limit + self._state.settings.plan_slack
                found.append((component.ref.job, Booked(component.processors, start, end)))
        return found

    def _outlook(self, cluster: int, told: Snapshot, planned: list[Booked], ahead: int) -> Outlook:
        """What is known of the time to come there, by the broker's clock. `ahead`: so many of those
        who wait there come first."""
        entry = self._state.ledger.entries[cluster]
        offset = entry.clock_offset
        held = [Held(each.processors, each.until - offset) for each in told.held or ()]
        more = told.busy - sum(each.processors for each in held)
        if more > 0:  # of other partitions, say: nobody knows until when
            held.append(Held(more, inf))
        booked = [
            Booked(each.processors, each.start - offset, each.end - offset)
            for each in told.reserved
        ]
        booked += self._orphans(entry.upcoming, told.taken_at + SOON)
        capacity = self._state.ledger.capacity(told.taken_at)[cluster]
        return Outlook(capacity, held, [*booked, *planned], told.wanted[:ahead])

    def _orphans(self, upcoming: Upcoming, after: float) -> list[Booked]:
        """Reservations of ours, for later than that moment, that no component has any more."""
        instance, known = self._state.settings.instance, self._saga.claims.known
        return [
            Booked(each.processors, each.start, each.end)
            for each in upcoming.items
            if (ref := tokens.parse(instance, each.name)) is not None
            if ref not in known and each.start > after  # else it is held already
        ]

    # --- earlier ------------------------------------------------------------------------------

    def _start_earlier(self, job: Job, now: float, *, may_move: bool) -> bool:
        """If all that it was promised is idle now, it need not wait; nor, if it `may_move`, where
        that will be free much earlier. Whether its reservations are being moved."""
        plans, settings = self._saga.plans, self._state.settings
        parts, planned = job.components, job.planned
        if planned is None or planned - settings.plan_soon <= now or not is_held(job):
            return False
        if any(c.step is not Step.NONE for c in parts) or not plans.may_try(job, now):
            return False
        if self._is_idle(job, now) and not self._meets_maintenance(job, now):
            plans.tried(job, now)
            self._saga.attempts.move(job, float(math.ceil(now + self._soon(job))), now)
            return True
        if not may_move or self._is_disproved(job):
            return False
        if plans.not_before(job, now, held=True) is None:
            return False
        plans.later(job, now, min(plans.pause(job, now), settings.plan_again))
        where = Request(job.request.sizes, tuple(c.cluster for c in parts))
        start, _ = self._earliest(job, where, now + settings.plan_lead, now)
        if start >= planned - max(_WORTH_IT, (planned - now) * _PART):
            return False
        plans.tried(job, now)
        self._saga.attempts.move(job, start, now)
        return True

    def _meets_maintenance(self, job: Job, now: float) -> bool:
        """Whether one of its reservations cannot begin now because of maintenance: when it is
        moved, it ends as late as before."""
        entries, settings = self._state.ledger.entries, self._state.settings
        end = (job.planned or now) + job.time_limit + settings.plan_slack
        return any(
            entries[c.cluster].maintenance(now, end, c.processors) is not None
            for c in job.components
        )

    def _is_disproved(self, job: Job) -> bool:
        """Whether one of its clusters has refused what it was thought to have free, and has not
        told of the time to come since."""
        entries = [self._state.ledger.entries[component.cluster] for component in job.components]
        return any(e.outlook is None or e.outlook.taken_at <= e.disproved for e in entries)

    def _soon(self, job: Job) -> float:
        """How many seconds from now on its clusters can have moved its reservations one after
        another, the slowest last, and could have moved the others back if that one refuses: a
        reservation that has begun meanwhile can not be."""
        entries = self._state.ledger.entries
        takes = sorted(entries[component.cluster].moves_take for component in job.components)
        return max(self._state.settings.plan_soon, sum(takes) + sum(takes[:-1]))

    def _is_idle(self, job: Job, now: float) -> bool:
        """Whether as many processors as it needs are idle in its clusters, as far as is seen: what
        a reservation keeps that begins soon, or any that no other plan of ours is about to have."""
        needed, ledger = Counter[int](), self._state.ledger
        for component in job.components:
            if not ledger.takes_jobs(component.cluster, now):
                return False
            if self._kept(component) < component.processors:
                needed[component.cluster] += component.processors
        if any(ledger.unclaimed(cluster) < wanted for cluster, wanted in needed.items()):
            return False
        soon = self._about_to_have(job, now)
        return all(ledger.unclaimed(c) - soon[c] >= wanted for c, wanted in needed.items())

    def _kept(self, component: Component) -> int:
        token = tokens.make(self._state.settings.instance, component.ref)
        return self._state.ledger.entries[component.cluster].kept(token)

    def _about_to_have(self, job: Job, now: float) -> Counter[int]:
        """Processors of each cluster that other plans are being moved to, or were since its last
        poll, to begin in a moment."""
        found = Counter[int]()
        for other in self._saga.plans.standing():
            latest = now + _A_MOMENT + self._soon(other)
            for component in other.components if other is not job else ():
                start = component.planned if component.moving is None else component.moving
                if start is not None and start <= latest and not self._is_shown(component):
                    missing = component.processors - self._kept(component)
                    found[component.cluster] += max(0, missing)
        return found

    def _is_shown(self, component: Component) -> bool:
        """Whether the last poll of its cluster shows what became of its reservation."""
        last = self._state.ledger.entries[component.cluster].snapshot
        done = component.step is Step.NONE and component.moving is None
        since = component.asked_at + self._state.settings.visible_after
        return done and last is not None and last.taken_at >= since
