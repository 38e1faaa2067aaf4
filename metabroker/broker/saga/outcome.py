"""What an attempt that is over makes of its job: the end, the queue again, or held.

Two kinds of failure are counted apart (DCS 3.2, 3.5). A failed *submission* never started the
script: the job goes to its queue's tail until the maximum is reached. A failed *completion* did
start it: the job is run again only if the site allows that, and its submissions start at 0.

Of an attempt that stood in a backup (`Job.uncertain`) nobody knows what happened in the lost time,
so it is never repeated by itself: what would requeue its job holds it, and a user decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker import tokens
from metabroker.broker.job import Component, Goal, Job
from metabroker.broker.queues import Queues
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Cause, JobState

_IN_VAIN = 3
"""Times that a job was begun for nothing, after which it keeps its place no more."""
_ROUNDED = 60.0
"""Seconds by which a cluster may seem to end a job too early, and by which clocks may differ."""
_POLLS = 1.5
"""Intervals between two polls in which one has most likely been answered that began meanwhile."""


@dataclass(eq=False)
class AttemptOutcome:
    """Takes jobs out of their attempts."""

    _state: BrokerState
    _queues: Queues

    def decide(self, job: Job, now: float) -> None:
        """All components are over: what that makes of their job."""
        parts = job.components
        failed = next((c for c in parts if not c.succeeded), None)
        late = any(self._over_limit(c, job) for c in parts)
        if failed is None:
            self.leave(job, JobState.COMPLETED, "", now, exit_code=0)
        elif job.goal is Goal.CANCEL:
            self.leave(job, JobState.CANCELLED, f"cancelled by {job.by}", now)
        elif _untold(job) and not (late and job.goal is Goal.TIMEOUT):
            self.leave(job, JobState.HELD, self._state.blame(failed, _ending(failed)), now)
        elif late:
            self.leave(job, JobState.TIMEOUT, "over its time limit", now)
        elif not any(c.started for c in parts):
            said = _too_late(failed) if _was_overdue(failed, job) else failed.detail
            reason = self._state.blame(failed, said or "not started")
            self.submission_failed(job, reason, now, failed)
        elif all(c.succeeded or c.cause is Cause.RESULTS for c in parts):
            # It has run well: running it again would not bring them.
            why = (
                f"its results could not be brought back: {failed.detail}; they stay there, in "
                f"{tokens.kept(failed.ref)} of the job's folder"
            )
            self.leave(job, JobState.FAILED, self._state.blame(failed, why), now)
        else:
            self._completion_failed(job, now)

    def _over_limit(self, component: Component, job: Job) -> bool:
        """Whether it was ended at the job's time limit, by its cluster or by the broker. Both count
        from the start of a native job: what waits at the barrier for very long has less left for
        its script, or has nothing left and never starts it."""
        told = component.cause is Cause.OVERTIME or job.goal is Goal.TIMEOUT
        if component.succeeded or not told:
            return False
        if job.single:
            return True
        began, ended = component.start_time, component.end_time
        if began is None or ended is None:
            return component.started
        if abs(self._state.ledger.entries[component.cluster].clock_offset) > _ROUNDED:
            return True  # a start is told by the broker's clock where they differ (see `records`)
        return not 0.0 <= ended - began < job.time_limit - _ROUNDED

    def submission_failed(
        self, job: Job, reason: str, now: float, by: Component | None = None
    ) -> None:
        """DCS 3.2: to the tail, until the maximum is reached. What the cluster of `by` will never
        accept is not asked there again; what is a matter of its user or of the cluster only waits,
        unless all clusters that the job could go to have denied its user by a final word."""
        cause, refusals = None if by is None else by.cause, self._queues.refusals
        waits = cause in (Cause.LIMIT, Cause.UNREACHABLE)
        if by is not None and (waits or cause in (Cause.INVALID, Cause.DENIED)):
            if cause is Cause.INVALID:
                job.excluded |= {by.cluster}
            else:
                refusals.suspend(job, by, now)
            able = waits or self._queues.can_go(job, job.excluded | refusals.denied(job))
            state = JobState.QUEUED if able else JobState.FAILED
            self.leave(job, state, reason, now, old_place=waits)
            return
        # Nothing but the broker, and the way to the cluster, lets a component through its gate; and
        # it waits there for longer than the broker would let it.
        not_let_through = cause in (Cause.GAVE_UP, Cause.OVERTIME)
        if by is not None and (cause is Cause.STUCK or not_let_through):
            self._wait(job, by, reason, now, self._state.settings.limit_most, not_let_through)
            return
        if by is not None and (refusals.is_black_hole(by) or self._is_full_still(job, by, now)):
            self.leave(job, JobState.QUEUED, reason, now)
            return
        if by is not None and cause is Cause.FILES:
            pause = self._state.settings.limit_delay(job.in_vain + 1)
            self._wait(job, by, reason, now, pause, True)
            return
        if by is not None and by.cause is Cause.BUSY:
            job.full[by.cluster] = now
        job.submission_failures += 1
        if job.submission_failures >= self._state.settings.submission_retries:
            reason = f"{reason}; given up after {job.submission_failures} failed submissions"
            self.leave(job, JobState.FAILED, reason, now)
            return
        if by is not None and cause in (Cause.REFUSED, Cause.OWN):
            settings = self._state.settings
            pause = settings.refusal_delay(job.submission_failures)
            if cause is Cause.OWN:  # before its cluster is polled again it would be asked the same
                pause = max(pause, _POLLS * settings.poll_interval)
            until = now + pause
            refusals.pause(job, by.cluster, until)
            self._queues.retry_at(until)
        self.leave(job, JobState.QUEUED, reason, now)

    def _is_full_still(self, job: Job, by: Component, now: float) -> bool:
        """Whether the job was told before that its cluster is full, and that was not polled since.
        Until then nobody can know who has come there: the job would fail within seconds."""
        snapshot = self._state.ledger.entries[by.cluster].snapshot
        if by.cause is not Cause.BUSY or snapshot is None:
            return False
        told = job.full.get(by.cluster)
        return told is not None and snapshot.taken_at <= told <= now

    def _wait(
        self, job: Job, by: Component, reason: str, now: float, pause: float, in_vain: bool
    ) -> None:
        """No failed submission: the job waits at its place, and is not sent there for `pause`
        seconds. Whether it was begun `in_vain` is told by what may be its user's to write (files, a
        gate): so it does not keep its place for ever."""
        until = now + pause
        self._queues.refusals.pause(job, by.cluster, until)
        self._queues.retry_at(until)
        job.in_vain += in_vain
        self.leave(job, JobState.QUEUED, reason, now, old_place=job.in_vain < _IN_VAIN)

    def no_answer(self, job: Job, component: Component, now: float) -> None:
        """A claim got no answer in time. Where the cluster answers polls meanwhile that counts as a
        refusal."""
        if self._state.ledger.known(component.cluster, now):
            component.cause = Cause.DEADLINE
            self._queues.refusals.not_known_why(job, component, now)
        else:
            component.cause = Cause.UNREACHABLE

    def _completion_failed(self, job: Job, now: float) -> None:
        """DCS 3.5: to the tail while within the maximum; submission failures start at 0 again."""
        job.completion_failures += 1
        failed = [c for c in job.components if not c.succeeded]
        # Of those that were killed, the one that was gone first: the others ended because of it.
        first = min(failed, key=lambda c: (_blamed_last(c), c.asked_at))
        why = _too_late(first) if _was_overdue(first, job) else _ending(first)
        reason = self._state.blame(first, why)
        if job.completion_failures > self._state.settings.completion_retries:
            self.leave(job, JobState.FAILED, reason, now, exit_code=first.exit_code)
        else:
            job.submission_failures = 0
            job.full.clear()
            self.leave(job, JobState.QUEUED, reason, now)

    def leave(
        self,
        job: Job,
        state: JobState,
        reason: str,
        now: float,
        *,
        exit_code: int | None = None,
        old_place: bool = False,
    ) -> None:
        """The job leaves its attempt. `old_place`: it goes back there, not to its queue's tail."""
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
        if state in (JobState.QUEUED, JobState.HELD):
            job.unite()
        if state is JobState.QUEUED:
            job.start_time = None
            (self._queues.rejoin if old_place else self._queues.requeue)(job, now)
            self._state.outbox.note(now, job, "queued", why=reason)
        elif state is JobState.HELD:
            self._state.outbox.note(now, job, "held", why=reason)
        else:
            job.end_time = now
            job.exit_code = exit_code
            word = state.value.lower()
            self._state.outbox.note(now, job, word, why=reason, exit_code=exit_code)
            self._queues.ended(job)


def has_failed(job: Job, component: Component) -> bool:
    """Whether a component of the job's has failed for certain. One that was begun before the store
    came back from a backup, and is in its cluster no more, may have ended well in the lost time."""
    if not component.over or component.succeeded:
        return False
    return job.uncertain is None or component.cause not in (Cause.LOST, Cause.GAVE_UP)


def _untold(job: Job) -> bool:
    """Whether nobody can tell what has become of the attempt: as far as is known its script never
    started, or none of its components has failed."""
    if job.uncertain is None:
        return False
    started = any(c.started for c in job.components)
    return not (started and any(has_failed(job, c) for c in job.components))


def _blamed_last(component: Component) -> int:
    """Which of several failures is the job's: a script's own exit, and never, if there is another,
    that of a component which was only ended because of it."""
    if component.cause is Cause.EXIT and component.exit_code is None:
        return 1  # its cluster says so, and not with which
    return {Cause.EXIT: 0, Cause.KILLED: 2, None: 2}.get(component.cause, 1)


def _was_overdue(component: Component, job: Job) -> bool:
    """Whether nothing but its native job's time limit, or the broker's deadline, has ended it: what
    was gone long before that deadline was only cleaned up then."""
    if job.goal is not Goal.TIMEOUT or component.cause not in (None, Cause.KILLED):
        return component.cause is Cause.OVERTIME
    if component.end_time is None or job.start_time is None:
        return True
    return component.end_time >= job.start_time + job.time_limit - _ROUNDED


def _too_late(component: Component) -> str:
    """That its script had less time than its job's limit, in words: see `_over_limit`."""
    began = "before the job's time limit" if component.started else "before its script started"
    return (
        f"{_ending(component)} {began}: it had waited at the barrier for too long, while the "
        "broker or the way to a cluster was away"
    )


def _ending(component: Component) -> str:
    """How a component that did not succeed ended, in words."""
    if component.cause is Cause.EXIT and component.exit_code is None:
        return f"its exit code is not known ({component.detail or 'failed'})"
    if component.cause is Cause.EXIT:
        return f"its script ended with exit code {component.exit_code}"
    if component.cause is None:
        return component.detail or "ended"
    word = component.cause.value
    return f"{word}: {component.detail}" if component.detail else word
