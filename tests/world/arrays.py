"""Arrays of jobs in worlds: which there are, and what must be so of their tasks."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from metabroker.broker.tokens import Ref
from metabroker.submission.tasks import TaskSet, parse_array

from .scenario import ROLLBACK, Fault, JobPlan

if TYPE_CHECKING:
    from .world import World

AHEAD = 2  # tasks of an array that are jobs, and wait
SOME = "cancel some"  # what users do to arrays beside what they do to jobs
ONE = "hold one"  # of its tasks that wait, and release it
RELEASED_AFTER = 6.0  # seconds
OTHERS = "other limits"  # any number of tasks at once; and the time limit that it has
SOME_TASKS = TaskSet.parse("1-2,5")


def with_arrays(
    rng: random.Random, jobs: tuple[JobPlan, ...], faults: Sequence[Fault]
) -> tuple[JobPlan, ...]:
    """In one world of eight some jobs have many tasks. Not where numbers of jobs are lost."""
    if rng.random() >= 1 / 8 or any(fault.what == ROLLBACK for fault in faults):
        return jobs
    found = []
    for job in jobs:
        if rng.random() < 0.5:
            found.append(job)
            continue
        most = rng.choice(("", "", "%1", "%2"))
        tasks = rng.choice(("0-3", "0-7", "1-9:2", "0-1,5,7"))
        actions = list(job.actions)
        if rng.random() < 0.4:
            actions.append((round(rng.uniform(0, 60), 3), SOME))
        found.append(
            replace(
                job,
                array=f"{tasks}{most}",
                run_time=round(min(job.run_time, rng.uniform(1, 20)), 3),
                sends=False,
                fetches=False,
                actions=tuple(sorted(actions)),
            )
        )
    return tuple(_with_others(rng, job) for job in found)


def _with_others(rng: random.Random, job: JobPlan) -> JobPlan:
    actions = list(job.actions)
    if job.array and rng.random() < 0.5:
        actions.append((round(rng.uniform(0, 40), 3), ONE))
    if rng.random() < 0.3:
        actions.append((round(rng.uniform(0, 40), 3), OTHERS))
    return replace(job, actions=tuple(sorted(actions)))


def one_that_waits(world: World, array: int) -> int | None:
    """A task of it that a user may hold now."""
    life = world.life
    job = None if life is None else life.engine.broker.view.jobs.get(array)
    waiting = () if job is None or job.array is None else job.array.waiting
    return min(waiting, default=None)


def owner(world: World, job: int) -> int:
    """The array that a job is a task of; itself, if of none."""
    found = world.back.store_of(Ref(job, 1, 0)).jobs.task(job)
    return job if found is None else found[0]


def too_many(world: World, ref: Ref) -> str:
    """Whether more tasks of its array run than its user wants, with this one; "": not so."""
    if not any(plan.array for plan in world.scenario.jobs):
        return ""
    array = owner(world, ref.job)
    row = world.store.jobs.rows(ids=[array])
    told = row[0]["array"] if row else None
    if not told or not told["most"]:
        return ""
    oracle = world.oracle
    running = {
        r.job for r in oracle.running if r not in oracle.lost and owner(world, r.job) == array
    }
    if len(running | {ref.job}) > told["most"]:
        return f"{ref} was started while {sorted(running)} of array {array} were running"
    return ""


def whole(rows: Mapping[int, Mapping[str, Any]]) -> str:
    """What is wrong with the tasks of the arrays that have ended; "": each was a job once, or was
    cancelled before that."""
    found = Counter((row["of"], row["task"]) for row in rows.values() if row["of"])
    for array, row in rows.items():
        if row["array"] is None:
            continue
        tasks = parse_array(row["array"]["tasks"]).tasks
        cancelled = TaskSet.read(row["array"]["cancelled"])
        made = {task: count for (of, task), count in found.items() if of == array}
        if set(made) != set(tasks - cancelled) or set(made.values()) - {1}:
            return f"array {array} of {tasks} without {cancelled} has the tasks {made}"
        states = {rows[n]["state"] for n in rows if rows[n]["of"] == array}
        if row["state"] == "COMPLETED" and states - {"COMPLETED"}:
            return f"array {array} is COMPLETED, and its tasks are {states}"
    return ""
