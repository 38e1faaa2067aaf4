"""Arrays of which all tasks, or some, were cancelled: what must be so once their user was told."""

from __future__ import annotations

from metabroker.broker.core import Broker
from metabroker.broker.job import Goal, Job
from metabroker.submission.tasks import TaskSet

from .oracle import Violation

_BOUND = 30.0  # seconds in which each task is being ended, once a broker is able to act


class CancelledArrays:
    """What users were told. A cancel reaches an array's tasks one by one, some in each turn: those
    that were jobs when it was answered may still start, and end by themselves, for a while."""

    def __init__(self, cancelled: dict[int, int]) -> None:
        """`cancelled` learns of jobs that a broker was seen to end, and of their attempt then."""
        self._cancelled = cancelled
        self._gone: dict[int, TaskSet] = {}  # by arrays: tasks that are cancelled
        self._then: dict[int, dict[int, float]] = {}  # by arrays: their jobs then; since when

    def told(self, job: Job, tasks: TaskSet | None, now: float) -> None:
        """The cancel of these tasks, or of all (None), is durable."""
        assert job.array is not None
        gone = job.array.tasks if tasks is None else tasks
        self._gone[job.id] = self._gone.get(job.id, TaskSet()) | gone
        then = self._then.setdefault(job.id, {})
        for task, number in job.array.live.items():
            if task in gone:
                then.setdefault(number, now)

    def may_start(self, array: int, task: int, job: int) -> bool:
        """Whether a task's job may start, for all that its user was told."""
        return task not in self._gone.get(array, ()) or job in self._then[array]

    def in_time(self, broker: Broker, now: float, able_since: float) -> None:
        """Each of them has ended, or is being ended.

        Raises:
            Violation: not so, and it should be by now.
        """
        jobs = broker.view.jobs
        for array, then in self._then.items():
            for number, since in then.items():
                job = jobs.get(number)
                if job is not None and job.goal is Goal.CANCEL:
                    self._cancelled.setdefault(number, job.attempt)
                elif job is not None and not job.goal and now > max(since, able_since) + _BOUND:
                    what = f"task {job.task} of array {array} was cancelled at {since}"
                    raise Violation(f"{what}, and its job {number} is {job.state.value}")
