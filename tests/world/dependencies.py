"""Jobs that wait for others: which do, what users say, and whether one has started too early."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from metabroker.broker.states import ENDED, JobState
from metabroker.broker.tokens import Ref
from metabroker.submission.tasks import TaskSet, parse_array

from .arrays import owner
from .scenario import ROLLBACK, Fault, JobPlan

if TYPE_CHECKING:
    from .world import World

_KINDS = ("after", "afterany", "afterok", "afterok", "afternotok", "aftercorr", "singleton")
_BETWEEN_ARRAYS = dict.fromkeys(("after", "afterany", "afterok"), "aftercorr")
_ENDED = {state.value for state in ENDED}
SAME = "same"  # the name of jobs that may wait for all earlier ones of their name


def with_dependencies(
    rng: random.Random, jobs: tuple[JobPlan, ...], faults: Sequence[Fault]
) -> tuple[JobPlan, ...]:
    """In one world of six some jobs wait for earlier ones. Not where numbers of jobs are lost."""
    if rng.random() >= 1 / 6 or any(fault.what == ROLLBACK for fault in faults):
        return jobs
    found = list(jobs)
    order = sorted(range(len(jobs)), key=lambda index: jobs[index].at)
    for place, index in enumerate(order[1:], start=1):
        if rng.random() < 0.3:
            continue
        earlier = rng.sample(order[:place], rng.randint(1, min(3, place)))
        after = [(rng.choice(_KINDS), other) for other in earlier]
        if found[index].array:  # task by task, most often
            kinds = {other: found[other].array and _BETWEEN_ARRAYS for other in earlier}
            after = [((kinds[other] or {}).get(kind, kind), other) for kind, other in after]
        if any(kind == "singleton" for kind, _ in after):
            after = [(kind, other if kind != "singleton" else -1) for kind, other in after]
        # Most often the others have not ended yet.
        at = jobs[index].at if rng.random() < 0.3 else jobs[earlier[0]].at + rng.uniform(0.1, 20)
        at = max(at, *(found[other].at + 0.001 for other in earlier))
        found[index] = replace(
            found[index],
            at=round(at, 3),
            after=tuple(after),
            either=rng.random() < 0.3,
            same=any(kind == "singleton" for kind, _ in after) or rng.random() < 0.5,
        )
    return tuple(found)


def asked(world: World, index: int) -> str | None:
    """What the user of a plan says now; "": it cannot be said yet, since a job that it names is not
    known."""
    plan, users = world.scenario.jobs[index], world.users
    words: dict[str, None] = {}
    for kind, other in plan.after:
        if kind == "singleton":
            words[kind] = None
        elif other >= len(world.scenario.jobs) or world.scenario.jobs[other].at >= plan.at:
            continue  # of a scenario that was made smaller
        elif other in users.acknowledged:
            task = task_of(world, index, other, kind)
            which = "" if task is None else f"_{task}"
            words[f"{kind}:{users.acknowledged[other]}{which}"] = None
        elif other not in users.refused:
            return ""
    return ("?" if plan.either else ",").join(words) or None


def task_of(world: World, index: int, other: int, kind: str) -> int | None:
    """Of an array the task that a plan waits for; None: all of it."""
    array = world.scenario.jobs[other].array
    if not array or kind == "aftercorr" or (index + other) % 2:
        return None
    tasks = list(parse_array(array).tasks)
    return tasks[(index + len(kind)) % len(tasks)]


def _corresponding(world: World, ref: Ref, other: int) -> int | None:
    """The task of an array that a task of another waits for; None: it waits for all of it."""
    found, array = world.store.jobs.task(ref.job), world.scenario.jobs[other].array
    if found is None or not array or found[1] not in parse_array(array).tasks:
        return None
    return found[1]


def _told(world: World, job: int, task: int | None) -> tuple[str | None, bool]:
    """A job's state, or a task's (None: it is not kept), and whether it has begun."""
    store = world.store
    seen_begun = (*world.oracle.starts, *world.oracle.between)
    if task is None:
        rows = store.jobs.rows(ids=[job])
        began = any(owner(world, begun.job) == job for begun in seen_begun)
        return (rows[0]["state"] if rows else None), began
    found = store.jobs.tasks([job], {task})
    if found:
        rows = store.jobs.rows(ids=found)
        return rows[0]["state"], any(begun.job == found[0] for begun in seen_begun)
    rows = store.jobs.rows(ids=[job])
    if not rows:
        return None, False
    array = rows[0]["array"]
    if array and task in TaskSet.read(array["cancelled"]):
        return "CANCELLED", False
    return (None if array and task < array["next"] else "QUEUED"), False


def too_early(world: World, ref: Ref) -> str:
    """What a job that starts now should have waited for; "": nothing."""
    store, jobs = world.store, world.scenario.jobs
    if not any(plan.after for plan in jobs):
        return ""
    number = {
        index: store.jobs.find_request(plan.user, f"request {index}")
        for index, plan in enumerate(jobs)
    }
    own = owner(world, ref.job)
    index = next((i for i, job in number.items() if job == own), None)
    if index is None or not jobs[index].after:
        return ""
    met, unmet = 0, []
    for kind, other in jobs[index].after:
        job = own if kind == "singleton" else number.get(other)
        if kind != "singleton" and jobs[other].at >= jobs[index].at:
            continue
        if job is None:  # it has ended so long ago that it is not kept; or it never was one
            met += other in world.users.acknowledged
            continue
        task = None if kind == "singleton" else task_of(world, index, other, kind)
        if kind == "aftercorr":
            task = _corresponding(world, ref, other)
        state, began = _told(world, job, task)
        if kind == "singleton":
            same = [row for row in store.jobs.rows(ended=False) if row["name"] == SAME]
            earlier = [r for r in same if r["id"] < job and r["user"] == jobs[index].user]
            holds = not earlier
        else:
            holds = state is None or _holds(kind, state, began)
        met += holds
        unmet += [] if holds else [f"{kind}:{job} ({state})"]
    wrong = unmet and not (jobs[index].either and met)
    return f"{ref} was started before {' and '.join(unmet)}" if wrong else ""


def _holds(kind: str, state: str, began: bool) -> bool:
    if kind == "after" and began:
        return True
    well = state == JobState.COMPLETED.value
    return state in _ENDED and {"afterok": well, "aftercorr": well, "afternotok": not well}.get(
        kind, True
    )
