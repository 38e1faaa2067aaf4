"""Arrays whose tasks wait for the tasks of the same numbers of other arrays (`aftercorr`).

Such an array waits as a whole for all else that it depends on. A task of it becomes a job as soon
as the tasks of its number are jobs, or have ended, and then waits for these by itself: so what
waits are as many jobs as are under way in the other array. A task that the other array does not
have waits for all of that array, as in Slurm.

What has become of tasks is known here from the moment in which somebody waits for them: from the
driver those that had ended before, from each turn the others. The term itself is stored with the
array (`Array.each`), and a task's own dependency with the task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from metabroker.submission.dependency import Dependency, Named, Term, When

from .events import Outcome
from .job import Job
from .rejected import Rejected
from .state import BrokerState
from .states import JobState


@dataclass(slots=True)
class _Other:
    """A job that tasks of arrays wait for, of these `waiters`; and which of its tasks have `ended`
    (-1: all of it)."""

    waiters: set[int] = field(default_factory=set)
    ended: dict[int, Outcome] = field(default_factory=dict)


class Corresponding:
    """Who corresponds to whom, and what has become of the others' tasks."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        self._others: dict[int, _Other] = {}

    def split(
        self, wanted: Dependency | None, ended: Mapping[Named, Outcome]
    ) -> tuple[Dependency | None, Dependency | None]:
        """Of what a new array depends on: what it waits for as a whole, and what each of its tasks
        does. Raises `Rejected`."""
        if wanted is None:
            return None, None
        terms = [self._of_array(term, ended) for term in wanted.terms]
        each = [term for term in terms if term.when is When.CORRESPONDING]
        whole = [term for term in terms if term.when is not When.CORRESPONDING]
        if not each:
            return wanted, None
        if wanted.either and Term(When.SINGLETON) in terms:
            raise Rejected("aftercorr?singleton: a task is never the only one", "leave one out")
        if wanted.either:
            return None, replace(wanted, terms=tuple(terms))
        rest = replace(wanted, terms=tuple(whole)) if whole else None
        return rest, replace(wanted, terms=tuple(each))

    def _of_array(self, term: Term, ended: Mapping[Named, Outcome]) -> Term:
        """Which task is named makes no difference (as in Slurm); with a job that is no array it is
        waited for that it ends well."""
        if term.when is not When.CORRESPONDING:
            return term
        job, outcome = self._state.jobs.get(term.job), ended.get(Named(term.job))
        if (job is not None and job.array is not None) or (outcome is not None and outcome.array):
            return Term(When.CORRESPONDING, term.job)
        return term._replace(when=When.OK)

    def begin(self, job: Job, ended: Mapping[Named, Outcome]) -> None:
        """An array that is new, or there after a restart. `ended`: of those that it names."""
        if job.array is None or job.array.each is None:
            return
        for other in job.array.each.jobs:
            found = self._others.setdefault(other, _Other())
            found.waiters.add(job.id)
            found.ended |= {
                named.task: outcome for named, outcome in ended.items() if named.job == other
            }

    def changed(self, jobs: Iterable[Job]) -> set[int]:
        """A turn ends, in which these jobs may have changed: the arrays that may have a task to
        make."""
        found: set[int] = set()
        for job in jobs if self._others else ():
            for number, task in ((job.of, job.task), (job.id, -1)):
                other = self._others.get(number)
                if other is not None:
                    found |= other.waiters
                    if job.state.ended:
                        other.ended[task] = Outcome.of(job)
            if job.array is not None and job.array.each is not None and job.state.ended:
                self._forget(job, job.array.each)
        return found

    def _forget(self, job: Job, each: Dependency) -> None:
        for number in each.jobs:
            other = self._others.get(number)
            if other is not None:
                other.waiters.discard(job.id)
                if not other.waiters:
                    del self._others[number]

    def ready(self, each: Dependency, task: int) -> bool:
        """Whether a task of an array may be a job, to wait for what each of them does."""
        for number in each.corresponding:
            job = self._state.jobs.get(number)
            array = None if job is None else job.array
            if array is not None and (task not in array.tasks or task >= array.next):
                return False
        return True

    def of_task(self, each: Dependency, task: int) -> tuple[Dependency, dict[Named, Outcome]]:
        """What a task waits for, and what has become of that, as far as it has ended."""
        terms = tuple(
            term._replace(task=self._which(term.job, task))
            if term.when is When.CORRESPONDING
            else term
            for term in each.terms
        )
        ended = {}
        for term in terms:
            other = self._others.get(term.job)
            outcome = None if other is None else other.ended.get(term.task)
            if outcome is None and term.when is When.CORRESPONDING:
                outcome = self._not_kept(term)
            if outcome is not None:
                ended[term.named] = outcome
        return replace(each, terms=terms), ended

    def _not_kept(self, term: Term) -> Outcome | None:
        """Of what has ended, and is kept no more: well only where no task of its array has failed.
        None: it has not ended."""
        job = self._state.jobs.get(term.job)
        if job is None or job.array is None:
            return Outcome(JobState.FAILED, 0.0)
        array, task = job.array, term.task
        over = 0 <= task < array.next and task not in array.live and task not in array.cancelled
        well = array.worst is JobState.COMPLETED
        return Outcome(JobState.COMPLETED if well else JobState.FAILED, 0.0) if over else None

    def _which(self, number: int, task: int) -> int:
        """The task of an array that corresponds to one of another; -1: it has none."""
        job, other = self._state.jobs.get(number), self._others.get(number)
        if job is not None and job.array is not None:
            return task if task in job.array.tasks else -1
        return task if other is not None and task in other.ended else -1
