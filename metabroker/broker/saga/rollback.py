"""The way back: an attempt that is not committed is undone, at once and whatever clusters answer.

Undoing never waits. What the attempt may have left in a cluster is a component whose cleanup is
pending, apart from its job; the job itself is free for its next attempt.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker.job import Component, Job
from metabroker.broker.state import BrokerState
from metabroker.broker.states import JobState, Phase, Step

from .claims import Claims
from .outcome import AttemptOutcome
from .pending import PendingSteps


@dataclass(eq=False)
class Rollback:
    """Undoes attempts whose script has started nowhere, and never will."""

    _state: BrokerState
    _claims: Claims
    _pending: PendingSteps
    _outcome: AttemptOutcome

    def roll_back(self, job: Job, now: float, reason: str, by: Component | None = None) -> None:
        """The attempt counts as a failed submission. `by`: the component that its cluster has
        refused."""
        self._undo(job, now)
        self._state.outbox.note(now, job, "rolled back", why=reason)
        self._outcome.submission_failed(job, reason, now, by)

    def take_out(self, job: Job, state: JobState, reason: str, now: float, cause: str = "") -> bool:
        """The job leaves its attempt, in that state; queued again it has its old place. `cause`:
        one word for that, if it is no user's. False: its script may be running, so it must be
        ended first."""
        if job.irreversible:
            return False
        self._undo(job, now)
        more = {"cause": cause} if cause else {}
        self._state.outbox.note(now, job, "rolled back", why=reason, **more)
        self._outcome.leave(job, state, reason, now, old_place=True)
        return True

    def _undo(self, job: Job, now: float) -> None:
        for component in job.components:
            untouched = component.phase is Phase.PLACED and component.step is Step.NONE
            if untouched and not job.stages_in:
                self._claims.release(component, now)
                self._claims.forget(component)
            elif component.step is not Step.CLEAN and component.phase is not Phase.GONE:
                self._pending.start(component, Step.CLEAN, now)
        job.leave_attempt()
