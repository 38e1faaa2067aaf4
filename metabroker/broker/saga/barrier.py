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
from metabroker.broker.observation import NativeJob, Snapshot
from metabroker.broker.state import BrokerState
from metabroker.broker.states import JobState, Phase, Step

from .pending import PendingSteps

TOO_LONG = "it waited at the barrier for too long to run to its end in its cluster"
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

    def would_not_last(self, job: Job, now: float) -> tuple[Component, str] | None:
        """Of a job that would be opened: the component that its cluster would end before a script
        that starts now may end, by what that has shown last; and why. Its reservation ends too
        soon; or it has come up too long before, while nobody could read its records."""
        if not all(component.phase is Phase.ARMED for component in job.components):
            return None
        for component in job.components:
            entry = self._state.ledger.entries[component.cluster]
            token = tokens.make(self._state.settings.instance, component.ref)
            if entry.snapshot is None:
                continue
            reserved = entry.snapshot.reservations.get(token)
            end = None if reserved is None or job.planned is None else reserved.end_time
            if end is not None and end - entry.clock_offset - _MARGIN < now + job.may_take:
                return component, "its reservation would end before its time limit"
            native = entry.snapshot.jobs.get(token)
            if native is not None and self.waited_too_long(component, native, entry.snapshot):
                return component, TOO_LONG
        return None

    def waited_too_long(self, component: Component, native: NativeJob, shown: Snapshot) -> bool:
        """Whether it has too little left of its native limit to be opened, by the time that it has
        run for by its cluster's own clock. No broker was there for so long."""
        return self.ran_beyond(0.0, component, native, shown)

    def ran_beyond(
        self, seconds: float, component: Component, native: NativeJob, shown: Snapshot
    ) -> bool:
        """Whether it has run for longer than these, by its cluster's own clock, and than what it
        may take to come to its start; False: not known."""
        if native.start_time is None or shown.clock_offset is None:
            return False
        settings = self._state.settings
        slack = settings.barrier_slack if component.planned is None else settings.plan_overtime
        return shown.taken_at + shown.clock_offset - native.start_time > seconds + slack

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
