"""The saga backward: how an attempt is undone, or ends, and what that makes of its job.

Until an attempt is committed it is undone at once (`_roll_back`, `abandon`): what it may have left
in a cluster becomes a debt, a component that is owed a `Clean`. After that the script may be
running, so the job moves on only when all of its components are over (`finish`, `_settle`).
"""

from __future__ import annotations

from . import tokens
from .attempts import Attempts
from .job import Component, Goal, Job
from .outbox import Mishap
from .sound import Unsound
from .states import Cause, JobState, Phase, Step
from .tokens import Ref


class Endings(Attempts):
    """Everything that takes a job out of its attempt."""

    def abandon(self, job: Job, state: JobState, reason: str, now: float) -> bool:
        """A user wants the job out of its attempt. False: it may be running, so `finish` it."""
        if job.irreversible:
            return False
        self._undo(job, now)
        self._out.note(now, job, "rolled back", why=reason)
        self._leave(job, state, reason, now)
        return True

    def _roll_back(self, job: Job, now: float, reason: str, by: Component | None = None) -> None:
        """Undo an attempt whose script has started nowhere, and never will. `by`: the component
        that its cluster has refused."""
        self._undo(job, now)
        self._out.note(now, job, "rolled back", why=reason)
        self._submission_failed(job, reason, now, by)

    def write_off(self, number: int, by: str, now: float) -> list[str]:
        """Whatever clusters hold of a job counts as held no more, though nobody knows that it has
        ended; what of it may still run, in words. It is still to be cleaned away: its gate stays
        shut, or is shut as soon as that can be done, and its native job is ended where it is seen.
        """
        told = []
        for component in [c for c in self._where.values() if c.ref.job == number]:
            if component.step in (Step.FETCH, Step.KEEP, Step.DISCARD):
                continue
            if component.phase is Phase.GONE:
                continue
            told.append(self._whereabouts(component))
            if not component.over:
                component.cause = Cause.ABANDONED
            if component.step is not Step.CLEAN:
                self._owe(component, Step.CLEAN, now)
            self._release(component, now)
        job = self._jobs.get(number)
        if job is None or not job.components:
            return told
        for component in job.components:
            if component.step is Step.FETCH:
                self._keep(job, component, f"abandoned by {by}", now)
                told.append(f"{self._whereabouts(component)} (results)")
        self._out.note(now, job, "abandoned", by=by, left=told)
        reason = f"abandoned by {by}"
        if told:
            reason += f"; what may still be there: {', '.join(told)}"
        self._leave(job, JobState.FAILED, reason, now)
        return told

    def _whereabouts(self, component: Component) -> str:
        """Where it is, for somebody who goes and looks."""
        name = self._settings.clusters[component.cluster].name
        token = tokens.make(self._settings.instance, component.ref)
        native = "" if component.native_id is None else f" (job {component.native_id})"
        return f"{token}{native} in {name}" + (f" on {component.hosts}" if component.hosts else "")

    def _undo(self, job: Job, now: float) -> None:
        for component in job.components:
            untouched = component.phase is Phase.PLACED and component.step is Step.NONE
            if untouched and not job.stages_in:
                self._release(component, now)
                del self._where[component.ref]
            elif component.step is not Step.CLEAN and component.phase is not Phase.GONE:
                self._owe(component, Step.CLEAN, now)
        job.leave_attempt()

    def finish(self, job: Job, goal: Goal, now: float) -> None:
        """End an attempt that may be running: the job moves on when all of it is over."""
        job.goal = goal
        job.deadline = None
        self._out.changed(job)
        for component in job.components:
            if not component.over and component.step is not Step.CLEAN:
                self._owe(component, Step.CLEAN, now)
            elif component.step is Step.FETCH and goal is Goal.CANCEL:
                self._keep(job, component, f"cancelled by {job.by}", now)
        self._settle(job, now)

    def contain(self, number: int, error: Exception, now: float, ref: Ref | None = None) -> None:
        """Something told of this job could not be handled: it fails, and nobody else is touched.
        `ref`: of which component that was; if of a former attempt, only that is asked again.

        Whatever state it is in, so this relies on as little of it as it can. What it may have in
        clusters becomes debts; results stay where they are.
        """
        self._out.mishaps.append(Mishap(error, job=number))
        job = self._jobs.get(number)
        former = ref is not None and (job is None or job.attempt != ref.attempt)
        for component in [c for c in self._where.values() if c.ref.job == number]:
            if former and component.ref != ref:
                continue
            if component.step in (Step.CLEAN, Step.KEEP, Step.DISCARD):
                self._later(component, now)
            else:
                gone = component.phase is Phase.GONE
                self._owe(component, Step.KEEP if gone else Step.CLEAN, now)
        if job is None or former:
            return
        what = str(error) if isinstance(error, Unsound) else f"an error in it ({_kind(error)})"
        job.reason = f"what was told of it could not be used: {what}; the broker's log says more"
        job.leave_attempt()
        job.state, job.end_time, job.exit_code = JobState.FAILED, now, None
        self._out.note(now, job, "failed", why=job.reason, exit_code=None)
        self._queues.ended(job)

    def _keep(self, job: Job, component: Component, why: str, now: float) -> None:
        """Its results are not brought back: they stay in its cluster."""
        if component.succeeded:
            component.cause, component.detail = Cause.RESULTS, why
        self._owe(component, Step.KEEP, now)
        self._note(now, job, component, "results kept", why=why, folder=tokens.kept(component.ref))

    def _settle(self, job: Job, now: float) -> None:
        """Has the attempt ended? One failed component ends the others."""
        parts = job.components
        if job.state is not JobState.RUNNING and job.uncertain is not None:
            began = next((c for c in parts if c.started or c.succeeded), None)
            if began is not None:
                self._committed_before(job, began.start_time or now, now)
        if job.goal is None and self._ends_others(job):
            self.finish(job, Goal.FAIL, now)
        elif parts and all(c.over for c in parts):
            if not self._results_pending(job):
                self._move_on(job, now)
            elif job.deadline is not None or not job.reason:
                job.deadline = None  # of its run, which is over
                job.reason = "its results are being brought back"
                self._out.changed(job)

    def _ends_others(self, job: Job) -> bool:
        """Whether a component has failed for certain. Of an attempt that was begun before the store
        came back from a backup, and of which nothing is known to have started, nothing is ended."""
        if job.state is not JobState.RUNNING and job.uncertain is not None:
            return False
        return any(_has_failed(job, c) for c in job.components)

    def _untold(self, job: Job) -> bool:
        """Whether nobody can tell what has become of the attempt: as far as is known its script
        never started, or none of its components has failed."""
        started = any(c.started for c in job.components)
        return job.uncertain is not None and not (
            started and any(_has_failed(job, c) for c in job.components)
        )

    def _committed_before(self, job: Job, start: float, now: float) -> None:
        """A script has started that no backup tells of: its attempt was committed, so all of it
        runs, or has run (P3). Its time limit is its clusters' to keep."""
        job.move(JobState.RUNNING)
        job.start_time = start
        job.reason = ""
        self._out.note(now, job, "found started")
        for component in job.components:
            if not component.started and not component.over and component.step is Step.NONE:
                self._owe(component, Step.OPEN, now)

    def _move_on(self, job: Job, now: float) -> None:
        """Decide what an attempt that is over makes of its job (DCS 3.5)."""
        parts = job.components
        failed = next((c for c in parts if not c.succeeded), None)
        if failed is None:
            self._leave(job, JobState.COMPLETED, "", now, exit_code=0)
        elif job.goal is Goal.CANCEL:
            self._leave(job, JobState.CANCELLED, f"cancelled by {job.by}", now)
        elif job.goal is not Goal.TIMEOUT and self._untold(job):
            self._leave(job, JobState.HELD, self._blame(failed, _ending(failed)), now)
        elif job.goal is Goal.TIMEOUT or any(c.cause is Cause.OVERTIME for c in parts):
            self._leave(job, JobState.TIMEOUT, "over its time limit", now)
        elif not any(c.started for c in parts):
            reason = self._blame(failed, failed.detail or "not started")
            self._submission_failed(job, reason, now, failed)
        elif all(c.succeeded or c.cause is Cause.RESULTS for c in parts):
            # It has run well: running it again would not bring them.
            why = (
                f"its results could not be brought back: {failed.detail}; they stay there, in "
                f"{tokens.kept(failed.ref)} of the job's folder"
            )
            self._leave(job, JobState.FAILED, self._blame(failed, why), now)
        else:
            self._completion_failed(job, now)

    def _submission_failed(
        self, job: Job, reason: str, now: float, by: Component | None = None
    ) -> None:
        """DCS 3.2: to the tail, until the maximum is reached. What the cluster of `by` will never
        accept is not asked there again; what is its user's limit only waits."""
        cause = None if by is None else by.cause
        if by is not None and cause in (Cause.INVALID, Cause.DENIED):
            job.excluded |= {by.cluster}
            state = JobState.QUEUED if self._queues.can_go(job) else JobState.FAILED
            self._leave(job, state, reason, now)
            return
        if by is not None and cause is Cause.LIMIT:
            until = self._queues.refusals.at_limit(job, by.cluster, by.detail, now)
            self._queues.retry_queues_at(until)
            self._leave(job, JobState.QUEUED, reason, now, old_place=True)
            return
        job.submission_failures += 1
        if job.submission_failures >= self._settings.submission_retries:
            reason = f"{reason}; given up after {job.submission_failures} failed submissions"
            self._leave(job, JobState.FAILED, reason, now)
            return
        if by is not None and cause in (Cause.REFUSED, Cause.UNREACHABLE):
            self._queues.retry_queues_at(self._queues.refusals.pause(job, by.cluster, now))
        self._leave(job, JobState.QUEUED, reason, now)

    def _completion_failed(self, job: Job, now: float) -> None:
        """DCS 3.5: to the tail while within the maximum; submission failures start anew."""
        job.completion_failures += 1
        failed = [c for c in job.components if not c.succeeded]
        # Of those that were killed, the one that was gone first: the others ended because of it.
        first = min(failed, key=lambda c: (_blamed_last(c), c.asked_at))
        reason = self._blame(first, _ending(first))
        if job.completion_failures > self._settings.completion_retries:
            self._leave(job, JobState.FAILED, reason, now, exit_code=first.exit_code)
        else:
            job.submission_failures = 0
            self._leave(job, JobState.QUEUED, reason, now)

    def _leave(
        self,
        job: Job,
        state: JobState,
        reason: str,
        now: float,
        *,
        exit_code: int | None = None,
        old_place: bool = False,
    ) -> None:
        """The job leaves its attempt; what is not clean yet stays behind as debts. `old_place`: it
        goes back there, and not to its queue's tail."""
        if job.uncertain is not None and state in (JobState.QUEUED, JobState.HELD):
            state = JobState.HELD
            job.start_time = None
            reason += (
                f"; restored from the backup of {job.uncertain}, so it may have run to its end "
                "since, or been tried again: release or cancel it"
            )
        job.leave_attempt()
        job.reason = reason
        job.move(state)
        if state is JobState.QUEUED:
            job.start_time = None
            (self._queues.rejoin if old_place else self._queues.requeue)(job, now)
            self._out.note(now, job, "queued", why=reason)
        elif state is JobState.HELD:
            self._out.note(now, job, "held", why=reason)
        else:
            job.end_time = now
            job.exit_code = exit_code
            self._out.note(now, job, state.value.lower(), why=reason, exit_code=exit_code)
            self._queues.ended(job)


def _has_failed(job: Job, component: Component) -> bool:
    """Whether that is certain: what was begun before the store came back from a backup, and is in
    its cluster no more, may have ended well in the lost time."""
    if not component.over or component.succeeded:
        return False
    return job.uncertain is None or component.cause not in (Cause.LOST, Cause.GAVE_UP)


def _blamed_last(component: Component) -> int:
    """Which of several failures is the job's: a script's own exit, and never, if there is another,
    that of a component which was only ended because of it."""
    return {Cause.EXIT: 0, Cause.KILLED: 2, None: 2}.get(component.cause, 1)


def _ending(component: Component) -> str:
    """How a component that did not succeed ended, in words."""
    if component.cause is Cause.EXIT:
        return f"its script ended with exit code {component.exit_code}"
    if component.cause is None:
        return component.detail or "ended"
    return (
        f"{component.cause.value}: {component.detail}"
        if component.detail
        else (component.cause.value)
    )


def _kind(error: Exception) -> str:
    return type(error).__name__
