"""What clusters answer to a step that was not carried out, or of which nobody knows.

A *refusal* is certain: the cluster did nothing. In the vote, which reserving and submitting are, it
rolls the attempt back. *Unsure* is all else. A reservation without an answer counts as refused
(what may have been made is cleaned up), since waiting for it would hold the other clusters'
processors. A submission without an answer must be asked again: its job may exist.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker import tokens
from metabroker.broker.events import Refused, Unsure
from metabroker.broker.job import Component, Goal, Job
from metabroker.broker.observation import NativeState
from metabroker.broker.queues import Queues
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Cause, JobState, Step

from .claims import Claims
from .completion import Completion
from .outcome import AttemptOutcome
from .pending import PendingSteps
from .plans import Plans
from .rollback import Rollback
from .staging import Staging
from .unread import Unread

_ENDS = frozenset({Cause.NODE, Cause.KILLED, Cause.OVERTIME, Cause.EXIT, Cause.LOST, Cause.GAVE_UP})


@dataclass(eq=False)
class Failures:
    """Takes over refusals and missing answers."""

    _state: BrokerState
    _queues: Queues
    _claims: Claims
    _pending: PendingSteps
    _outcome: AttemptOutcome
    _rollback: Rollback
    _completion: Completion
    _staging: Staging
    _plans: Plans
    _unread: Unread

    def refused(self, event: Refused, now: float) -> None:
        """A cluster said no."""
        component, job = self._claims.find(event.ref)
        if component is None or component.step is not event.step:
            return
        if event.step in (Step.FETCH, Step.KEEP):
            ever = event.cause is Cause.INVALID
            self._staging.not_fetched(component, job, event.detail, now, ever=ever)
            return
        if _found_started(event, component, job):
            self._completion.let_run(component, job, now)
            return
        if event.step is Step.SUBMIT and component.started:
            self._pending.done(component)  # An earlier try got through.
            return
        if event.step in (Step.CLEAN, Step.DISCARD) or self._got_through(component, job):
            self._detail_of_cleaning(component, event.detail)
            self._pending.retry_later(component, now)
            return
        planned = event.step is Step.RESERVE and job is not None and job.planned is not None
        if planned and job is not None and self._plans.refused(component, job, event, now):
            return
        # That files cannot be put somewhere says nothing of its processors.
        files = event.step is Step.STAGE and event.cause in (Cause.BUSY, Cause.UNREACHABLE)
        component.cause = Cause.FILES if files else event.cause
        component.detail = event.detail
        self._state.outbox.changed(component)
        if event.step is not Step.STAGE:
            self._count_against_cluster(component, event, now)
            if event.cause is Cause.REFUSED and job is not None:
                self._queues.refusals.not_known_why(job, component, now)
        if job is None:
            return
        step, why = event.step.value, event.detail
        self._state.note(now, job, component, "refused", step=step, why=why)
        if event.step is Step.OPEN or _runs(job):
            component.cause = Cause.LOST
            self._may_have_ended(component, job)
            self._pending.start(component, Step.CLEAN, now)
        elif job.single and component.tries and event.step is not Step.STAGE:
            # A no to this try says nothing of an earlier one, whose script may be running.
            self._completion.finish(job, Goal.FAIL, now)
        else:
            self._rollback.roll_back(job, now, self._state.blame(component, why), component)

    def _got_through(self, component: Component, job: Job | None) -> bool:
        """Whether an earlier try of what would take its attempt back got through, in a time that
        the store has lost."""
        claims = component.step in (Step.STAGE, Step.RESERVE, Step.SUBMIT)
        may_go_back = job is not None and (not job.irreversible or _runs(job))
        return claims and may_go_back and self._unread.may_run(component)

    def _detail_of_cleaning(self, component: Component, detail: str) -> None:
        """Why it cannot be done now; why it ended is not that."""
        if component.detail != detail and component.cause not in _ENDS:
            component.detail = detail
            self._state.outbox.changed(component)

    def _may_have_ended(self, component: Component, job: Job) -> None:
        """Its gate is gone, and another one of its attempt has started: so it was opened in a time
        that the store does not know of, and what is over has no records any more. Its cluster's
        word counts, then."""
        snapshot = self._state.ledger.entries[component.cluster].snapshot
        token = tokens.make(self._state.settings.instance, component.ref)
        native = None if snapshot is None else snapshot.jobs.get(token)
        if native is None or native.state is not NativeState.ENDED or native.cause is not None:
            return
        if native.exit_code == 0 and any(other.started for other in job.components):
            component.started, component.cause, component.exit_code = True, None, 0
            component.detail = native.word
            component.start_time, component.end_time = native.start_time, native.end_time

    def _count_against_cluster(self, component: Component, event: Refused, now: float) -> None:
        """A cluster that is full is not asked for as many again at once, whoever asks. All else
        that it refuses is a matter of the one who asked."""
        ledger, cluster = self._state.ledger, component.cluster
        if event.cause is Cause.BUSY:
            until = ledger.refused(cluster, component.processors, event.detail, now)
            self._queues.retry_at(until)
        if event.cause is Cause.UNREACHABLE:
            ledger.mark_unverified(cluster, now)

    def unsure(self, event: Unsure, now: float) -> None:
        """No answer."""
        component, job = self._claims.find(event.ref)
        if component is None or component.step is not event.step:
            return
        if event.step in (Step.FETCH, Step.KEEP):
            self._staging.not_fetched(component, job, event.detail, now)
            return
        if event.step in (Step.CLEAN, Step.DISCARD):
            self._detail_of_cleaning(component, event.detail)
        elif component.detail != event.detail:
            component.detail = event.detail
            self._state.outbox.changed(component)
        got_through = self._got_through(component, job) or (job is not None and _runs(job))
        if event.step is Step.RESERVE and job is not None and not got_through:
            self._state.ledger.mark_unverified(component.cluster, now)
            self._state.note(now, job, component, "no answer", step="reserve", why=event.detail)
            why = self._state.blame(component, event.detail)
            if job.planned is not None:
                self._plans.no_answer(component, job, event.detail, now)
            elif component.tries:  # asked again since a new start: it costs no try, and no place
                cause = Cause.UNREACHABLE.value
                self._rollback.take_out(job, JobState.QUEUED, why, now, cause)
            else:
                self._outcome.no_answer(job, component, now)
                self._rollback.roll_back(job, now, why, component)
            return
        if event.step is Step.SUBMIT:
            self._state.ledger.mark_unverified(component.cluster, now)
        self._pending.retry_later(component, now)
        shut = event.fenced and component.step is Step.CLEAN
        if job is not None and shut and job.single and not component.started:
            # Shut before it started: the job need not wait for its cluster to answer.
            self._outcome.decide(job, now)


def _runs(job: Job) -> bool:
    """Whether it is co-allocated, and a script of it has started: there is no way back."""
    return not job.single and job.state is JobState.RUNNING


def _found_started(event: Refused, component: Component, job: Job | None) -> bool:
    """Whether it was not cleaned up, since its script may have started, and may so go on."""
    if event.step is not Step.CLEAN or event.cause is not Cause.STUCK:
        return False
    return component.cause is Cause.STUCK or (job is not None and job.lets_run(component))
