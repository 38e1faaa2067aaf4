"""How far an array of jobs has come (see `arrays`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from metabroker.submission.dependency import Dependency
from metabroker.submission.tasks import TaskSet

from .states import JobState

_NONE = TaskSet()
_WORSE = (JobState.COMPLETED, JobState.CANCELLED, JobState.TIMEOUT, JobState.FAILED)
"""What becomes of an array is what has become of the worst of its tasks."""


@dataclass(slots=True, eq=False)
class Wish:
    """What its user (`by`) wants of those tasks of an array that wait and have a number below
    `below`: `value` says how much of it. `but`: those of which something else was asked since."""

    by: str
    below: int
    value: int = 0
    but: set[int] = field(default_factory=set)

    def covers(self, task: int) -> bool:
        """Whether it is wanted of that task."""
        return task < self.below and task not in self.but


@dataclass(slots=True, eq=False)
class Array:
    """`next`: all tasks below it were made, or cancelled before; `made`: how many; `cancelled`:
    those that never were; `worst` and `exit_code`: of those that have ended; `ending`: tasks that
    are jobs, and that somebody has cancelled; `each`: what each task waits for by itself (see
    `corresponding`). `live`: jobs of tasks, by the tasks' numbers; `waiting`: those that were not
    started; of these `held` ones, which may wait for other jobs instead, and `kept` ones, which
    were held and wait for their turn among the `most`; `told`: what was last written of its tasks'
    ends and starts.

    Of what was asked of the whole array, and is done to some tasks in each turn (see
    `whole_arrays`): `pausing`, to hold them (value 0), or to release them (value: the place in the
    order of joining of a task of number 0); `limiting`, to give them another time limit (value, in
    seconds); None: that is done. `owed`: jobs to which it is still to be done; `spare`: those of
    them that are to wait for their turn among the `most`."""

    tasks: TaskSet
    most: int = 0
    next: int = 0
    made: int = 0
    cancelled: TaskSet = _NONE
    worst: JobState = JobState.COMPLETED
    exit_code: int = 0
    ending: TaskSet = _NONE
    each: Dependency | None = None
    live: dict[int, int] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    kept: dict[int, None] = field(default_factory=dict)
    told: tuple[object, ...] = ()
    pausing: Wish | None = None
    limiting: Wish | None = None
    owed: set[int] = field(default_factory=set)
    spare: set[int] = field(default_factory=set)

    @property
    def left(self) -> TaskSet:
        """Tasks that are no jobs yet, and will be."""
        return self.tasks.from_(self.next) - self.cancelled.from_(self.next)

    def left_of(self, wanted: TaskSet) -> TaskSet:
        """Those of these that are left: it costs what is wanted, and not what there is."""
        few = wanted.from_(self.next)
        return TaskSet.of(t for t in few if t in self.tasks and t not in self.cancelled)

    @property
    def count(self) -> int:
        """How many these are."""
        return len(self.tasks.from_(self.next)) - len(self.cancelled.from_(self.next))

    @property
    def room(self) -> int:
        """How many tasks more may be under way; one that is held is not."""
        under_way = len(self.live) - len(self.held) - len(self.kept)
        return self.most - under_way if self.most else 1

    @property
    def begun(self) -> bool:
        """Whether all of its tasks have started, or were cancelled."""
        return not self.waiting and self.coming() is None

    @property
    def wishes(self) -> list[Wish]:
        """What was asked of all its tasks, and is not done to each yet."""
        return [wish for wish in (self.pausing, self.limiting) if wish is not None]

    def forget_wishes(self) -> bool:
        """Whether there were some, all of which are fulfilled."""
        done = bool(self.wishes) and not self.owed
        if done:
            self.pausing = self.limiting = None
        return done

    def owes(self, job: int, task: int) -> bool:
        """Whether something that was asked before is still to be done to this task of it."""
        return job in self.owed or task in self.ending

    def coming(self) -> int | None:
        """The next task to be made."""
        number = self.tasks.first_from(self.next)
        while number is not None and number in self.cancelled:
            self.next = number + 1
            number = self.tasks.first_from(self.next)
        return number

    def cancel(self, gone: TaskSet) -> None:
        """These, which are left, will not be made."""
        if gone:
            self.cancelled |= gone
            self.ends(JobState.CANCELLED, None)

    def ends(self, state: JobState, exit_code: int | None) -> None:
        """A task has ended in that state."""
        self.worst = max(self.worst, state, key=_WORSE.index)
        self.exit_code = max(self.exit_code, exit_code or 0)
