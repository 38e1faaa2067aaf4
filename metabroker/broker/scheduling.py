"""One pass of the policy: who may start now is placed, and begins.

A policy knows of clusters, sizes and its queues. What it does not know of is asked here of each
placement: configured limits of users and queues, what clusters have refused, and whole nodes. A job
that must not start for one of these waits outside (or steps back), and the policy is asked again,
so that others may start instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from .job import Job
from .queues import Queues
from .resource_limits import Usage, in_use
from .saga import Saga
from .state import BrokerState


class Scheduling:
    """Asks the policy, and begins what it places."""

    def __init__(self, state: BrokerState, queues: Queues, saga: Saga) -> None:
        self._state = state
        self._queues = queues
        self._saga = saga
        self._next_try: float | None = None
        self._by_nodes = any(cluster.unit > 1 for cluster in state.settings.clusters)

    def run(self, now: float) -> None:
        """Passes, until none could start more."""
        self._queues.changed = False
        self._queues.depart()
        self._let_through(now)
        capacity = self._state.ledger.capacity(now)
        while self._pass(capacity, now):
            pass
        at = self._queues.refusals.next_try(now)
        if at is not None and at != self._next_try:
            self._next_try = at
            self._queues.retry_at(at)

    def usage(self) -> Usage:
        """What is in use, as far as limits need it."""
        if not self._queues.held_back.limits.hold_back:
            return Usage()
        return in_use(self._state.jobs, self._saga.claims.live)

    def _pass(self, capacity: Sequence[int], now: float) -> bool:
        """One pass. Whether another may start more: others may start instead of those who were
        kept back; nor does a placement of two components in one cluster know of whole nodes, so it
        may want more than there is."""
        queues, usage = self._queues, self.usage()
        begun, kept_back = 0, False
        back: list[Job] = []
        available = self._state.ledger.available(now)
        for key, placement in queues.scheduler.run(available, now, capacity):
            job = self._state.jobs[key]
            if queues.held_back.beyond(job, job.queue, usage) is not None:
                queues.held_back.add(job)
                queues.scheduler.depart()
                kept_back = True
                continue
            if not self._may_be_sent(job, placement, now):
                queues.join_anew(job, now)
                queues.scheduler.depart()
                kept_back = True
                continue
            if self._by_nodes and not self._has_room(job, placement, begun, back, now):
                back.append(job)
                continue
            begun += 1
            queues.placed(job)
            try:
                self._saga.attempts.begin(job, placement, now)
            except Exception as error:
                self._saga.containment.contain(job.id, error, now)
                continue
            usage.add(job, sum(component.processors for component in job.components), 1)
        for job in back:  # to their old places
            queues.join(job, now)
        return kept_back or bool(begun and back)

    def _let_through(self, now: float) -> None:
        """Those who are within their limits now, or are not kept back by a refusal any more, join
        the policy's queues, at their old places."""
        queues, refusals = self._queues, self._queues.refusals
        if queues.held_back.jobs:
            for job in queues.held_back.let_through(self.usage()):
                queues.join(job, now)
        if not refusals.due(now):
            return
        for number, barred in list(refusals.detours.items()):
            job = self._state.jobs[number]
            if refusals.elsewhere(job, now) != barred and queues.scheduler.remove(number):
                queues.join_anew(job, now)
        for job in refusals.let_through(now, queues.can_go):
            queues.join_anew(job, now)
        queues.scheduler.depart()

    def _may_be_sent(self, job: Job, placement: Sequence[int], now: float) -> bool:
        """Whether no refusal speaks against it; if so, suspended clusters count it."""
        refusals = self._queues.refusals
        if not refusals.suspensions:
            return True
        if not refusals.elsewhere(job, now).isdisjoint(placement):
            return False
        refusals.spend(job, set(placement), now)
        return True

    def _has_room(
        self, job: Job, placement: Sequence[int], begun: int, back: Sequence[Job], now: float
    ) -> bool:
        """Whether there are nodes for it: not where several of its components go to one cluster,
        and fit there only if nodes could be parted. What the policy has decided after that is
        decided again, by what is then idle; unless it was the first of all."""
        if back and begun:
            return False
        behind = any(other.queue == job.queue for other in back)
        return not behind and self._state.ledger.fits(placement, job.request.sizes, now)
