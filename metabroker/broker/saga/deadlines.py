"""What time tells: a step is to be tried again, or a job's deadline has come.

An attempt has one deadline at a time, for the step that it is in (files, reservations, submissions,
the barrier), and its time limit once its script runs. A deadline that passes before the commit
rolls the attempt back; after it, the components are ended. No deadline outlives the broker's
process: moments of its clock mean nothing to another one's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from metabroker.broker import tokens
from metabroker.broker.job import Component, Goal, Job
from metabroker.broker.state import BrokerState
from metabroker.broker.states import JobState, Phase, Step
from metabroker.broker.tokens import Ref

from .attempts import Attempts, is_late
from .barrier import Barrier
from .claims import Claims
from .completion import Completion
from .outcome import AttemptOutcome
from .pending import PendingSteps
from .plans import Plans, is_ahead, is_held
from .rollback import Rollback
from .unread import Unread

_EXPECTED: Mapping[JobState, str] = {
    JobState.RESERVING: "reserved",
    JobState.SUBMITTING: "submitted",
    JobState.WAITING: "at the barrier",
}

_AGAIN = 10  # times that a job finds no node awake before that counts as a failure
_MAY_RUN = "it may have started before the daemon's start: its records there could not be read yet"


@dataclass(eq=False)
class Deadlines:
    """Acts on moments that were set among the timers."""

    _state: BrokerState
    _claims: Claims
    _pending: PendingSteps
    _rollback: Rollback
    _completion: Completion
    _outcome: AttemptOutcome
    _attempts: Attempts
    _plans: Plans
    _barrier: Barrier
    _unread: Unread

    def awaits(self, time: float, what: Ref | int) -> bool:
        """Whether a timer that was set for that moment is still to be heard."""
        if isinstance(what, Ref):
            component = self._claims.known.get(what)
            return component is not None and component.retry_at == time
        job = self._state.jobs.get(what)
        return job is not None and job.deadline == time

    def resume(self, job: Job, now: float) -> None:
        """After a restart. The clock that the deadline was set by was another one's, and may have
        been wrong. So a step has its whole time again, and the time limit of what runs is for its
        clusters to keep, by their own clocks (see `Reconciliation`)."""
        if job.deadline is None:
            return
        if job.state is JobState.RUNNING:
            job.deadline = None
        else:
            self._state.set_deadline(job, now + self._whole(job, now))
            if is_ahead(job):
                self._plans.watch(job)

    def _whole(self, job: Job, now: float) -> float:
        """Seconds for the step that an attempt is in."""
        settings = self._state.settings
        if any(component.step is Step.STAGE for component in job.components):
            return settings.stage_timeout
        if job.planned is not None and job.state is not JobState.SUBMITTING:
            # Who has come up runs in its reservation: the time is there, whatever this clock says.
            come = any(component.reached(Phase.ARRIVED) for component in job.components)
            ahead = 0.0 if come else max(0.0, job.planned - now)
            if job.state is JobState.WAITING:
                return ahead + min(settings.barrier_timeout, settings.plan_patience)
            if is_held(job):
                return max(0.0, ahead - settings.plan_lead)
        whole = {"RESERVING": settings.reserve_timeout, "SUBMITTING": settings.submit_timeout}
        return whole.get(job.state.value, settings.barrier_timeout)

    def due(self, what: Ref | int, now: float) -> None:
        """The moment of a component's step (by Ref), or of a job (by number), has come."""
        if isinstance(what, Ref):
            component = self._claims.known.get(what)
            at = None if component is None else component.retry_at
            if component is not None and at is not None and at <= now:
                self._pending.repeat(component)
            return
        job = self._state.jobs.get(what)
        if job is not None and job.deadline is not None and job.deadline <= now:
            job.deadline = None
            self._overdue(job, now)

    def _overdue(self, job: Job, now: float) -> None:
        if job.state is JobState.RUNNING:
            if any(c.suspended and not c.over for c in job.components):
                self._state.set_deadline(job, now + self._state.settings.overtime_grace)
            elif job.goal is None and not _is_cleaned(job):
                self._state.outbox.note(now, job, "over its time limit")
                self._completion.finish(job, Goal.TIMEOUT, now)
        elif job.irreversible:
            self._state.outbox.note(now, job, "not submitted in time")
            for component in job.components:
                if component.step is Step.SUBMIT:
                    self._outcome.no_answer(job, component, now)
            self._completion.finish(job, Goal.FAIL, now)
        elif is_ahead(job):
            self._time_to_begin(job, now)
        elif (running := self._unread.in_attempt(job)) is not None:
            job.reason = self._state.blame(running, _MAY_RUN)
            self._state.set_deadline(job, now + self._whole(job, now))
        elif (short := self._barrier.would_not_last(job, now)) is not None:
            component, why = short
            if job.planned is None:
                self._rollback.roll_back(job, now, self._state.blame(component, why))
            else:
                self._plans.give_up(job, self._state.blame(component, why), now)
        elif job.state in _EXPECTED:
            self._not_in_time(job, now)

    def _not_in_time(self, job: Job, now: float) -> None:
        """The attempt has not come so far as it should have."""
        late = next(
            (c for c in job.components if c.step is not Step.NONE or not c.reached(Phase.ARRIVED)),
            job.components[0],
        )
        expected = "sent its files" if late.step is Step.STAGE else _EXPECTED[job.state]
        detail = f"not {expected} in time"
        if late.detail:
            detail += f" ({late.detail})"
        claims = late.step in (Step.RESERVE, Step.SUBMIT)
        if claims:
            self._outcome.no_answer(job, late, now)
        waking = None if claims or late.step is Step.STAGE else self._preparing(job)
        if waking is not None and job.in_vain < _AGAIN:
            self._come_again(job, waking, now)
            return
        why = self._state.blame(late, detail)
        self._rollback.roll_back(job, now, why, late if claims else None)

    def _preparing(self, job: Job) -> Component | None:
        """A component that has not come up, since its cluster still makes its nodes ready."""
        for component in job.components:
            snapshot = self._state.ledger.entries[component.cluster].snapshot
            token = tokens.make(self._state.settings.instance, component.ref)
            native = None if snapshot is None else snapshot.jobs.get(token)
            if native is not None and native.preparing and not component.reached(Phase.ARRIVED):
                return component
        return None

    def _come_again(self, job: Job, waking: Component, now: float) -> None:
        """Nodes that sleep may take longer than others can wait at the barrier. The job has its old
        place: when its turn comes again they are awake, or out of service, or nearer to it."""
        job.in_vain += 1
        why = self._state.blame(waking, f"its nodes were not ready in time ({waking.detail})")
        if job.planned is not None:
            self._plans.give_up(job, why, now)
        else:
            self._rollback.take_out(job, JobState.QUEUED, why, now, "deadline")

    def _time_to_begin(self, job: Job, now: float) -> None:
        """The time of a plan has come; or not all was reserved in time."""
        late = next((c for c in job.components if not c.reservation), None)
        if late is not None:
            self._plans.no_answer(late, job, "not reserved in time", now)
            return
        for component in job.components:
            if component.step is Step.RESERVE:  # it is being moved, which does not matter now
                self._pending.done(component)
            component.moving = None
        if is_late(job, now):
            self._plans.give_up(job, "its time has passed", now)
        else:
            self._attempts.come_to_plan(job, now)


def _is_cleaned(job: Job) -> bool:
    """Whether nothing of it is left to be ended: each of its components has ended, or is in its
    cluster no more, and is being cleaned up. How they ended tells what has become of the job."""
    return all(component.over or component.step is Step.CLEAN for component in job.components)
