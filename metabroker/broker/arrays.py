"""Arrays of jobs: one job with many tasks, which become jobs of their own as they may be started.

An array is a job that is QUEUED (or HELD) in no queue until all of its tasks have ended. Of those
tasks that wait so many at most are jobs (`Settings.array_ahead`), and so many at most are under way
as its user wants (`%k`); one that is held does not count, and has to wait for its turn when it is
released. Each has its place in the order of joining from the array, so who came
after the array stays behind all of its tasks. A policy sees ordinary jobs.

Tasks are made in their order, one by one, some in each turn (`Backlog`). A task's row is written
together with its array's, which says how far that has come: after a crash none is lost, and none is
made twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from metabroker.submission.dependency import Named

from .array import Array
from .backlog import Contain
from .dependencies import Dependencies
from .events import Outcome
from .job import Job
from .queues import Queues
from .state import BrokerState
from .states import IN_ATTEMPT, JobState


class Arrays:
    """Makes tasks of arrays, and ends arrays."""

    def __init__(
        self,
        state: BrokerState,
        queues: Queues,
        dependencies: Dependencies,
        contain: Contain,
    ) -> None:
        """`contain` fails a job of which something cannot be handled."""
        self._state = state
        self._queues = queues
        self._corresponding = dependencies.corresponding
        self._dependencies = dependencies
        self._contain = contain
        self._looking = state.backlog.line(self._look)

    def restored(self, ended: Iterable[tuple[int, JobState, int | None]]) -> None:
        """After a restart: who belongs to whom. `ended`: of which arrays tasks have ended, in which
        states, with exit codes of at most so much."""
        jobs = self._state.jobs
        for number, state, exit_code in ended:
            array = jobs[number].array if number in jobs else None
            if array is not None:
                array.ends(state, exit_code)
        for job in jobs.values():
            owner = jobs.get(job.of) if job.of else None
            if owner is not None and owner.array is not None:
                owner.array.live[job.task] = job.id
                if _aside(job):
                    owner.array.held.add(job.id)
        for job in jobs.values():
            if job.array is not None and job.array.room < 0:
                self._keep_again(job.array)
        self.changed([job for job in jobs.values() if job.array is not None or job.of])

    def _keep_again(self, array: Array) -> None:
        """Those had been held, and waited for their turn, which came to their queues last."""
        jobs = self._state.jobs
        found = [jobs[number] for number in array.live.values()]
        found = [job for job in found if job.state is JobState.QUEUED and not job.line]
        found = [job for job in found if not _aside(job)]
        found.sort(key=lambda job: job.seq)
        for job in found[max(0, len(found) + array.room) :]:
            self._queues.withdraw(job)
            job.kept = True
            array.kept[job.id] = None

    def look_again(self) -> None:
        """Tasks may be made now."""
        jobs = self._state.jobs.values()
        self._looking.add([job.id for job in jobs if job.array is not None])

    def changed(self, jobs: Collection[Job]) -> None:
        """A turn ends, in which these jobs may have changed: more tasks may be made in the next
        ones."""
        self._looking.add(self._corresponding.changed(jobs))
        self._looking.add(self._dependencies.terms.room_again())
        for job in jobs:
            if job.array is not None and not job.state.ended:
                self._looking.add([job.id])
            owner = self._state.jobs.get(job.of) if job.of else None
            if owner is None or owner.array is None:
                continue
            array = owner.array
            if _aside(job):
                array.held.add(job.id)
            else:
                array.held.discard(job.id)
            if job.state is not JobState.QUEUED:
                array.kept.pop(job.id, None)
                job.kept = False
            if job.state is JobState.QUEUED or job.state is JobState.HELD:
                array.waiting.add(job.id)
                self._looking.add([owner.id] * bool(array.most or array.each))
                continue
            array.waiting.discard(job.id)
            if job.state not in IN_ATTEMPT or job.state is JobState.RUNNING:  # else it may be held
                array.owed.discard(job.id)
            if job.state.ended and array.live.pop(job.task, None) is not None:
                array.ends(job.state, job.exit_code)
            self._looking.add([owner.id])

    def _look(self, number: int, now: float) -> None:
        """Make a task, or end the array, if it may be."""
        job = self._state.jobs.get(number)
        if job is None or job.array is None:
            return
        array = job.array
        if array.forget_wishes():
            self._state.outbox.changed(job)
        task, told = array.coming(), (array.worst, array.exit_code, array.begun)
        if array.kept and array.room > 0:
            self._let_go(array, now)
            self._looking.add([number])
        elif task is None and not array.live:
            self._end(job, array, now)
        elif task is not None and self._may_make(job, array) and self._ready(array, task):
            self._make(job, array, task, now)
            self._looking.add([number])
        elif told != array.told:
            array.told = told
            self._state.outbox.changed(job)

    def _may_make(self, job: Job, array: Array) -> bool:
        """No number is given while the broker starts."""
        waits = job.state is not JobState.QUEUED or job.after is not None
        if waits or self._state.first_polls.wait or not self._dependencies.terms.room(job):
            return False
        waiting = len(array.waiting) - len(array.held)
        return array.room > 0 and waiting < self._state.settings.array_ahead

    def _ready(self, array: Array, task: int) -> bool:
        return array.each is None or self._corresponding.ready(array.each, task)

    def _let_go(self, array: Array, now: float) -> None:
        """The first that was held may join a queue now."""
        number = next(iter(array.kept))
        del array.kept[number]
        job = self._state.jobs.get(number)
        if job is None or not job.kept:
            return
        job.kept = False
        if job.state is not JobState.QUEUED:  # it was held again, in this very turn
            return
        try:
            self._queues.rejoin(job, now)
        except Exception as error:
            self._contain(number, error, now, None)

    def _make(self, job: Job, array: Array, task: int, now: float) -> None:
        state = self._state
        made = Job(
            id=state.next_job,
            user=job.user,
            name=job.name,
            request=job.request,
            time_limit=job.time_limit,
            submit_time=job.submit_time,
            queue=0,
            local=job.local,
            home=job.home,
            seq=job.seq + 1 + array.made,
            queued_at=job.queued_at,
            shape=job.shape,
            stages_in=job.stages_in,
            stages_out=job.stages_out,
            closed=job.closed,
            closed_to_come=job.closed_to_come,
            excluded=job.closed,
            max_latency=job.max_latency,
            split=job.split,
            inputs=job.inputs,
            nodes=job.nodes,
            of=job.id,
            task=task,
        )
        state.next_job += 1
        state.jobs[made.id] = made
        array.next, array.made = task + 1, array.made + 1
        array.live[task] = made.id
        array.waiting.add(made.id)
        state.outbox.changed(job)
        state.outbox.note(now, made, "submitted", user=job.user, array=job.id, task=task)
        try:
            self._join(made, array, now)
        except Exception as error:
            self._contain(made.id, error, now, None)

    def _join(self, made: Job, array: Array, now: float) -> None:
        ended: Mapping[Named, Outcome] = {}
        if array.each is not None:
            made.after, ended = self._corresponding.of_task(array.each, made.task)
        self._queues.rejoin(made, now)
        self._dependencies.begin(made, ended, now)
        if _aside(made):
            array.held.add(made.id)

    def _end(self, job: Job, array: Array, now: float) -> None:
        state = JobState.FAILED if array.worst is JobState.TIMEOUT else array.worst
        job.move(state)
        job.end_time, job.exit_code = now, array.exit_code
        job.reason = "" if state is JobState.COMPLETED else f"a task is {array.worst.value}"
        self._state.outbox.note(now, job, state.value.lower(), exit_code=array.exit_code)
        self._queues.ended(job)


def _aside(job: Job) -> bool:
    """Whether a task that was not started takes nobody's turn: it is held, or waits for others."""
    return job.state is JobState.HELD or (job.state is JobState.QUEUED and job.after is not None)
