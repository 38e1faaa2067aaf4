"""Mistakes in what one turn leaves for the next ones."""

from __future__ import annotations

import contextlib
from typing import Any

from metabroker.broker.outbox import Timers
from metabroker.broker.scheduling import Scheduling
from metabroker.broker.state import BrokerState
from metabroker.broker.whole_arrays import WholeArrays

from .planting import among, mutation, swap


@mutation
def decided_is_forgotten(stack: contextlib.ExitStack) -> None:
    """Of what was decided only what fits into one turn is begun."""

    def carry_out(self: Any, now: float, room: Any = None) -> bool:
        again: bool = old(self, now, room)
        self._queues.decided.clear()
        return again

    old = swap(stack, Scheduling, "_carry_out", carry_out)


@mutation
def timers_beyond_one_turn_are_lost(stack: contextlib.ExitStack) -> None:
    """Of the timers that are due at once only so many are heard as one turn hears."""

    def due(self: Any, now: float, most: int) -> list[Any]:
        return list(old(self, now, 10**9))[:most]

    old = swap(stack, Timers, "due", due)


@mutation
@among("held-arrays")
def what_is_owed_to_tasks_is_not_asked(stack: contextlib.ExitStack) -> None:
    """A task starts before what was asked of its whole array is done to it."""
    swap(stack, BrokerState, "owes", lambda self, job: False)


@mutation
@among("held-arrays")
def what_is_owed_is_forgotten_at_a_restart(stack: contextlib.ExitStack) -> None:
    """What was asked of a whole array is not gone on with."""
    swap(stack, WholeArrays, "restored", lambda self: None)
