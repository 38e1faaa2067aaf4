"""A cluster's clock against the broker's, looked at now and then beside the cluster itself."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from .command_errors import Garbled
from .operation import Operation, time_now
from .port import ClusterRefusal, UnknownOutcome
from .transports.base import CommandLost, CommandMissing

EVERY = 600.0
"""Seconds between two looks at a clock: they drift slowly, and its command may be a long one."""
_FAR = 366 * 86400.0  # seconds; who seems to be further away was not read to the end
_SLOW = 4.0  # seconds: of an answer that takes longer nobody knows when it was given
_AGAIN = 30.0  # seconds after which it is asked once more, if it was not told


class ClockWatch:
    """Remembers what was last seen. `told`: the operation that asks what time it is, in Unix
    seconds; `every`: how often it may be asked, in seconds (0: never)."""

    def __init__(self, told: Callable[[], Operation[int]], every: float) -> None:
        self._told = told
        self._every = every
        self._next = -inf
        self.offset: float | None = None
        self.known = 0.0  # what was told last; 0: nothing yet

    def look(self, now: float) -> Operation[int]:
        """Ask, if it is time; answers how many commands that took. `now`: the broker's clock."""
        if not self._every or now < self._next:
            yield from ()
            return 0
        self._next = now + self._every
        try:
            began = yield from time_now()
            told = yield from self._told()
            took = (yield from time_now()) - began
            if not 0 <= took <= _SLOW:
                self._next = now + min(self._every, _AGAIN)
                return 1
            # It is told in whole seconds.
            offset = told + 0.5 - (began + took / 2)
            if abs(offset) > _FAR:
                raise Garbled(f"a clock that differs by {offset / 86400:.0f} days")
            self.offset = self.known = offset
        except (ClusterRefusal, UnknownOutcome, CommandLost, CommandMissing, Garbled):
            self.offset = None  # whether the cluster answers is for the poll itself to say
            self._next = now + min(self._every, _AGAIN)
        return 1
