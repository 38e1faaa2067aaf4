"""The barrier: all components of an attempt wait at it, and it opens for all of them or for none.

A component that waits gives up by itself at a deadline of its own, should the broker not come
back. So before the barrier opens every component is *armed*: it says that it will wait on. Once all
are armed none can leave, and opening is the commit of the attempt.

A cluster ends what still runs in a reservation when that ends. One that was planned is for a fixed
time, which a broker that was away, or somebody who set the cluster's clock, may have used up: then
the barrier does not open.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker import tokens
from metabroker.broker.job import Component, Job
from metabroker.broker.state import BrokerState
from metabroker.broker.states import JobState, Phase, Step

from .pending import PendingSteps

_MARGIN = 5.0  # seconds: gates take a moment to open, and clusters tell no part of a second


@dataclass(eq=False)
class Barrier:
    """Waits for all components, arms them, opens."""

    _state: BrokerState
    _pending: PendingSteps

    def wait(self, job: Job, now: float) -> None:
        """All components are in their clusters: they have so long to arrive."""
        job.move(JobState.WAITING)
        since = max(now, job.planned or now)
        patience = self._state.settings.barrier_timeout
        if job.planned is not None:
            patience = min(patience, self._state.settings.plan_patience)
        self._state.set_deadline(job, since + patience)
        self._state.outbox.note(now, job, "waiting")

    def advance(self, job: Job, now: float) -> None:
        """Arm the components when all have arrived; open when all are armed."""
        if all(c.phase is Phase.ARMED for c in job.components):
            if self.would_not_last(job, now) is None:
                self.open(job, now)
            else:
                self._state.set_deadline(job, now)
        elif all(c.phase is Phase.ARRIVED and c.step is Step.NONE for c in job.components):
            for component in job.components:
                self._pending.start(component, Step.ARM, now)

    def would_not_last(self, job: Job, now: float) -> Component | None:
        """Of a planned job that would be opened: the component whose reservation, as its cluster
        has shown it last, ends before a script that starts now may."""
        armed = all(component.phase is Phase.ARMED for component in job.components)
        for component in job.components if armed and job.planned is not None else ():
            entry = self._state.ledger.entries[component.cluster]
            token = tokens.make(self._state.settings.instance, component.ref)
            shown = {} if entry.snapshot is None else entry.snapshot.reservations
            end = shown[token].end_time if token in shown else None
            if end is not None and end - entry.clock_offset - _MARGIN < now + job.may_take:
                return component
        return None

    def open(self, job: Job, now: float) -> None:
        """The commit: from here on every component's script starts."""
        job.move(JobState.RUNNING)
        job.start_time = now
        grace = self._state.settings.overtime_grace
        self._state.set_deadline(job, now + job.may_take + grace)
        self._state.outbox.note(now, job, "opened")
        for component in job.components:
            self._pending.start(component, Step.OPEN, now)

    def found_open(self, job: Job, start: float, now: float) -> None:
        """A script has started of which the store does not tell, since it is one of some time
        before: the attempt was committed, so the barrier opens for all of it. Its time limit is
        its clusters' to keep."""
        job.move(JobState.RUNNING)
        job.start_time = start
        job.deadline = None
        job.reason = ""
        self._state.outbox.note(now, job, "found started")
        for component in job.components:
            waits = component.step in (Step.NONE, Step.ARM)
            if waits and not component.started and not component.over:
                self._pending.start(component, Step.OPEN, now)

    def open_rest(self, job: Job, now: float) -> None:
        """Of an attempt that was found open: what has come to the barrier since."""
        for component in job.components:
            if component.phase is Phase.ARRIVED and component.step is Step.NONE:
                self._pending.start(component, Step.OPEN, now)
