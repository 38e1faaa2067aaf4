"""Jobs that wait for other jobs: for their starts, or their ends.

Such a job is QUEUED in no queue, out of the policy's sight, and keeps nobody back, until what it
depends on is so; then it joins a queue at its tail, like one that has just come. What it depends on
can come to be impossible: then it waits until somebody cancels it, or it is cancelled at once, if
its user wants that (Slurm's `DependencyNeverSatisfied`, `--kill-on-invalid-dep`).

A job can only name jobs that there are when it is submitted, and `singleton` means earlier ones, so
there are no cycles. What has become of a job that has ended is told to those who wait for it one by
one, some in each turn (`Backlog`); only the result is stored. After a restart the driver tells what
has become of all ended jobs that are still named (`recall`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from metabroker.submission.dependency import Dependency, Named, Term, When

from .array import Array
from .backlog import Contain
from .corresponding import Corresponding
from .events import Outcome
from .groups import Group, Groups
from .heaps import crowded
from .job import Component, Job
from .queues import Queues
from .rejected import Rejected
from .state import BrokerState
from .states import JobState
from .terms import Terms


class _Watched(NamedTuple):
    """Of which job something is awaited: its start, or its end."""

    job: Named
    start: bool


@dataclass(slots=True)
class _Waiters:
    """Jobs that wait for that of another one. All of them have this one `watched`, and no equal
    one: there may be very many, each with a thousand."""

    watched: _Watched
    jobs: dict[int, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Open:
    """What a job still waits for: by the jobs that are named; `late`: what will be so at a time;
    `singleton`: no earlier job of its name."""

    dependency: Dependency
    terms: dict[_Watched, tuple[Term, ...]] = field(default_factory=dict)
    late: int = 0
    singleton: bool = False

    @property
    def left(self) -> bool:
        return bool(self.terms or self.late or self.singleton)


@dataclass(slots=True)
class _Tasks:
    """Those of an array that somebody waits for; how many of all of its tasks were `cancelled` when
    that was looked at last."""

    tasks: set[Named] = field(default_factory=set)
    cancelled: int = 0


class Dependencies:
    """Who waits for whom. `waiting`: jobs that wait for others, by number, whatever else keeps them
    back."""

    def __init__(self, state: BrokerState, queues: Queues) -> None:
        self._state = state
        self._queues = queues
        self.waiting: dict[int, Job] = {}
        self.corresponding = Corresponding(state)
        self._open: dict[int, _Open] = {}
        self._waiters: dict[_Watched, _Waiters] = {}
        self.terms = Terms()
        self._tasks: dict[int, _Tasks] = {}  # by arrays
        self._ended: dict[Named, Outcome] = {}  # of jobs that somebody waits for
        self._late: list[tuple[float, int, Term]] = []
        self._late_waits = 0  # what is in it of those who still wait
        self._wakes = 0.0  # when the timer for that is due
        self._groups = Groups(state)
        self._telling = state.backlog.line(self._tell)
        self._dooming = state.backlog.line(self._doom)
        self._looking = state.backlog.line(self._look)

    # --- who begins to wait -------------------------------------------------------------------

    def check(self, wanted: Dependency | None, ended: Mapping[Named, Outcome]) -> None:
        """Raises `Rejected` where a new job names one that there is not."""
        for named in () if wanted is None else wanted.named:
            if not self._awaited(named) and self._outcome(named, ended) is None:
                what = f"job {named.job}" if named.task < 0 else f"task {named.job}_{named.task}"
                raise Rejected(
                    f"the job depends on {what}, which is not there or not kept any more",
                    "name jobs that metabroker queue or history lists",
                )

    def _find(self, named: Named) -> Job | None:
        """The job, if it has not ended, and a task is one."""
        job = self._state.jobs.get(named.job)
        if job is None or named.task < 0:
            return job
        return self._state.jobs.get(0 if job.array is None else job.array.live.get(named.task, 0))

    def _awaited(self, named: Named) -> bool:
        """Whether it has not ended; a task may be to come."""
        job = self._state.jobs.get(named.job)
        array = None if job is None else job.array
        if named.task < 0 or array is None:
            return job is not None and named.task < 0
        to_come = named.task in array.tasks and named.task >= array.next
        return self._find(named) is not None or (to_come and named.task not in array.cancelled)

    def begin(self, job: Job, ended: Mapping[Named, Outcome], now: float) -> None:
        """A job that may wait for others: a new one, or after a restart. `ended`: what has become
        of those that it names."""
        self.corresponding.begin(job, ended)
        self.terms.waits(job)
        wanted = job.after
        if wanted is None:
            return
        self.waiting[job.id] = job
        if job.never:
            self._dooming.add([job.id] * wanted.kill)
            return
        found = self._open[job.id] = _Open(wanted)
        for term in wanted.terms:
            if term.when is When.SINGLETON:
                found.singleton = True
            else:
                watched = self._the_one(_Watched(term.named, term.when is When.AFTER))
                found.terms[watched] = (*found.terms.get(watched, ()), term)
        for watched in list(found.terms):
            if not self._awaited(watched.job) or self._known(watched):
                self._resolve(job, watched, self._outcome(watched.job, ended), now)
            else:
                self._watch(job, watched)
            if job.id not in self._open:
                return
        if found.singleton:
            self._groups.wait(job)
            self._looking.add([(job.user, job.name)])

    def _outcome(self, named: Named, ended: Mapping[Named, Outcome]) -> Outcome | None:
        """What has become of a job that may have ended in this very turn."""
        if self._awaited(named):
            return None
        found = self._ended.get(named) or ended.get(named)
        if found is not None:
            return found
        jobs = self._state.outbox.jobs
        job = jobs.get(named.job) or self._state.jobs.get(named.job)
        if named.task >= 0 and job is not None and job.array is not None:
            if named.task in job.array.cancelled:
                return Outcome(JobState.CANCELLED, 0.0)
            job = jobs.get(job.array.live.get(named.task, 0))
        elif named.task >= 0:
            job = None
        return Outcome.of(job) if job is not None and job.state.ended else None

    # --- what happens to others ---------------------------------------------------------------

    def changed(self, jobs: Iterable[Job], components: Iterable[Component]) -> None:
        """A turn ends, in which these jobs and components may have changed: those who wait for them
        are told in the next ones."""
        if not self.waiting and not self._groups and not self.terms:
            return
        live, begun = self._state.jobs, {part.ref.job for part in components if part.started}
        told = [*jobs, *(live[number] for number in begun if number in live)]
        arrays = {job.of for job in told if job.of}
        for job in (*told, *(live[number] for number in arrays if number in live)):
            over = job.state.ended
            if over:
                self.terms.over(job)
            self._happened(Named(job.id), Outcome.of(job) if over else None)
            if job.of in self._tasks:
                self._happened(Named(job.of, job.task), Outcome.of(job) if over else None)
            if job.array is not None and job.id in self._tasks:
                self._cancelled_before(job, job.array)
            if over and self.waiting.pop(job.id, None) is not None:
                self._forget(job)
            group = self._groups.changed(job)
            if group is not None:
                self._looking.add([group])

    def _cancelled_before(self, job: Job, array: Array) -> None:
        """Tasks of an array that somebody waits for will not be made: looked at only where more of
        them are cancelled than before, since very many may be waited for; or where the array has
        ended without them, as it does if something of it cannot be handled."""
        waited, count, over = self._tasks[job.id], len(array.cancelled), job.state.ended
        if count == waited.cancelled and not over:
            return
        waited.cancelled = count
        for named in list(waited.tasks):
            if named.task in array.cancelled or (over and named.task >= array.next):
                self._happened(named, Outcome(JobState.CANCELLED, job.end_time or 0.0))

    def _happened(self, named: Named, outcome: Outcome | None) -> None:
        """Something has happened to a job; `outcome`: None: it has not ended."""
        for watched in (_Watched(named, True), _Watched(named, False)):
            if watched in self._waiters:
                if outcome is not None:
                    self._ended[named] = outcome
                if self._known(watched):
                    self._telling.add([watched])

    def due(self, now: float, contain: Contain) -> None:
        """What is so since a time that has come; some of it, and the rest in the next turn. An
        error in one is contained to its job."""
        for _ in range(self._state.settings.slice):
            if not self._late or self._late[0][0] > now:
                break
            _at, number, term = heapq.heappop(self._late)
            found, job = self._open.get(number), self.waiting.get(number)
            if found is not None and job is not None:
                found.late -= 1
                self._late_waits -= 1
                try:
                    self._met(job, found, term, now)
                except Exception as error:
                    contain(number, error, now, None)
        if self._wakes <= now:
            self._wakes = 0.0
        self._wake(now)

    def _wake(self, now: float) -> None:
        """One timer for the first of all that will be so at a time."""
        if self._late:
            at = max(now, self._late[0][0])
            if not now <= self._wakes <= at:
                self._wakes = at
                self._state.timers.set(at, None)

    def _tell(self, watched: _Watched, now: float) -> None:
        """One of those who wait for it."""
        found = self._waiters.get(watched)
        if found is None or not found.jobs:
            return
        waiters = found.jobs
        number = next(iter(waiters))
        del waiters[number]
        job = self.waiting.get(number)
        if job is not None and number in self._open:
            self._resolve(job, watched, self._ended.get(watched.job), now)
        if waiters:
            self._telling.add([watched])
        else:
            self._unwatch(watched)

    def _look(self, group: Group, now: float) -> None:
        """The first of those who wait for all earlier jobs of their name."""
        number = self._groups.next(group)
        job = None if number is None else self.waiting.get(number)
        found = None if number is None else self._open.get(number)
        if job is not None and found is not None:
            self._groups.forget(job)
            found.singleton = False
            self._met(job, found, Term(When.SINGLETON), now)
            self._looking.add([group])  # it waits for others: who is behind it need not

    def _doom(self, number: int, now: float) -> None:
        job = self.waiting.get(number)
        if job is None or job.state not in (JobState.QUEUED, JobState.HELD):
            return
        if job.array is not None:
            job.array.cancel(job.array.left)
        job.move(JobState.CANCELLED)
        job.reason = f"its dependency {job.never} can never be met"
        job.end_time = now
        self._state.outbox.note(now, job, "cancelled", why=job.reason)
        self._queues.ended(job)

    # --- one who waits ------------------------------------------------------------------------

    def _known(self, watched: _Watched) -> bool:
        """Whether what is awaited of that job has happened."""
        if watched.job in self._ended:
            return True
        job = self._find(watched.job)
        return watched.start and job is not None and self._started(job)

    def _started(self, job: Job) -> bool:
        """Whether a script of it runs, or has run: of an array, of each of its tasks."""
        if job.array is None:
            return any(component.started for component in job.components)
        under_way = (self._state.jobs.get(number) for number in job.array.live.values())
        return job.array.begun and all(task is None or self._started(task) for task in under_way)

    def _resolve(self, job: Job, watched: _Watched, outcome: Outcome | None, now: float) -> None:
        """What a job awaited of another one has happened, or never will. Of one that is kept no
        more it is known only that it was not said before: neither that it is in vain to wait for
        all, nor that one of several has happened."""
        found, other = self._open[job.id], self._find(watched.job)
        if other is None and watched.job == Named(job.joins):
            return  # which it joins: it is cancelled in a moment (see `joining`)
        for term in found.terms.pop(watched, ()):
            if job.id not in self._open:
                return
            if outcome is None and other is None:
                holds, began = not found.dependency.either, 0.0
            elif outcome is not None:
                holds, began = _holds(term, outcome.state), outcome.began
            else:
                holds, began = True, (other.start_time if other else None) or now
            if not holds:
                self._unmet(job, found, term, now)
            else:
                self._met_at(job, found, term, began + 60.0 * term.minutes, now)

    def _met_at(self, job: Job, found: _Open, term: Term, at: float, now: float) -> None:
        if at > now and term.minutes:
            found.late += 1
            self._late_waits += 1
            heapq.heappush(self._late, (at, job.id, term))
            if crowded(len(self._late), self._late_waits):
                self._late = [each for each in self._late if each[1] in self._open]
                heapq.heapify(self._late)
            self._wake(now)
        else:
            self._met(job, found, term, now)

    def _met(self, job: Job, found: _Open, term: Term, now: float) -> None:
        if found.left and not found.dependency.either:
            return
        del self.waiting[job.id]
        self._forget(job)
        job.after = None
        self.terms.waits(job)
        self._state.outbox.note(now, job, "dependency met", last=str(term))
        if job.state is JobState.QUEUED:
            self._queues.requeue(job, now)

    def _unmet(self, job: Job, found: _Open, term: Term, now: float) -> None:
        if found.dependency.either and found.left:
            return
        self._forget(job)
        job.never = str(term)
        self._state.outbox.note(now, job, "dependency never satisfied", why=job.never)
        if found.dependency.kill:
            self._dooming.add([job.id])

    def _the_one(self, watched: _Watched) -> _Watched:
        found = self._waiters.get(watched)
        return watched if found is None else found.watched

    def _watch(self, job: Job, watched: _Watched) -> None:
        if watched not in self._waiters:
            self._waiters[watched] = _Waiters(watched)
        self._waiters[watched].jobs[job.id] = None
        if watched.job.task >= 0:
            self._tasks.setdefault(watched.job.job, _Tasks()).tasks.add(watched.job)

    def _forget(self, job: Job) -> None:
        """It waits for nobody any more."""
        found = self._open.pop(job.id, None)
        self._late_waits -= found.late if found is not None else 0
        self._groups.forget(job)
        for watched in () if found is None else found.terms:
            waiters = self._waiters.get(watched)
            if waiters is not None:
                waiters.jobs.pop(job.id, None)
            if waiters is None or not waiters.jobs:
                self._unwatch(watched)

    def _unwatch(self, watched: _Watched) -> None:
        self._waiters.pop(watched, None)
        if _Watched(watched.job, not watched.start) not in self._waiters:
            self._ended.pop(watched.job, None)
            waited = self._tasks.get(watched.job.job)
            if waited is not None:
                waited.tasks.discard(watched.job)
                if not waited.tasks:
                    del self._tasks[watched.job.job]


def _holds(term: Term, state: JobState) -> bool:
    """Whether it was waited for that a job ends in that state."""
    if term.when in (When.AFTER, When.ANY):
        return True
    return (state is JobState.COMPLETED) is not (term.when is When.NOT_OK)
