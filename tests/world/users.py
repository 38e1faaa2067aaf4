"""Users: they submit, cancel, hold and release; and what they are told must be so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from metabroker.broker.array import Array
from metabroker.broker.events import CancelJob, ChangeJob, Event, HoldJob, ReleaseJob
from metabroker.broker.job import Job
from metabroker.broker.rejected import Rejected
from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref
from metabroker.runtime.asked import Ask, AskToSubmit
from metabroker.runtime.requests import spec_of

from .accounts import accounts_of
from .arrays import ONE, OTHERS, RELEASED_AFTER, SOME, SOME_TASKS, one_that_waits, owner
from .cancelled import CancelledArrays
from .dependencies import asked
from .joining import to_join
from .oracle import Violation
from .requests import submission_of
from .scenario import LED, JobPlan

if TYPE_CHECKING:
    from .world import World

_ACTIONS: dict[str, Callable[[int, str], Event]]
_ACTIONS = {
    "cancel": CancelJob,
    "hold": HoldJob,
    "release": ReleaseJob,
    SOME: lambda job, by: CancelJob(job, by, SOME_TASKS),
}
_SOON = 1.0  # seconds after which it is looked again whether a job's number is known
_AGAIN = 7.0  # seconds after which who was not answered asks again


class Users:
    """All users of a world. `acknowledged`: the job that each plan has become."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.acknowledged: dict[int, int] = {}
        self.refused: set[int] = set()
        self.asked_to_cancel: set[int] = set()  # jobs, or arrays
        self.cancelled_at: dict[int, float] = {}  # when that was acknowledged, of single jobs
        self._cancelled: dict[int, int] = {}  # job -> its attempt then
        self._held: dict[int, int] = {}  # the same, until somebody releases it
        self._made: dict[int, set[int]] = {}  # of held arrays: the tasks that were jobs then
        self._let_go: dict[int, int] = {}  # job -> the last request by which it is to be released
        self._requests = 0  # so many requests have been made
        self.arrays = CancelledArrays(self._cancelled)
        self._done: set[tuple[int, str]] = set()  # whims

    @property
    def all_answered(self) -> bool:
        """Whether each submission has become a job, or was refused."""
        return len(self.acknowledged) + len(self.refused) == len(self._world.scenario.jobs)

    def submit(self, index: int) -> None:
        """A user submits, again and again with the same request id, until it is acknowledged."""
        world = self._world
        if index in self.acknowledged or index in self.refused:
            return
        dependency, joins = asked(world, index), to_join(world, index)
        if dependency == "" or joins is None:
            world.at(world.now + _SOON, lambda: self.submit(index))
            return
        host = world.hosts[0] if world.hosts[0].alone else world.rng.choice(world.hosts)
        host.ask(self._asked(index, world.scenario.jobs[index], dependency, joins))
        world.at(world.now + _AGAIN, lambda: self.submit(index))

    def _asked(self, index: int, plan: JobPlan, dependency: str | None, joins: int) -> AskToSubmit:
        submission = submission_of(index, plan, dependency, joins)

        def answer(outcome: int | Exception) -> None:
            if isinstance(outcome, Rejected):
                self.refused.add(index)
                self._world.tell(f"submission {index} refused: {outcome.message}")
            elif isinstance(outcome, int):
                self._world.joining.told(outcome, joins)
                self._told_job(index, outcome)
            if index in self.refused and index in self.acknowledged:
                raise Violation(f"P1: submission {index} was refused, and acknowledged")

        clusters = {name: its.accounts for name, its in self._world.by_name.items()}
        spec = spec_of(submission, accounts_of(clusters, plan.user))
        return AskToSubmit(submission, plan.user, None, plan.limit, spec, answer)

    def _told_job(self, index: int, job: int) -> None:
        self._world.back.given(index, job)
        known = self.acknowledged.setdefault(index, job)
        if known != job:
            raise Violation(f"P1: submission {index} became jobs {known} and {job}")
        plan = self._world.scenario.jobs[index]
        for delay, action in plan.actions:
            when = max(self._world.now, self._world.began + plan.at + delay)
            self._world.at(when, partial(self.act, action, job))

    def heard(self, job: int, event: str) -> None:
        """Something of a job was written, which its user has waited for, maybe."""
        index = next((i for i, number in self.acknowledged.items() if number == job), None)
        whims = () if index is None else self._world.scenario.jobs[index].whims
        for wanted, action, delay in whims:
            if wanted == event and (job, action) not in self._done:
                self._done.add((job, action))
                self._world.at(self._world.now + delay, partial(self.act, action, job))

    def led(self) -> None:
        """A broker has begun to lead."""
        for number in self.acknowledged.values():
            self.heard(number, LED)

    def act(self, action: str, job: int) -> None:
        """A user asks for something to be done with a job."""
        life = self._world.life
        if life is None:
            return

        if action == ONE:
            task = one_that_waits(self._world, job)
            if task is not None:
                self.act("hold", task)
                when = self._world.now + RELEASED_AFTER
                self._world.at(when, partial(self.act, "release", task))
            return

        if action in ("cancel", SOME):
            self.asked_to_cancel.add(job)
        self._requests += 1
        request = self._requests

        def answer(outcome: int | Exception) -> None:
            if isinstance(outcome, int):
                self._told(action, request, life.engine.broker.view.jobs.get(job), job)

        if action == "release":
            self._let_go[job] = request
            self._released(job)
        if action == OTHERS:
            found = life.engine.broker.view.jobs.get(job)
            if found is not None:
                most = None if found.array is None else 0
                life.post(Ask(ChangeJob(job, "u", found.time_limit, most), job, answer))
            return
        life.post(Ask(_ACTIONS[action](job, "u"), job, answer))
        self._world.tally.add(f"user {action}")

    def _told(self, action: str, request: int, job: Job | None, number: int) -> None:
        """It is durable. (An answer may come late: what was asked for since may have been done.)"""
        if job is not None and job.array is not None and action in ("cancel", SOME):
            tasks = None if action == "cancel" else SOME_TASKS
            self.arrays.told(job, tasks, self._world.now)
            return
        if action == "cancel":
            self._cancelled.setdefault(number, 0 if job is None else job.attempt)
            self.cancelled_at.setdefault(number, self._world.now)
        since = (self._let_go.get(each, 0) for each in (number, owner(self._world, number)))
        let_go = max(since) > request
        if action == "hold" and job is not None and job.state is JobState.HELD and not let_go:
            self._held[number] = 0  # it is in no attempt, and comes into none
            if job.array is not None:
                self._held_tasks(number, job.array, request)
        if action == "release":  # asked for, maybe, before the answer to a hold had come
            self._released(number)

    def _held_tasks(self, number: int, array: Array, request: int) -> None:
        """None of an array's tasks that wait starts, nor one that is no job yet; whenever it is
        their turn to be held."""
        life = self._world.life
        jobs = {} if life is None else life.engine.broker.view.jobs
        self._made[number] = set(array.live.values())
        for task in (jobs[each] for each in array.live.values() if each in jobs):
            waits = task.state is JobState.QUEUED or task.state is JobState.HELD
            if waits and self._let_go.get(task.id, 0) <= request:
                self._held[task.id] = 0

    def _released(self, job: int) -> None:
        """It may start; of an array each of its tasks."""
        self._made.pop(job, None)
        self._held = {k: v for k, v in self._held.items() if owner(self._world, k) != job != k}

    def wants(self, ref: Ref) -> bool:
        """Whether a start of it is not against what its user was told."""
        of = self._world.back.store_of(ref).jobs.task(ref.job)
        if of is not None and not self.arrays.may_start(*of, ref.job):
            return False
        if of is not None and ref.job not in self._made.get(of[0], (ref.job,)):
            return False
        most = [told[ref.job] for told in (self._cancelled, self._held) if ref.job in told]
        return ref.attempt <= min(most, default=ref.attempt)

    def has_cancelled(self, job: int) -> bool:
        """Whether a user was told that it would be."""
        return job in self._cancelled

    def ended(self, job: int, state: JobState) -> None:
        """A job has ended in that state.

        Raises:
            Violation: it was cancelled, which was acknowledged, and is neither that nor COMPLETED.
        """
        if job in self._cancelled and state not in (JobState.CANCELLED, JobState.COMPLETED):
            raise Violation(f"job {job} was cancelled, and is {state.value}")
