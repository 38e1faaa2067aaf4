"""Jobs that join another job of their user's: optional components, which come and go while it runs.

Such a job waits for the start of the one that it joins, as with the dependency `after`, and ends
with it. It never starts once that one has ended, and an end of its own is no end of the other.

Who has joined whom stands in each such job's row. What is to be done when the other one has ended,
or waits again, is done to some of them in each turn (`Backlog`); after a restart it is looked at
again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from .dependencies import Dependencies
from .events import CancelJob
from .job import Goal, Job, NewJob, started
from .queues import Queues
from .rejected import Rejected
from .saga import Saga
from .state import BrokerState
from .states import IN_ATTEMPT, JobState

MOST_JOINING = 64
"""Jobs that may have joined one job at a time."""


class Joining:
    """Who has joined whom, of the jobs that have not ended."""

    def __init__(
        self,
        state: BrokerState,
        queues: Queues,
        saga: Saga,
        dependencies: Dependencies,
        cancel: Callable[[CancelJob, float], None],
    ) -> None:
        self._state = state
        self._queues = queues
        self._saga = saga
        self._dependencies = dependencies
        self._cancel = cancel
        self._joined: dict[int, dict[int, None]] = {}
        self._ending = state.backlog.line(self._end)
        self._waiting = state.backlog.line(self._wait)

    def check(self, new: NewJob) -> None:
        """Raises `Rejected` where a new job cannot join the one that it names."""
        if not new.joins:
            return
        number, advice = new.joins, "name a job of yours that metabroker queue lists"
        job = self._state.jobs.get(number)
        if job is None:
            raise Rejected(f"job {number} cannot be joined: it has ended, or is not known", advice)
        if job.user != new.user:
            raise Rejected(f"job {number} cannot be joined: it is another user's", advice)
        if job.array is not None:
            what = f"job {number} cannot be joined: it is an array"
            raise Rejected(what, "join one of its tasks, by that one's own number")
        if job.joins:
            what = f"job {number} cannot be joined: it joins job {job.joins} itself"
            raise Rejected(what, f"join that one: --join {job.joins}")
        if len(self._joined.get(number, ())) >= MOST_JOINING:
            what = f"job {number} cannot be joined: {MOST_JOINING} jobs have joined it"
            raise Rejected(what, "wait until one of them has ended, or cancel one")

    def begin(self, job: Job) -> None:
        """A job that is new, or there after a restart, and may have joined another one."""
        if not job.joins:
            return
        self._joined.setdefault(job.joins, {})[job.id] = None
        self._look(job.joins)

    def changed(self, jobs: Iterable[Job]) -> None:
        """A turn ends, in which these jobs may have changed."""
        for job in jobs if self._joined else ():
            if job.id in self._joined:
                self._look(job.id)
            if job.state.ended and job.joins:
                others = self._joined.get(job.joins, {})
                others.pop(job.id, None)
                if not others:
                    self._joined.pop(job.joins, None)

    def before_pass(self, changed: Collection[int], now: float) -> None:
        """The policy is about to decide, in a turn in which these jobs have changed: nobody starts
        whose other job has ended, or waits again, on the processors that this one has left."""
        for number in [n for n in self._joined if n in changed]:
            for each in list(self._joined[number]):
                self._wait(each, now)

    def _look(self, number: int) -> None:
        """At a job that others have joined: what that means for them."""
        job = self._state.jobs.get(number)
        if job is None or job.state.ended:
            self._ending.add(self._joined[number])
        elif job.state not in IN_ATTEMPT:
            self._waiting.add(self._joined[number])

    def _end(self, number: int, now: float) -> None:
        """The job that it had joined has ended."""
        job = self._state.jobs.get(number)
        if job is None or job.goal is Goal.CANCEL:
            return
        by = f"the broker: job {job.joins}, which it had joined, has ended"
        self._cancel(CancelJob(number, by), now)

    def _wait(self, number: int, now: float) -> None:
        """The job that it has joined waits, after an attempt that has failed, or has ended: if it
        waits itself, then for the other one's start again."""
        job = self._state.jobs.get(number)
        if job is None or job.state is not JobState.QUEUED or job.after is not None:
            return
        joined = self._state.jobs.get(job.joins)
        if joined is not None and joined.state in IN_ATTEMPT:
            return
        self._queues.withdraw(job)
        self._saga.line.leave(job, f"job {job.joins}, which it has joined, waits again", now)
        job.after = started(job.joins)
        self._state.outbox.changed(job)
        self._dependencies.begin(job, {}, now)
