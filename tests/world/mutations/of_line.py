"""Deliberate mistakes in the line: siblings in clusters' own queues."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from metabroker.broker.arrivals import Arrivals
from metabroker.broker.effects import Submit
from metabroker.broker.job import Component, Job
from metabroker.broker.ledger import Ledger
from metabroker.broker.saga.claims import Claims
from metabroker.broker.saga.line import Line
from metabroker.broker.saga.unread import Unread
from metabroker.broker.states import Phase, Step
from metabroker.clusters.operation import Operation
from metabroker.clusters.slurm import SlurmCluster, operations
from metabroker.maintenance import restore
from metabroker.runtime.requests import RequestBuilder
from metabroker.store import store as stores

from .planting import among, mutation, swap


@mutation
def two_winners(stack: contextlib.ExitStack) -> None:
    """All siblings that have come up are opened."""

    def choose(self: Any, job: Job, winner: Component, now: float) -> None:
        others = [s for s in job.line if s is not winner]
        old(self, job, winner, now)
        for other in others:
            self._pending.start(other, Step.OPEN, now)

    old = swap(stack, Line, "_choose", choose)


@mutation
@among("leaving")
def losers_stay_in_line(stack: contextlib.ExitStack) -> None:
    """The siblings that did not win are left in their clusters' queues."""

    def withdraw(self: Any, sibling: Component, job: Job, why: str, now: float) -> None:
        start, self._pending.start = self._pending.start, lambda *_: None
        try:
            old(self, sibling, job, why, now)
        finally:
            self._pending.start = start

    old = swap(stack, Line, "withdraw", withdraw)


@mutation
@among("leaving")
def sibling_without_a_gate(stack: contextlib.ExitStack) -> None:
    """A sibling's script starts as soon as it comes up."""

    def submit(self: Any, effect: Submit) -> Any:
        made = old(self, effect)
        return replace(made, barrier_seconds=None) if effect.sibling else made

    old = swap(stack, RequestBuilder, "submit", submit)


@mutation
def winner_claims_nothing(stack: contextlib.ExitStack) -> None:
    """The processors of the sibling that has won are counted as nobody's."""

    def hold(self: Any, sibling: Component, processors: int) -> None:
        sibling.processors = processors

    swap(stack, Claims, "hold", hold)


@mutation
def contested_for_ever(stack: contextlib.ExitStack) -> None:
    """A cluster that others once wanted is never ours again."""

    def contested(self: Any, now: float, *, line: bool = True) -> tuple[int, ...]:
        return tuple(c for c, entry in enumerate(self.entries) if entry.contested_until)

    swap(stack, Ledger, "contested", contested)


@mutation
@among("come-and-go")
def arrivals_count_for_ever(stack: contextlib.ExitStack) -> None:
    """What others who have just come want is never idle, however often they come."""

    def seen(self: Any, wanted: int, idle: int, now: float) -> tuple[int, bool]:
        return min(wanted, idle), False

    swap(stack, Arrivals, "seen", seen)


@mutation
@among("leaving")
def siblings_forgotten_at_a_restart(stack: contextlib.ExitStack) -> None:
    """After a restart nobody knows of siblings."""
    swap(stack, Line, "restore", lambda self, job, component, now: None)


@mutation
@among("patience")
def chosen_where_it_gave_up(stack: contextlib.ExitStack) -> None:
    """A sibling that has left its gate wins."""

    def gave_up(self: Any, event: Any, now: float) -> None:
        sibling, job = self._found(event.ref)
        sibling.advance(Phase.ARRIVED)
        self._choose(job, sibling, now)

    swap(stack, Line, "gave_up", gave_up)


@mutation
@among("nobody-else")
def the_queue_is_asked_for_last(stack: contextlib.ExitStack) -> None:
    """Who waits is asked for after our own jobs are: one that comes in between is another's."""
    wanted: dict[int, tuple[SlurmCluster, float]] = {}

    def later(self: Any, now: float) -> Operation[int]:
        yield from ()
        wanted[id(self._who)] = self, now
        return 0

    def look(who: Any, *given: Any) -> Operation[Any]:
        found = yield from old_look(who, *given)
        if id(who) in wanted:
            yield from old(*wanted.pop(id(who)))
        return found

    old = swap(stack, SlurmCluster, "_look_at_its_queue", later)
    old_look = swap(stack, operations, "look", look)


@mutation
@among("lost-choice")
def the_lost_choice_is_not_asked_for(stack: contextlib.ExitStack) -> None:
    """After the store has gone back a second sibling is let through, though nobody knows whether
    the first one was."""
    swap(stack, Unread, "of", lambda self, job: None)


@mutation
@among("lost-opening")
def what_may_have_been_opened_is_rolled_back(stack: contextlib.ExitStack) -> None:
    """After the store has gone back, an attempt that is at the barrier by it is taken to be there,
    though nobody can read whether it was opened."""

    def restored(self: Any, component: Component) -> None:
        if component.sibling:
            old(self, component)

    old = swap(stack, Unread, "restored", restored)


@mutation
@among("lost-choice")
def a_no_after_the_choice_withdraws(stack: contextlib.ExitStack) -> None:
    """After the store has gone back, one that has been let through is withdrawn since it cannot be
    submitted once more."""
    swap(stack, Unread, "got_through", lambda self, sibling: False)


@mutation
@among("lost-sibling")
def siblings_are_not_counted(stack: contextlib.ExitStack) -> None:
    """How many siblings a job has had is not written down: one of a time that the store has lost is
    taken for one that was withdrawn."""

    def row(*given: Any) -> dict[str, Any]:
        return {**old(*given), "siblings": 0}

    old = swap(stack, stores, "job_row", row)


@mutation
@among("lost-sibling")
def a_restore_knows_of_no_siblings(stack: contextlib.ExitStack) -> None:
    """It knows attempts alone: what has stood in line in the lost time says for ever that the store
    is behind."""
    swap(stack, restore, "in_line", lambda jobs: {})
