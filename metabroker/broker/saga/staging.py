"""A component's files: sent to its cluster before anything is asked for it there (DCS 3.5), and
its results brought back when nothing of it runs any more.

A transfer that takes too long is a failed submission, and so is one that fails for a reason of the
user's (a quota, a folder that is not there). Where files just cannot be read or written for now
(`Cause.FILES`) their job waits. Results that cannot be brought back in time stay in the cluster,
and their job has FAILED: it is not run again for that.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker.events import Fetched
from metabroker.broker.job import Component, Job
from metabroker.broker.state import BrokerState
from metabroker.broker.states import JobState, Step

from .claims import Claims
from .completion import Completion
from .pending import PendingSteps


@dataclass(eq=False)
class Staging:
    """The first and the last part of an attempt whose job has files."""

    _state: BrokerState
    _claims: Claims
    _pending: PendingSteps
    _completion: Completion

    def send(self, job: Job, now: float) -> None:
        """Send the files of all components."""
        job.move(JobState.RESERVING)
        self._state.set_deadline(job, now + self._state.settings.stage_timeout)
        for component in job.components:
            self._pending.start(component, Step.STAGE, now)

    def fetched(self, event: Fetched, now: float) -> None:
        """A component's results are back."""
        component, job = self._claims.find(event.ref)
        if component is None or component.step is not Step.FETCH:
            return
        self._pending.done(component)
        self._pending.start(component, Step.DISCARD, now)
        if job is not None:
            told = {"files": event.files, "bytes": event.size, "folder": event.folder}
            self._state.note(now, job, component, "results back", **told)
            self._completion.settle(job, now)

    def not_fetched(
        self, component: Component, job: Job | None, why: str, now: float, *, ever: bool = False
    ) -> None:
        """Tried again, for as long as the files of a job may take; unless it will `ever` fail."""
        if job is None or component.step is Step.KEEP:
            self._pending.retry_later(component, now)
        elif ever or now >= component.asked_at + self._state.settings.stage_timeout:
            self._completion.keep_results(job, component, why, now)
            self._completion.settle(job, now)
        else:
            job.reason = f"its results are not back yet: {self._state.blame(component, why)}"
            self._state.outbox.changed(job)
            self._pending.retry_later(component, now)
