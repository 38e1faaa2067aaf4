"""A component's files: sent to its cluster before anything is asked for it there (DCS 3.5), and
its results brought back when nothing of it runs any more.

A transfer that fails is a failed submission. Results that cannot be brought back in time stay in
the cluster, and their job has FAILED: it is not run again for that.
"""

from __future__ import annotations

from .events import Fetched, Staged
from .job import Component, Job
from .reconciliation import Reconciliation
from .states import JobState, Step


class Staging(Reconciliation):
    """The first and the last part of an attempt whose job has files."""

    def _stage_all(self, job: Job, now: float) -> None:
        job.move(JobState.RESERVING)
        self._deadline(job, now + self._settings.stage_timeout)
        for component in job.components:
            self._owe(component, Step.STAGE, now)

    def _sent(self, event: Staged, now: float) -> Job | None:
        """A component's files are in its cluster; the job, once those of all components are."""
        component, job = self._find(event.ref)
        if component is None or job is None or component.step is not Step.STAGE:
            return None
        self._done(component)
        self._note(now, job, component, "files sent", files=event.files, bytes=event.size)
        return job if all(c.step is Step.NONE for c in job.components) else None

    def fetched(self, event: Fetched, now: float) -> None:
        """A component's results are back."""
        component, job = self._find(event.ref)
        if component is None or component.step is not Step.FETCH:
            return
        self._done(component)
        self._owe(component, Step.DISCARD, now)
        if job is not None:
            told = {"files": event.files, "bytes": event.size, "folder": event.folder}
            self._note(now, job, component, "results back", **told)
            self._settle(job, now)

    def _not_fetched(
        self, component: Component, job: Job | None, why: str, now: float, *, ever: bool = False
    ) -> None:
        """Tried again, for as long as the files of a job may take; unless it will `ever` fail."""
        if job is None or component.step is Step.KEEP:
            self._later(component, now)
        elif ever or now >= component.asked_at + self._settings.stage_timeout:
            self._keep(job, component, why, now)
            self._settle(job, now)
        else:
            job.reason = f"its results are not back yet: {self._blame(component, why)}"
            self._out.changed(job)
            self._later(component, now)
