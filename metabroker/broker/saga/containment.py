"""Attempts that are given up without their clusters' word: by an administrator, or because
something told of a job cannot be handled.

Either way the job ends, and what clusters may still hold of it stays pending for cleanup.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker import tokens
from metabroker.broker.input_checks import Unsound
from metabroker.broker.job import Component
from metabroker.broker.outbox import Mishap
from metabroker.broker.queues import Queues
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.broker.tokens import Ref

from .claims import Claims
from .completion import Completion
from .outcome import AttemptOutcome
from .pending import PendingSteps


@dataclass(eq=False)
class Containment:
    """Fails one job, and touches no other."""

    _state: BrokerState
    _queues: Queues
    _claims: Claims
    _pending: PendingSteps
    _outcome: AttemptOutcome
    _completion: Completion

    def contain(self, number: int, error: Exception, now: float, ref: Ref | None = None) -> None:
        """Something told of this job could not be handled: it fails, and nobody else is touched.
        `ref`: of which component that was; if of a former attempt, only that is asked again.

        Whatever state it is in, so this relies on as little of it as it can. What it may have in
        clusters stays pending for cleanup; results stay where they are.
        """
        self._state.outbox.mishaps.append(Mishap(error, job=number))
        job = self._state.jobs.get(number)
        former = ref is not None and (job is None or job.attempt != ref.attempt)
        if job is not None and not former:
            self._queues.withdraw(job)
        for component in self._claims.of_job(number):
            if former and component.ref != ref:
                continue
            if component.step in (Step.CLEAN, Step.KEEP, Step.DISCARD):
                self._pending.retry_later(component, now)
            else:
                gone = component.phase is Phase.GONE
                self._pending.start(component, Step.KEEP if gone else Step.CLEAN, now)
        if job is None or former:
            return
        kind = type(error).__name__
        what = str(error) if isinstance(error, Unsound) else f"an error in it ({kind})"
        job.reason = f"an answer about it could not be used: {what}; the broker's log says more"
        job.leave_attempt()
        job.state, job.end_time, job.exit_code = JobState.FAILED, now, None
        self._state.outbox.note(now, job, "failed", why=job.reason, exit_code=None)
        self._queues.ended(job)

    def write_off(self, number: int, by: str, now: float) -> list[str]:
        """Whatever clusters hold of a job counts as held no more, though nobody knows that it has
        ended; what of it may still run, in words. It is still to be cleaned up: its gate stays
        shut, or is shut as soon as that can be done, and its native job is ended where it is seen.
        """
        told = []
        for component in self._claims.of_job(number):
            if component.step in (Step.FETCH, Step.KEEP, Step.DISCARD):
                continue
            if component.phase is Phase.GONE:
                continue
            told.append(self._whereabouts(component))
            if not component.over:
                component.cause = Cause.ABANDONED
            if component.step is not Step.CLEAN:
                self._pending.start(component, Step.CLEAN, now)
            self._claims.release(component, now)
        job = self._state.jobs.get(number)
        if job is not None:
            job.line = []
        if job is None or not job.components:
            return told
        for component in job.components:
            if component.step is Step.FETCH:
                self._completion.keep_results(job, component, f"abandoned by {by}", now)
                told.append(f"{self._whereabouts(component)} (results)")
        self._state.outbox.note(now, job, "abandoned", by=by, left=told)
        reason = f"abandoned by {by}"
        if told:
            reason += f"; what may still be there: {', '.join(told)}"
        self._outcome.leave(job, JobState.FAILED, reason, now)
        return told

    def _whereabouts(self, component: Component) -> str:
        """Where it is, for somebody who goes and looks."""
        name = self._state.settings.clusters[component.cluster].name
        token = tokens.make(self._state.settings.instance, component.ref)
        native = "" if component.native_id is None else f" (job {component.native_id})"
        return f"{token}{native} in {name}" + (f" on {component.hosts}" if component.hosts else "")
