"""Mistakes in what is ended, and when; in what is seen; and in what is told of it."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from metabroker.broker.core import Broker
from metabroker.broker.events import ClusterUnreachable, Observed
from metabroker.broker.job import Goal
from metabroker.broker.ledger import Ledger
from metabroker.broker.outbox import Outbox
from metabroker.broker.saga.completion import Completion
from metabroker.broker.saga.outcome import AttemptOutcome
from metabroker.broker.saga.pending import PendingSteps
from metabroker.broker.saga.records import Records
from metabroker.broker.states import JobState, Step
from metabroker.policy.overtaking import Overtaking
from metabroker.runtime.executor import ClusterExecutor

from .planting import among, mutation, swap

_UNTOLD = frozenset({"rolled back", "refused", "failed", "cancelled", "timeout", "queued"})


@mutation
@among("late")
def cleaned_after_an_hour(stack: contextlib.ExitStack) -> None:
    """A cleanup that has failed is tried again after an hour only."""
    old = PendingSteps.retry_later

    def later(self: Any, component: Any, now: float) -> None:
        old(self, component, now)
        if component.step is Step.CLEAN:
            component.retry_at = now + 3600
            self._state.timers.set(component.retry_at, component.ref)

    swap(stack, PendingSteps, "retry_later", later)


@mutation
@among("cancelled")
def a_cancel_ends_nothing(stack: contextlib.ExitStack) -> None:
    """A cancel of what may run is written down, and nothing is ended for it."""
    old = Completion.finish

    def finish(self: Any, job: Any, goal: Goal, now: float) -> None:
        if goal is not Goal.CANCEL:
            old(self, job, goal, now)
            return
        job.goal = goal
        self._state.outbox.changed(job)
        self.settle(job, now)

    swap(stack, Completion, "finish", finish)


@mutation
@among("away")
def ended_for_one_poll(stack: contextlib.ExitStack) -> None:
    """What runs in a cluster that does not answer one poll is cancelled."""
    old = Broker._unreachable

    def unreachable(self: Any, event: ClusterUnreachable, now: float) -> None:
        old(self, event, now)
        for job in list(self._state.jobs.values()):
            there = any(c.cluster == event.cluster and not c.over for c in job.components)
            if job.state is JobState.RUNNING and there:
                self._saga.completion.finish(job, Goal.CANCEL, now)

    swap(stack, Broker, "_unreachable", unreachable)


@mutation
@among("beside")
def nobody_starts_while_a_cluster_is_away(stack: contextlib.ExitStack) -> None:
    """The policy takes no pass while any cluster does not answer."""
    old = Broker.schedule

    def schedule(self: Any, now: float) -> None:
        away = any(not entry.reachable for entry in self.view.entries)
        if not away or self._state.first_polls.wait:
            old(self, now)

    swap(stack, Broker, "schedule", schedule)


@mutation
@among("away")
def an_old_listing_is_new(stack: contextlib.ExitStack) -> None:
    """A poll that is not answered tells what the last one did, as of now."""
    old: Any = ClusterExecutor.__init__

    def made(self: Any, index: int, cluster: Any, requests: Any, post: Any, **more: Any) -> None:
        last: list[Observed] = []

        def told(item: Any) -> None:
            if isinstance(item, Observed):
                last[:] = [item]
            elif isinstance(item, ClusterUnreachable) and last:
                item = replace(
                    last[0], snapshot=replace(last[0].snapshot, taken_at=more["clock"]())
                )
            post(item)

        old(self, index, cluster, requests, told, **more)

    swap(stack, ClusterExecutor, "__init__", made)


@mutation
@among("planned")
def own_claims_are_idle_where_others_wait(stack: contextlib.ExitStack) -> None:
    """In a cluster that others want, too, what the broker has claimed counts as idle."""

    def unclaimed(self: Any, cluster: int) -> int:
        entry = self.entries[cluster]
        claimed = 0 if entry.contested_until > 0 else entry.claimed
        return int(entry.usable - entry.others - claimed)

    swap(stack, Ledger, "unclaimed", unclaimed)


@mutation
@among("overtaken")
def who_has_just_come_overtakes_uncounted(stack: contextlib.ExitStack) -> None:
    """Who has joined a queue since the last pass is not counted as overtaking anybody."""
    joined, passed, new_pass = Overtaking.joined, Overtaking.passed, Overtaking.new_pass
    fresh: dict[int, tuple[set[int], set[int]]] = {}

    def joins(self: Any, entry: Any) -> None:
        joined(self, entry)
        fresh.setdefault(id(self), (set(), set()))[0].add(entry.seq)

    def begins(self: Any) -> None:
        fresh[id(self)] = set(), fresh.get(id(self), (set(), set()))[0]
        new_pass(self)

    def starts(self: Any, seq: int, placement: Any) -> None:
        bound = self._bound
        if seq in fresh.get(id(self), (set(), set()))[1]:
            self._bound = None
        try:
            passed(self, seq, placement)
        finally:
            self._bound = bound

    swap(stack, Overtaking, "joined", joins)
    swap(stack, Overtaking, "new_pass", begins)
    swap(stack, Overtaking, "passed", starts)


@mutation
def given_up_is_cancelled(stack: contextlib.ExitStack) -> None:
    """A job that is given up without an exit code is told to be CANCELLED."""
    old: Any = AttemptOutcome.leave

    def leave(self: Any, job: Any, state: JobState, *given: Any, **more: Any) -> None:
        if state is JobState.FAILED and more.get("exit_code") is None:
            state = JobState.CANCELLED
        old(self, job, state, *given, **more)

    swap(stack, AttemptOutcome, "leave", leave)


@mutation
def all_components_have_the_exit_code_of_their_job(stack: contextlib.ExitStack) -> None:
    """A job fails with the exit code of one component, and so do all others."""
    old: Any = AttemptOutcome.leave

    def leave(self: Any, job: Any, state: JobState, *given: Any, **more: Any) -> None:
        for component in job.components if more.get("exit_code") is not None else ():
            if component.exit_code is not None:
                component.exit_code = more["exit_code"]
                self._state.outbox.changed(component)
        old(self, job, state, *given, **more)

    swap(stack, AttemptOutcome, "leave", leave)


@mutation
def components_run_somewhere(stack: contextlib.ExitStack) -> None:
    """The hosts that a component tells are not those that are kept."""
    old: Any = Records.started
    swap(stack, Records, "started", lambda s, e, now: old(s, replace(e, hosts="somewhere"), now))


@mutation
def times_of_components_are_not_kept(stack: contextlib.ExitStack) -> None:
    """When components have begun and ended is forgotten as their job ends."""
    old: Any = AttemptOutcome.leave

    def leave(self: Any, job: Any, *given: Any, **more: Any) -> None:
        for component in job.components:
            component.start_time = component.end_time = None
            self._state.outbox.changed(component)
        old(self, job, *given, **more)

    swap(stack, AttemptOutcome, "leave", leave)


@mutation
def ends_are_not_written_down(stack: contextlib.ExitStack) -> None:
    """A job's history lacks how it ended, and why it was begun anew."""
    old: Any = Outbox.note

    def note(self: Any, now: float, job: Any, what: str, **detail: Any) -> None:
        if what not in _UNTOLD:
            old(self, now, job, what, **detail)

    swap(stack, Outbox, "note", note)
