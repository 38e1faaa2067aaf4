"""What users and administrators ask of jobs: submit, cancel, hold, release, abandon."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from metabroker.submission.dependency import Named
from metabroker.submission.tasks import MOST_RANGES, TaskSet

from .array import Array
from .dependencies import Dependencies
from .events import AbandonJob, CancelJob, ChangeJob, HoldJob, Outcome, ReleaseJob, SubmitJob
from .job import Goal, Job, NewJob
from .joining import Joining
from .queues import Queues
from .rejected import Rejected
from .resource_limits import Beyond, Standing, Usage, refused
from .saga import Saga
from .state import BrokerState
from .states import IN_ATTEMPT, JobState
from .whole_arrays import WholeArrays

_LONGEST_TOLD = 200  # characters


class Requests:
    """Carries them out. Each raises `Rejected`, with nothing changed, where that cannot be done."""

    def __init__(
        self, state: BrokerState, queues: Queues, saga: Saga, dependencies: Dependencies
    ) -> None:
        self._state = state
        self._queues = queues
        self._saga = saga
        self._dependencies = dependencies
        self._standing: Standing | None = None  # counted since there are limits
        self._cancelling = state.backlog.line(self._cancel_task)
        self._whole_arrays = WholeArrays(state, queues, saga)
        self._joining = Joining(state, queues, saga, dependencies, self.cancel)
        self._counted = False  # in this turn, as far as it has come

    def check_limits(self, new: NewJob) -> None:
        """Raises `Rejected` where a new job is beyond a configured limit, or joins one that it
        cannot join."""
        self._joining.check(new)
        self._dependencies.terms.check(new)
        held_back = self._queues.held_back
        if not held_back.limits.of_jobs:
            self._standing = None
            return
        if self._standing is None:
            self._standing = Standing(self._state.jobs.values())
        if not self._counted:
            self._counted = True
            self._standing.update(self._state.outbox.jobs.values())
        queue = self._queues.queue_of(new)
        beyond = held_back.refusal(new, queue, self._standing.count) or self._too_heavy(new, queue)
        if beyond is not None:
            raise refused(beyond, new, self._state.settings.clusters)

    def _too_heavy(self, new: NewJob, queue: int) -> Beyond | None:
        """The limit that a new job is beyond wherever the policy could start it."""
        heavy = self._queues.held_back.too_heavy(new, queue, Usage(), certain=True)
        can_join = self._queues.can_join
        if not heavy or not can_join(new, frozenset()) or can_join(new, frozenset(heavy)):
            return None
        return min(heavy.values(), key=lambda beyond: beyond.held)

    def count(self, changed: Collection[Job]) -> None:
        """A turn ends, in which these jobs may have changed."""
        self._counted = False
        self._whole_arrays.turn_ends()
        self._whole_arrays.changed(changed)
        if self._standing is not None:
            self._standing.update(changed)
        self._joining.changed(changed)

    def before_pass(self, now: float) -> None:
        """The policy is about to decide."""
        self._joining.before_pass(self._state.outbox.jobs, now)

    def submit(self, event: SubmitJob, now: float) -> None:
        """A new job."""
        new, state = event.job, self._state
        self.check_limits(new)
        self._dependencies.check(new.after, event.ended)
        after, each = new.awaits, None
        if new.array is not None:
            after, each = self._dependencies.corresponding.split(after, event.ended)
        job = Job(
            id=state.next_job,
            user=new.user,
            name=new.name,
            request=new.request,
            time_limit=new.time_limit,
            submit_time=now,
            queue=0,
            local=new.local,
            home=new.home,
            shape=new.shape,
            stages_in=new.stages_in,
            stages_out=new.stages_out,
            closed=new.closed,
            excluded=new.closed,
            after=after,
            max_latency=new.max_latency,
            split=new.split,
            inputs=new.inputs,
            joins=new.joins,
            nodes=new.nodes,
            array=None if new.array is None else Array(new.array.tasks, new.array.most, each=each),
            state=JobState.HELD if new.hold else JobState.QUEUED,
        )
        state.next_job += 1
        state.jobs[job.id] = job
        waits: dict[str, Any] = {} if new.after is None else {"dependency": str(new.after)}
        waits |= {} if new.array is None else {"array": str(new.array)}
        waits |= {"joins": new.joins} if new.joins else {}
        state.outbox.note(now, job, "submitted", user=new.user, hold=new.hold, **waits)
        try:
            self._enqueue(job, new, event.ended, now)
        except Exception as error:
            self._saga.containment.contain(job.id, error, now)
        if self._standing is not None:
            self._standing.update((job,))

    def _enqueue(self, job: Job, new: NewJob, ended: Mapping[Named, Outcome], now: float) -> None:
        if new.hold:
            job.queue = self._queues.queue_of(new)
            job.reason = f"held by {new.user} at submission"
        else:
            self._queues.requeue(job, now)
        self._dependencies.begin(job, ended, now)
        self._joining.begin(job)

    def cancel(self, event: CancelJob, now: float) -> None:
        """End it, whatever it is doing."""
        job = self._known(event.job)
        if job.array is not None:
            self._cancel_tasks(job, job.array, event, now)
            return
        reason = f"cancelled by {event.by}"
        self._state.outbox.note(now, job, "cancel", by=event.by)
        job.by = event.by
        if job.state in (JobState.QUEUED, JobState.HELD):
            self._queues.withdraw(job)
            self._saga.line.leave(job, reason, now)
            job.move(JobState.CANCELLED)
            job.reason = reason
            job.end_time = now
            self._state.outbox.note(now, job, "cancelled", why=reason)
            self._queues.ended(job)
        elif not self._saga.rollback.take_out(job, JobState.CANCELLED, reason, now):
            job.reason = f"{reason}; waits until its clusters have ended it"
            self._saga.completion.finish(job, Goal.CANCEL, now)

    def _cancel_tasks(self, job: Job, array: Array, event: CancelJob, now: float) -> None:
        """What was not made never will be; what was, ends. The array ends when nothing is left."""
        wanted = array.tasks if event.tasks is None else event.tasks
        gone = array.left if event.tasks is None else array.left_of(wanted)
        ranges = len(array.cancelled.ranges) + len(gone.ranges)
        if event.tasks is not None and ranges > MOST_RANGES:  # all that is left ends in few
            raise Rejected(f"too many tasks of job {job.id} are cancelled one by one", "use ranges")
        jobs = self._state.jobs
        found = [number for task, number in array.live.items() if task in wanted and number in jobs]
        if not gone and not found:
            raise Rejected(
                f"job {job.id} has no such tasks any more", f"see: metabroker show {job.id}"
            )
        array.cancel(gone)
        job.by = event.by
        told = "all" if event.tasks is None else str(event.tasks)[:_LONGEST_TOLD]
        self._state.outbox.note(now, job, "cancel", by=event.by, tasks=told)
        ending = array.ending
        array.ending = TaskSet.of(t for t in array.live if t in ending or t in wanted)
        found.sort(key=lambda number: number not in array.waiting)  # none of these starts any more
        most = self._whole_arrays.take_of_turn(len(found))
        for number in found[:most]:
            self._cancel_task(number, now)
        self._cancelling.add(found[most:])

    def _cancel_task(self, number: int, now: float) -> None:
        job = self._state.jobs.get(number)
        owner = self._state.jobs.get(job.of) if job is not None else None
        if job is None or owner is None:
            return
        self.cancel(CancelJob(number, owner.by), now)

    def catch_up(self, job: Job, now: float) -> None:
        """The job would start now, but something that was asked of its whole array is to be done
        to it before."""
        array = self._state.array_of(job)
        if array is not None and job.task in array.ending:
            self._cancel_task(job.id, now)
        else:
            self._whole_arrays.follow(job, now)

    def restored(self) -> None:
        """After a restart: who has joined whom; of arrays what was being cancelled still is, and
        what else was asked of all their tasks is still done."""
        self._whole_arrays.restored()
        for job in self._state.jobs.values():
            self._joining.begin(job)
            if job.array is not None and job.array.ending:
                live, ending = job.array.live, job.array.ending
                self._cancelling.add([number for task, number in live.items() if task in ending])

    def hold(self, event: HoldJob, now: float) -> None:
        """Take it out of its queue, or out of an attempt that can still be undone."""
        job = self._known(event.job)
        if job.array is not None:
            self._whole_arrays.hold(job, job.array, event.by, now)
        self._whole_arrays.apart(job, now)
        if job.state is JobState.HELD:
            return
        reason = f"held by {event.by}"
        if job.state is JobState.QUEUED:
            self._whole_arrays.hold_one(job, event.by, now)
        elif not self._saga.rollback.take_out(job, JobState.HELD, reason, now):
            raise Rejected(
                f"job {job.id} is {job.state.value}: only a job that has not started can be held",
                f"cancel it with: metabroker cancel {job.id}",
            )

    def release(self, event: ReleaseJob, now: float) -> None:
        """Put a held job at its queue's tail."""
        job = self._known(event.job)
        if job.array is not None:
            self._whole_arrays.release(job, job.array, event.by, now)
        self._whole_arrays.apart(job, now)
        if job.state is JobState.QUEUED:
            return
        if job.state is not JobState.HELD:
            raise Rejected(f"job {job.id} is {job.state.value}, not HELD", "nothing to release")
        self._whole_arrays.release_one(job, event.by, now)

    def change(self, event: ChangeJob, now: float) -> None:
        """Give it other limits."""
        job, most, seconds = self._known(event.job), event.most, event.time_limit
        if most is not None and job.array is None:
            raise Rejected(f"job {job.id} is no array", f"see: metabroker show {job.id}")
        if seconds is not None and job.state not in (JobState.QUEUED, JobState.HELD):
            raise Rejected(
                f"job {job.id} is {job.state.value}: only the time limit of a job that waits can "
                "be changed",
                f"see: metabroker show {job.id}",
            )
        if job.array is not None and most is not None:
            self._whole_arrays.only(job, job.array, most, now)
        if job.array is not None and seconds is not None:
            self._whole_arrays.limit(job, job.array, event.by, seconds, now)
        if seconds is not None:
            self._whole_arrays.apart(job, now)
            self._whole_arrays.limit_one(job, seconds, now)
        told = {"time_limit": seconds, "most": most}
        given = {key: value for key, value in told.items() if value is not None}
        self._state.outbox.note(now, job, "changed", by=event.by, **given)

    def abandon(self, event: AbandonJob, now: float) -> None:
        """A job that waits, or has ended, goes on as it is, without what it has left behind."""
        job = self._state.jobs.get(event.job)
        attempting = job is not None and job.state in IN_ATTEMPT
        told = self._saga.containment.write_off(event.job, event.by, now)
        if not told and not attempting:
            raise Rejected(
                f"nothing of job {event.job} is in a cluster",
                f"see: metabroker show {event.job}",
            )
        if job is not None and not attempting:
            self._state.outbox.note(now, job, "abandoned", by=event.by, left=told)

    def _known(self, number: int) -> Job:
        job = self._state.jobs.get(number)
        if job is None:
            raise Rejected(
                f"job {number} is not known or has ended",
                f"see: metabroker show {number}",
                missing=True,
            )
        return job
