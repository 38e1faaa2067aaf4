"""Mistakes in what one turn leaves for the next ones."""

from __future__ import annotations

import contextlib
from typing import Any

from metabroker.broker.outbox import Timers
from metabroker.broker.scheduling import Scheduling

from .planting import mutation, swap


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
