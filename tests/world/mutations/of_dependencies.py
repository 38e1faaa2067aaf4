"""Deliberate mistakes with jobs that wait for others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from metabroker.broker import dependencies
from metabroker.broker.corresponding import Corresponding
from metabroker.broker.dependencies import Dependencies
from metabroker.broker.job import Job
from metabroker.broker.queues import Queues
from metabroker.broker.states import JobState
from metabroker.submission.dependency import Dependency

from .planting import among, mutation, swap


@mutation
def any_end_is_well(stack: contextlib.ExitStack) -> None:
    """Whoever waits for a good end is content with any."""
    swap(stack, dependencies, "_holds", lambda _term, _state: True)


@mutation
def dependents_wait_in_queues(stack: contextlib.ExitStack) -> None:
    """A job that waits for others joins a queue at once."""

    def arrive(self: Any, job: Job, now: float) -> None:
        after, job.after = job.after, None
        old(self, job, now)
        job.after = after

    old = swap(stack, Queues, "arrive", arrive)


@mutation
def ends_are_not_told(stack: contextlib.ExitStack) -> None:
    """Those who wait for a job are not told of its end."""

    def changed(self: Any, jobs: Iterable[Job], components: Any) -> None:
        old(self, [job for job in jobs if not job.state.ended], components)

    old = swap(stack, Dependencies, "changed", changed)


@mutation
def restarts_forget_dependencies(stack: contextlib.ExitStack) -> None:
    """After a restart nobody waits for others any more."""

    def begin(self: Any, job: Job, ended: Any, now: float) -> None:
        if job.id not in self._state.outbox.jobs:  # from the store
            job.after = None
            if job.state.value == "QUEUED":
                self._queues.arrive(job, now)
        else:
            old(self, job, ended, now)

    old = swap(stack, Dependencies, "begin", begin)


@mutation
@among("corresponding")
def corresponding_tasks_wait_for_nothing(stack: contextlib.ExitStack) -> None:
    """A task waits until the one of its number in another array is a job, and no longer."""
    swap(stack, Corresponding, "of_task", lambda _self, _each, _task: (None, {}))


@mutation
@among("corresponding")
def corresponding_tasks_are_content_with_any_end(stack: contextlib.ExitStack) -> None:
    """A task begins though the one of its number has failed, where that had ended before."""

    def of_task(self: Any, each: Dependency, task: int) -> Any:
        wanted, ended = old(self, each, task)
        well = {key: value._replace(state=JobState.COMPLETED) for key, value in ended.items()}
        return wanted, well

    old = swap(stack, Corresponding, "of_task", of_task)
