"""Deliberate mistakes with arrays of jobs."""

from __future__ import annotations

import contextlib
from typing import Any

from metabroker.broker.array import Array
from metabroker.broker.arrays import Arrays
from metabroker.broker.job import Job
from metabroker.broker.queues import Queues
from metabroker.broker.requests import Requests

from .planting import among, mutation, swap


@mutation
def tasks_without_their_array(stack: contextlib.ExitStack) -> None:
    """How far an array has come is not written together with its tasks."""

    def make(self: Any, job: Job, array: Array, task: int, now: float) -> None:
        old(self, job, array, task, now)
        self._state.outbox.jobs.pop(job.id, None)

    old = swap(stack, Arrays, "_make", make)


@mutation
@among("released")
def any_number_at_once(stack: contextlib.ExitStack) -> None:
    """More tasks are under way at once than their user wants."""
    swap(stack, Array, "room", property(lambda _self: 1))


@mutation
@among("released")
def released_tasks_start_at_once(stack: contextlib.ExitStack) -> None:
    """A task that was held, and is released, joins its queue though enough others are under way."""

    def kept(self: Any, job: Job) -> bool:
        old(self, job)
        job.kept = False
        return False

    old = swap(stack, Queues, "_kept", kept)


@mutation
def cancelled_tasks_are_made(stack: contextlib.ExitStack) -> None:
    """Tasks that were cancelled before they were jobs become jobs."""
    swap(stack, Array, "cancel", lambda _self, _gone: None)


@mutation
def a_cancel_forgets_tasks(stack: contextlib.ExitStack) -> None:
    """Of an array that is cancelled some tasks go on that are jobs already."""

    def cancel_task(self: Any, number: int, now: float) -> None:
        if number % 2:
            old(self, number, now)

    old = swap(stack, Requests, "_cancel_task", cancel_task)


@mutation
@among("cancelled")
def a_restart_loses_the_cancel_of_an_array(stack: contextlib.ExitStack) -> None:
    """After a restart those tasks of a cancelled array go on that had not been reached yet."""
    swap(stack, Requests, "restored", lambda _self: None)


@mutation
@among("cancelled")
def arrays_end_with_their_last_task(stack: contextlib.ExitStack) -> None:
    """An array ends when its last task is a job."""

    def look(self: Any, number: int, now: float) -> None:
        old(self, number, now)
        job = self._state.jobs.get(number)
        if job is not None and job.array is not None and job.array.coming() is None:
            self._end(job, job.array, now)

    old = swap(stack, Arrays, "_look", look)


@mutation
def restarted_arrays_know_no_tasks(stack: contextlib.ExitStack) -> None:
    """After a restart an array does not know of its tasks."""

    def restored(self: Any, ended: Any) -> None:
        tasks = [job for job in self._state.jobs.values() if job.of]
        kept = [job.of for job in tasks]
        for job in tasks:
            job.of = 0
        old(self, ended)
        for job, of in zip(tasks, kept, strict=True):
            job.of = of

    old = swap(stack, Arrays, "restored", restored)
