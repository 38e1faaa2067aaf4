"""What a component's own record in its gate tells: arrived, started, ended, given up.

A record is the user's to write, as everything is that runs under the user's account. So its times
are brought within what can be, and an end that somebody else may have brought about (the script was
being ended, or died of a signal) is its cluster's to explain.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker.events import Arrived, Cleaned, Ended, GaveUp, Started
from metabroker.broker.job import Component, Goal, Job
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Cause, JobState, Phase, Step

from .attempts import Attempts
from .barrier import Barrier
from .claims import Claims
from .completion import Completion
from .line import Line
from .pending import PendingSteps
from .rollback import Rollback
from .unread import Unread

_SIGNAL = 128
"""Exit codes above it are a shell's for a command that died of a signal."""

_FIX = " (can its folder and its output, -D, -o and -e, be written on the cluster's nodes?)"


@dataclass(eq=False)
class Records:
    """What is told by records."""

    _state: BrokerState
    _claims: Claims
    _pending: PendingSteps
    _barrier: Barrier
    _attempts: Attempts
    _rollback: Rollback
    _completion: Completion
    _unread: Unread
    _line: Line

    def arrived(self, event: Arrived, now: float) -> None:
        """A component waits at the barrier."""
        component, job = self._claims.find(event.ref)
        if component is None:
            return
        read_now = not event.begun and self._unread.read(component)
        if read_now and job is not None and job.uncertain is None:
            job.reason = ""  # that nobody knew whether it has started
            self._state.outbox.changed(job)
        if component.reached(Phase.ARRIVED):
            return
        component.advance(Phase.ARRIVED)
        component.hosts = event.hosts or component.hosts
        self._state.outbox.changed(component)
        if job is not None:
            self._state.note(now, job, component, "at the barrier", hosts=component.hosts)
            self._attempts.proceed(job, now)
        else:
            self._line.at_gates.seen_up(component.ref, now)

    def started(self, event: Started, now: float) -> None:
        """A component's script runs."""
        component, job = self._claims.find(event.ref)
        if component is None:
            return
        if job is not None:  # else it is being cleaned up: see `Line.cleaned`
            self._unread.read(component)
        component.writer = event.native_id
        if component.started:
            return
        component.started = True
        component.start_time = start = _within(job, event.time, now)
        component.hosts = event.hosts or component.hosts
        component.advance(Phase.STARTED)
        if component.step is Step.OPEN:
            self._pending.done(component)
        self._state.outbox.changed(component)
        if job is None:
            return
        self._state.note(now, job, component, "started", hosts=component.hosts)
        if job.state is not JobState.RUNNING and (job.uncertain is not None or not job.single):
            self._barrier.found_open(job, start, now)
        elif job.single and job.state is JobState.SUBMITTING:
            job.move(JobState.RUNNING)
            job.start_time = start
            job.deadline = None
            self._state.outbox.changed(job)

    def ended(self, event: Ended, now: float) -> None:
        """A component's script is over."""
        component, job = self._claims.find(event.ref)
        if component is None:
            return
        if job is not None:
            self._unread.read(component)
        if component.over:
            return
        component.exit_code = event.exit_code
        component.cause = Cause.EXIT if event.exit_code else None
        ended = _within(job, event.time, now)
        component.end_time = max(ended, component.start_time or ended)
        cleaning = component.step is Step.CLEAN
        # What fails while it is being ended was most likely ended, as was what died of a signal,
        # and whatever ends while its job is cancelled: its cluster knows. (Its own record may not:
        # the signal reaches the script a moment before the wrapper.)
        signalled = event.signalled or event.exit_code > _SIGNAL
        if not signalled and not (cleaning and (event.exit_code or _is_being_ended(job))):
            component.advance(Phase.ENDED)
        self._state.outbox.changed(component)
        if not signalled and not component.reserves and not cleaning:
            # Its native job ends by itself: there is nothing to ask its cluster for. Should
            # anything be left all the same, the next poll shows it as an orphan.
            self._completion.gone(component, now)
        elif not cleaning:
            self._pending.start(component, Step.CLEAN, now)
        if job is not None:
            self._state.note(now, job, component, "ended", exit_code=event.exit_code)
            self._completion.settle(job, now)

    def gave_up(self, event: GaveUp, now: float) -> None:
        """A component left the barrier at its own deadline: the attempt cannot be committed."""
        component, job = self._claims.find(event.ref)
        if component is None or job is None or component.step is Step.CLEAN:
            return
        self._unread.read(component)
        component.cause = Cause.GAVE_UP
        self._state.note(now, job, component, "gave up")
        if job.irreversible:
            component.detail = "nothing let it through its gate in time"
            self._pending.start(component, Step.CLEAN, now)
        else:
            reason = self._state.blame(component, "gave up waiting at the barrier")
            self._rollback.roll_back(job, now, reason, component)


def take_over(component: Component, job: Job | None, event: Cleaned, now: float) -> None:
    """What was found while a component was cleaned up: its own record tells its exit code; its
    cluster, whether it was ended. `job`: its own, if that has not ended."""
    if event.started:
        component.started = True
        if component.start_time is None and event.start_time is not None:
            component.start_time = _within(job, event.start_time, now)
        if job is not None and job.start_time is None and [component] == job.components:
            job.start_time = component.start_time
    if component.over:
        return
    said = _not_of_the_script(component, event)
    if said and component.exit_code is not None:
        component.exit_code, component.cause, component.detail = None, Cause.LOST, said
    if event.end_time is not None:
        ended = _within(job, event.end_time, now)
        component.end_time = max(ended, component.start_time or ended)
    if event.exit_code is not None:
        component.exit_code = event.exit_code
        component.cause = Cause.EXIT if event.exit_code else None
    _told_by_cluster(component, event)
    if component.cause is None and _was_stopped(job, event):
        component.cause = event.cause or Cause.KILLED
    if component.cause is Cause.EXIT and _ended_with_others(job, component, event):
        component.cause = Cause.KILLED


def _not_of_the_script(component: Component, event: Cleaned) -> str:
    """Why the exit code that its cluster tells is not its script's; "" if it is."""
    if event.shut and not component.started:
        # Seen of a Slurm whose controller and nodes were being killed: COMPLETED.
        said = f"its cluster says {component.detail}, but its script has never started"
        return said + _FIX if component.exit_code else said
    if event.exit_code is not None:
        return ""
    if event.doubtful:
        return "there is no record that its script ran to its end, whatever its cluster says"
    if component.exit_code == 0 and event.cause is not None:
        # A submission was carried out twice: one job of the two ended well, the other was killed.
        return "its cluster has said that it ended well, and says now that it did not"
    return ""


def _told_by_cluster(component: Component, event: Cleaned) -> None:
    """Why it ended, by its cluster's word."""
    # That a component was killed while it was cleaned away tells nothing new of why.
    known = component.cause not in (None, Cause.EXIT) and event.cause is Cause.KILLED
    if event.cause is not None and component.exit_code != 0 and not known:
        if component.tries and component.cause is not event.cause:
            component.detail = ""  # of a try to end it: no reason of its end
        component.cause = event.cause
        component.detail = event.detail or component.detail
    elif component.cause is None and component.exit_code is None:
        component.cause = Cause.KILLED
        if component.tries:
            component.detail = ""


def _was_stopped(job: Job | None, event: Cleaned) -> bool:
    """Whether a script that ended well did so because it was told to end: by its cluster's word, or
    since its job is cancelled, or over its time limit. That is no success. (So it is in Slurm,
    whatever such a script returns.) Its record need not say that it was sent a signal: the script
    may have had it before the wrapper."""
    if event.signalled:
        return _is_being_ended(job) or event.cause is not None
    return _is_being_ended(job) and event.cause in (Cause.KILLED, Cause.OVERTIME)


def _is_being_ended(job: Job | None) -> bool:
    return job is not None and job.goal in (Goal.CANCEL, Goal.TIMEOUT)


def _ended_with_others(job: Job | None, component: Component, event: Cleaned) -> bool:
    """Whether it was sent a signal when another component had failed before, and its cluster tells
    nothing of it (an OpenPBS without history): it was ended because of that one, whatever its
    script has returned."""
    if job is None or not event.signalled or event.cause is not None:
        return False
    return any(other is not component and other.cause is not None for other in job.components)


def _within(job: Job | None, time: float, now: float) -> float:
    """A time that a component's record tells: it was not before its job was submitted, and is not
    to come."""
    return min(time, now) if job is None else max(job.submit_time, min(time, now))
