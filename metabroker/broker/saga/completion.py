"""The end of an attempt whose script may be running: it waits for what the clusters say.

Nothing can be undone any more. The job moves on only when every component is over, by its own
record or by its cluster's word, and when its results are back. One component that has failed for
certain ends the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker import tokens
from metabroker.broker.job import Component, Goal, Job
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Cause, JobState, Phase, Step

from .barrier import Barrier
from .claims import Claims
from .outcome import AttemptOutcome, has_failed
from .pending import PendingSteps


@dataclass(eq=False)
class Completion:
    """Ends attempts."""

    _state: BrokerState
    _claims: Claims
    _pending: PendingSteps
    _barrier: Barrier
    _outcome: AttemptOutcome

    def finish(self, job: Job, goal: Goal, now: float) -> None:
        """End all components; the job moves on when all of them are over."""
        job.goal = goal
        job.deadline = None
        self._state.outbox.changed(job)
        for component in job.components:
            if not component.over and component.step is not Step.CLEAN:
                self._pending.start(component, Step.CLEAN, now)
            elif component.step is Step.FETCH and goal is Goal.CANCEL:
                self.keep_results(job, component, f"cancelled by {job.by}", now)
        self.settle(job, now)

    def stuck(self, job: Job, component: Component, why: str, now: float) -> None:
        """Its job would stay pending in its cluster: it is to go elsewhere, if it has not started
        meanwhile."""
        component.cause, component.detail = Cause.STUCK, why
        self._state.note(now, job, component, "stuck", why=why)
        self.finish(job, Goal.FAIL, now)

    def let_run(self, component: Component, job: Job | None, now: float) -> None:
        """Its script may have started meanwhile: it goes on, unless somebody has ended its job. One
        that is not known to have been submitted is looked for, and submitted if it is not there;
        but never again in an attempt that stood in a backup."""
        component.cause = None
        if job is None or job.goal is not Goal.FAIL:
            self._pending.start(component, Step.CLEAN, now)
            return
        job.goal = None
        if job.uncertain is not None:
            component.advance(Phase.SUBMITTED)
        if component.reached(Phase.SUBMITTED):
            self._pending.done(component)
        else:
            self._pending.ask_again(component, Step.SUBMIT, now)
            asked = component.retry_at or now
            self._state.set_deadline(job, asked + self._state.settings.submit_timeout)
        self._pending.watch(component)
        self._state.outbox.changed(job)

    def settle(self, job: Job, now: float) -> None:
        """Something of a component is known: has the attempt ended, or must it be?"""
        parts = job.components
        if _only_looked_for(job):
            began = next((c for c in parts if c.started or c.succeeded), None)
            if began is not None:
                self._barrier.found_open(job, began.start_time or now, now)
        if job.goal is None and self._ends_others(job):
            self.finish(job, Goal.FAIL, now)
        elif parts and all(c.over for c in parts):
            if not any(_results_pending(job, c) for c in parts):
                self._outcome.decide(job, now)
            elif job.deadline is not None or not job.reason:
                job.deadline = None  # of its run, which is over
                job.reason = "its results are being brought back"
                self._state.outbox.changed(job)

    @staticmethod
    def _ends_others(job: Job) -> bool:
        """Whether a component has failed for certain, in an attempt that may be ended for that. One
        whose script ended well, and whose results stay in its cluster, is none: what the others
        have computed would be lost, too."""
        failed = (c for c in job.components if has_failed(job, c))
        return not _only_looked_for(job) and any(c.cause is not Cause.RESULTS for c in failed)

    def gone(self, component: Component, now: float) -> None:
        """Its cluster holds nothing of it; what is left is the folder of its gate, and in that
        its results."""
        if component.phase is not Phase.GONE:  # it may have been written off before
            self._claims.release(component, now)
        job = self._state.jobs.get(component.ref.job)
        wanted = job is not None and component in job.components and _has_results(job, component)
        self._pending.start(component, Step.FETCH if wanted else Step.DISCARD, now)

    def keep_results(self, job: Job, component: Component, why: str, now: float) -> None:
        """Its results are not brought back: they stay in its cluster."""
        if component.succeeded:
            component.cause, component.detail = Cause.RESULTS, why
        self._pending.start(component, Step.KEEP, now)
        folder = tokens.kept(component.ref)
        self._state.note(now, job, component, "results kept", why=why, folder=folder)
        if job.goal is None and not all(c.over for c in job.components):
            told = f"its results stay there, in {folder} of the job's folder: {why}"
            job.reason = f"{self._state.blame(component, told)}; the others go on"
            self._state.outbox.changed(job)


def _only_looked_for(job: Job) -> bool:
    """Whether its attempt stood in a backup, and nothing of it is known to have started."""
    return job.uncertain is not None and job.state is not JobState.RUNNING


def _has_results(job: Job, component: Component) -> bool:
    return job.stages_out and (component.started or component.exit_code is not None)


def _results_pending(job: Job, component: Component) -> bool:
    """Whether it has results that are not back yet."""
    fetching = component.phase is not Phase.GONE or component.step is Step.FETCH
    return fetching and _has_results(job, component)
