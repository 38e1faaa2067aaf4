"""Deliberate mistakes in plans: co-allocated jobs that get a time."""

from __future__ import annotations

import contextlib
from typing import Any

from metabroker.broker.job import Component, Job
from metabroker.broker.planning import Planning
from metabroker.broker.saga.deadlines import Deadlines
from metabroker.broker.saga.pending import PendingSteps
from metabroker.broker.saga.plans import Plans, is_ahead
from metabroker.broker.states import Step

from .planting import among, mutation, swap


@mutation
def reservations_of_a_plan_are_kept(stack: contextlib.ExitStack) -> None:
    """Of a plan that is given up nothing is cleaned."""

    def give_up(self: Any, job: Job, why: str, now: float) -> None:
        start, self._pending.start = self._pending.start, lambda *_: None
        try:
            old(self, job, why, now)
        finally:
            self._pending.start = start

    old = swap(stack, Plans, "give_up", give_up)


@mutation
def plans_forgotten_at_a_restart(stack: contextlib.ExitStack) -> None:
    """After a restart nobody looks at the time of a plan any more."""

    def resume(self: Any, job: Job, now: float) -> None:
        if is_ahead(job):
            job.deadline = None
        else:
            old(self, job, now)

    old = swap(stack, Deadlines, "resume", resume)


@mutation
def refused_plan_holds_the_rest(stack: contextlib.ExitStack) -> None:
    """A job that is refused in one cluster waits there, and keeps what it has in the others."""

    def put_off(self: Any, job: Job, why: str, now: float) -> None:
        for component in job.components:
            if component.step is Step.RESERVE:
                self._pending.retry_later(component, now)
        self._state.set_deadline(job, now + self._state.settings.reserve_timeout)

    swap(stack, Plans, "_put_off", put_off)


@mutation
@among("planned")
def plans_overtake_whom_they_like(stack: contextlib.ExitStack) -> None:
    """A job that may not be overtaken again is overtaken by planned ones."""
    swap(stack, Planning, "_may_overtake", lambda self, job, placement, now: True)


@mutation
def given_up_plans_free_what_they_never_had(stack: contextlib.ExitStack) -> None:
    """A plan that is given up frees what it has never claimed: others' are taken for idle."""

    def give_up(self: Any, job: Job, why: str, now: float) -> None:
        for component in job.components:
            component.ahead = False
        old(self, job, why, now)

    old = swap(stack, Plans, "give_up", give_up)


@mutation
@among("late-plans")
def reservations_end_before_the_limit(stack: contextlib.ExitStack) -> None:
    """The end of a planned job's reservations is set to when half of its time limit is over."""

    def until(self: Any, component: Component) -> float | None:
        end: float | None = old(self, component)
        job = self._state.jobs.get(component.ref.job)
        return end if end is None or job is None else end - job.may_take / 2

    old = swap(stack, PendingSteps, "_until", until)
