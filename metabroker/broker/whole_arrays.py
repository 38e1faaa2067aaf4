"""What is asked of a whole array: hold it, release it, change its limits.

That concerns all tasks which wait, and they may be very many. So what was asked is kept with the
array (`Array.pausing`, `Array.limiting`), and written before its user is answered; then it is done
to some of the tasks in each turn (`Backlog`), the first of them in the turn of the request itself.
A task to which it is still to be done does not start: should its turn to start come first, it is
done to it then (`follow`). After a restart all is done that had not been done yet.

What is asked of one task of these meanwhile comes after what was asked of all (`apart`).
"""

from __future__ import annotations

from collections.abc import Iterable

from .array import Array, Wish
from .job import Job
from .queues import Queues
from .saga import Saga
from .state import BrokerState
from .states import IN_ATTEMPT, JobState

_WAITS = frozenset({JobState.QUEUED, JobState.HELD})
_BEGINS = IN_ATTEMPT - {JobState.RUNNING}


class WholeArrays:
    """Does it, task by task."""

    def __init__(self, state: BrokerState, queues: Queues, saga: Saga) -> None:
        self._state = state
        self._queues = queues
        self._saga = saga
        self._following = state.backlog.line(self._follow)
        self._left = state.settings.slice

    def turn_ends(self) -> None:
        """As much may be done at once in the next one."""
        self._left = self._state.settings.slice

    def take_of_turn(self, wanted: int) -> int:
        """To how many of so many tasks something may be done at once, in this turn."""
        taken = min(wanted, self._left)
        self._left -= taken
        return taken

    # --- of all tasks -------------------------------------------------------------------------

    def hold(self, job: Job, array: Array, by: str, now: float) -> None:
        """None of its tasks that has not started does; those in an attempt leave it, if that can
        still be undone, or are held should it come to nothing before their scripts start."""
        array.pausing, jobs = Wish(by, array.next), self._state.jobs
        begun = self._attempting(array)
        array.owed.update(begun)
        undone = [number for number in begun if not jobs[number].irreversible]
        self._begin(job, array, [*undone, *self._waiting(array)], now)

    def release(self, job: Job, array: Array, by: str, now: float) -> None:
        """Those of its tasks that are held join their queues at the tail, before whoever comes from
        now on; in their order, whenever each of them is reached."""
        first = self._queues.next_seq
        self._queues.next_seq += array.next
        array.pausing = Wish(by, array.next, first)
        begun = [number for number in self._attempting(array) if number in array.owed]
        self._begin(job, array, [*begun, *self._waiting(array)], now)

    def limit(self, job: Job, array: Array, by: str, seconds: int, now: float) -> None:
        """Each of its tasks that has not started has that time limit."""
        array.limiting = Wish(by, array.next, seconds)
        self._begin(job, array, self._waiting(array), now)

    def only(self, job: Job, array: Array, most: int, now: float) -> None:
        """So many tasks at once: as many of those that wait are kept back as are too many now."""
        array.most = most
        spare = self._beyond(array) if array.room < 0 else []
        array.spare = set(spare)
        self._begin(job, array, spare, now)

    def _beyond(self, array: Array) -> list[int]:
        """Those that are too many, the last ones in the order of joining."""
        jobs = self._state.jobs
        found = [
            (job.seq, number)
            for number in array.waiting
            if (job := jobs.get(number)) is not None
            and job.state is JobState.QUEUED
            and not job.kept
            and job.after is None
        ]
        found.sort()
        return [number for _seq, number in found[max(0, len(found) + array.room) :]]

    def _attempting(self, array: Array) -> list[int]:
        """Its tasks in attempts, whose scripts have not started as far as is known."""
        jobs = (self._state.jobs.get(number) for number in array.live.values())
        return [job.id for job in jobs if job is not None and job.state in _BEGINS]

    def _waiting(self, array: Array) -> list[int]:
        """Its tasks that have not started; first those that are to be kept back, so that the others
        need not be."""
        jobs, spare = self._state.jobs, array.spare
        found = [n for n in sorted(array.waiting) if n in jobs and jobs[n].state in _WAITS]
        if spare:
            found.sort(key=lambda number: number not in spare)
        return found

    def _begin(self, job: Job, array: Array, numbers: list[int], now: float) -> None:
        array.owed.update(numbers)
        most = self.take_of_turn(len(numbers))
        for number in numbers[:most]:
            try:
                self._follow(number, now)
            except Exception as error:  # it fails this task, and not its array
                self._saga.containment.contain(number, error, now)
        self._following.add(numbers[most:])
        if array.forget_wishes() or array.owed:
            self._state.outbox.changed(job)

    def restored(self) -> None:
        """After a restart: what is left to do. (Who is kept back is known: see `Arrays`.)"""
        for job in self._state.jobs.values():
            if job.array is not None and job.array.wishes:
                job.array.owed.update(self._left_of(job.array))
                self._following.add(sorted(job.array.owed))

    def _left_of(self, array: Array) -> Iterable[int]:
        pausing = array.pausing
        released = pausing is not None and pausing.value > 0
        if pausing is not None and released:
            self._queues.next_seq = max(self._queues.next_seq, pausing.value + pausing.below)
        attempting = self._attempting(array) if pausing is not None and not released else []
        for number in [*attempting, *self._waiting(array)]:
            task, place = self._state.jobs[number].task, self._state.jobs[number].seq
            done = pausing is not None and released and place == pausing.value + task
            if done and pausing is not None:
                pausing.but.add(task)  # something else may have held it since
            if any(wish.covers(task) for wish in array.wishes):
                yield number

    def changed(self, jobs: Iterable[Job]) -> None:
        """A turn ends, in which these jobs may have changed: an attempt of some has come to nothing
        that could not be undone when their array was held."""
        for job in jobs:
            array = self._state.array_of(job) if job.of and job.state in _WAITS else None
            if array is not None and job.id in array.owed:
                self._following.add([job.id])

    # --- of one of them -----------------------------------------------------------------------

    def apart(self, job: Job, now: float) -> None:
        """Something is asked of one job: if it is a task, what was asked of all tasks before is
        done to it first, and not again."""
        owner, array = self._state.jobs.get(job.of), self._state.array_of(job)
        if owner is None or array is None or job.state not in _WAITS:
            return
        self.follow(job, now)
        for wish in array.wishes:
            wish.but.add(job.task)
            self._state.outbox.changed(owner)

    def _follow(self, number: int, now: float) -> None:
        job = self._state.jobs.get(number)
        if job is not None:
            self.follow(job, now)

    def follow(self, job: Job, now: float) -> None:
        """Do to a task what was asked of all, as far as it still is."""
        owner, array = self._state.jobs.get(job.of), self._state.array_of(job)
        if owner is None or array is None or job.id not in array.owed:
            return
        array.owed.discard(job.id)
        spare = job.id in array.spare
        array.spare.discard(job.id)
        if job.state in _WAITS:
            self._fulfil(job, array, now)
            if spare:
                self._keep_back(job, array, now)
        elif job.state in _BEGINS:
            self._take_out(job, array, now)
        if array.forget_wishes():
            self._state.outbox.changed(owner)

    def _fulfil(self, job: Job, array: Array, now: float) -> None:
        pausing, limiting = array.pausing, array.limiting
        if pausing is not None and pausing.covers(job.task):
            if not pausing.value and job.state is JobState.QUEUED:
                self.hold_one(job, pausing.by, now)
            elif pausing.value and job.state is JobState.HELD:
                self.release_one(job, pausing.by, now, pausing.value + job.task)
        if limiting is not None and limiting.covers(job.task):
            self.limit_one(job, limiting.value, now)

    def _take_out(self, job: Job, array: Array, now: float) -> None:
        pausing = array.pausing
        if pausing is None or pausing.value or not pausing.covers(job.task):
            return
        if not self._saga.rollback.take_out(job, JobState.HELD, f"held by {pausing.by}", now):
            array.owed.add(job.id)  # it is held once its attempt has come to nothing, if it does

    def hold_one(self, job: Job, by: str, now: float) -> None:
        """Take a job that waits out of its queue."""
        self._queues.withdraw(job)
        self._saga.line.leave(job, f"held by {by}", now)
        job.move(JobState.HELD)
        job.reason = f"held by {by}"
        self._state.outbox.note(now, job, "held", by=by)

    def release_one(self, job: Job, by: str, now: float, seq: int | None = None) -> None:
        """Put a job that is held into its queue, at that place; None: at the tail."""
        self._saga.line.leave(job, f"released by {by}", now)
        job.move(JobState.QUEUED)
        job.reason = ""
        self._state.outbox.note(now, job, "released", by=by)
        if seq is None:
            self._queues.requeue(job, now)
        else:
            job.seq, job.queued_at = seq, now
            self._queues.rejoin(job, now)

    def limit_one(self, job: Job, seconds: int, now: float) -> None:
        """Give a job that waits another time limit; in its queue it has its old place."""
        job.time_limit = seconds
        outside = job.after is not None or job.array is not None or job.kept
        if job.state is JobState.QUEUED and not outside:
            self._queues.withdraw(job)
            self._saga.line.leave(job, "its time limit was changed", now)
            self._queues.rejoin(job, now)
        self._state.outbox.changed(job)

    def _keep_back(self, job: Job, array: Array, now: float) -> None:
        if job.state is not JobState.QUEUED or job.kept or job.after is not None:
            return
        self._queues.withdraw(job)
        self._saga.line.leave(job, "fewer tasks of its array are wanted at once", now)
        job.kept = True
        array.kept[job.id] = None
