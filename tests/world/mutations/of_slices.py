"""Mistakes in what one turn leaves for the next ones."""

from __future__ import annotations

import contextlib
from typing import Any

from metabroker.broker.backlog import Line
from metabroker.broker.outbox import Timers
from metabroker.broker.queues import Queues
from metabroker.broker.scheduling import Scheduling

from .planting import mutation, swap


@mutation
def decided_is_begun_whatever_happens(stack: contextlib.ExitStack) -> None:
    """What was decided in an earlier turn begins, whether there is room for it still or not."""
    swap(stack, Scheduling, "_takes", lambda self, job, placement, room: True)


@mutation
def withdrawn_and_begun(stack: contextlib.ExitStack) -> None:
    """A job that is cancelled or held before its turn is in no queue any more, and begins."""

    def withdraw(self: Any, job: Any) -> None:
        decided = dict(self.decided)
        old(self, job)
        self.decided.update((key, to) for key, to in decided.items() if key in self._state.jobs)

    old = swap(stack, Queues, "withdraw", withdraw)


@mutation
def decided_is_forgotten(stack: contextlib.ExitStack) -> None:
    """Of what was decided only what fits into one turn is begun."""

    def carry_out(self: Any, now: float, room: Any = None) -> bool:
        again: bool = old(self, now, room)
        self._queues.decided.clear()
        return again

    old = swap(stack, Scheduling, "_carry_out", carry_out)


@mutation
def rest_of_a_line_is_forgotten(stack: contextlib.ExitStack) -> None:
    """Of what is to be done to many only what fits into one turn is done."""

    def work(self: Any, most: int, now: float) -> None:
        old(self, most, now)
        self.clear()

    old = swap(stack, Line, "work", work)


@mutation
def timers_beyond_one_turn_are_lost(stack: contextlib.ExitStack) -> None:
    """Of the timers that are due at once only so many are heard as one turn hears."""

    def due(self: Any, now: float, most: int) -> list[Any]:
        return list(old(self, now, 10**9))[:most]

    old = swap(stack, Timers, "due", due)
