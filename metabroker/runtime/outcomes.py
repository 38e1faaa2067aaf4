"""What has become of the jobs that a new one depends on, of those that have ended.

An array of 100,000 tasks may wait for as many of another one. Most of that is read where a user
asks, and not in the core's thread; there only what has ended since is asked for. And no task is
named that cannot have ended, nor any before it is known that the jobs are there: what is refused,
or only tried, costs little.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from metabroker.broker.events import Outcome
from metabroker.broker.job import Job
from metabroker.store.job_queries import JobQueries
from metabroker.submission.dependency import Dependency, Named
from metabroker.submission.tasks import ArraySpec

Outcomes = Mapping[Named, Outcome]


def named_by(after: Dependency | None) -> Collection[Named]:
    """The jobs and tasks that a new one names."""
    return () if after is None else after.named


def corresponding(
    after: Dependency | None,
    array: ArraySpec | None,
    live: Mapping[int, Job],
    ended: Outcomes,
    known: Outcomes,
) -> list[Named]:
    """The tasks that those of a new array correspond to, of those that may have ended. `live`: the
    jobs that have not, as the core has them; `ended`: what has become of the jobs that are named;
    `known`: of which it was known before, with their tasks. In any thread."""
    found: list[Named] = []
    if after is None or array is None:
        return found
    for number in after.corresponding:
        job, outcome = live.get(number), ended.get(Named(number))
        other = None if job is None else job.array
        if other is not None:
            made = (task for task in array.tasks.below(other.next) if task not in other.live)
            found += (Named(number, task) for task in made)
        elif outcome is not None and outcome.array and Named(number) not in known:
            found += (Named(number, task) for task in array.tasks)
    return [each for each in found if each not in known]


def ended_since(
    jobs: JobQueries, live: Mapping[int, Job], named: Collection[Named], over: Outcomes
) -> Outcomes:
    """All of that. `live`: the jobs that have not ended, as the core has them; `over`: what was
    known of the others before. Of an array that there is not no task is asked for."""
    if not named:
        return {}
    asked = [each for each in named if each not in over and _may_have_ended(each, live)]
    known = {each.job for each in over}
    gone = {each.job for each in asked if each.job not in live} - known
    whole = jobs.outcomes([Named(number) for number in gone])
    known |= {each.job for each in whole}
    left = [each for each in asked if each not in whole]
    rest = jobs.outcomes([each for each in left if each.job in known or each.job in live])
    found = {**over, **whole, **rest}
    return {each: found[each] for each in named if each in found}


def _may_have_ended(named: Named, live: Mapping[int, Job]) -> bool:
    job = live.get(named.job)
    if job is None:
        return True
    array = job.array
    made = array is not None and 0 <= named.task < array.next
    return made and array is not None and named.task not in array.live
