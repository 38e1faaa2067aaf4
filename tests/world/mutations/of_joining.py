"""Deliberate mistakes with jobs that join others."""

from __future__ import annotations

import contextlib
from typing import Any

from metabroker.broker.exchange import Exchange
from metabroker.broker.job import Job, NewJob
from metabroker.broker.joining import Joining

from .planting import among, mutation, swap


@among("joining")
@mutation
def joining_jobs_outlive_the_others(stack: contextlib.ExitStack) -> None:
    """Who has joined a job that has ended goes on."""
    swap(stack, Joining, "_end", lambda _self, _number, _now: None)


@among("joining")
@mutation
def joining_jobs_do_not_wait(stack: contextlib.ExitStack) -> None:
    """Who joins a job is placed at once."""
    swap(stack, NewJob, "awaits", property(lambda new: new.after))


@among("joining")
@mutation
def restarts_forget_who_has_joined(stack: contextlib.ExitStack) -> None:
    """After a restart a job ends without those that had joined it."""

    def begin(self: Any, job: Job) -> None:
        if job.id in self._state.outbox.jobs:  # not from the store
            old(self, job)

    old = swap(stack, Joining, "begin", begin)


@among("joining")
@mutation
def joining_jobs_hear_nothing(stack: contextlib.ExitStack) -> None:
    """What a job puts is not carried to those that have joined it."""
    swap(stack, Exchange, "link", lambda _self, _one, _other, **_more: None)


@among("joining")
@mutation
def joining_jobs_start_when_the_other_has_ended(stack: contextlib.ExitStack) -> None:
    """The end of a job that has not started counts as its start, for who joins it."""

    def end(self: Any, number: int, now: float) -> None:
        job = self._state.jobs.get(number)
        if job is None or job.after is None:
            old(self, number, now)
            return
        self._dependencies.waiting.pop(number, None)
        self._dependencies._forget(job)
        job.after = None
        if job.state.value == "QUEUED":
            self._queues.requeue(job, now)

    old = swap(stack, Joining, "_end", end)
