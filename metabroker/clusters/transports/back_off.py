"""When a connection may be tried again: never in a rush, and less and less often in vain."""

from __future__ import annotations

import time
from collections.abc import Callable

from .base import Unreached

MOST = 60.0  # seconds


class BackOff:
    """The pauses between one cluster's connections; its owner sees to one use at a time."""

    def __init__(
        self,
        pause: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._least = pause
        self._pause = pause
        self._clock = clock
        self._sleep = sleep
        self._next = clock()
        self._why = ""

    def wait(self) -> None:
        """Until the next try, if that is soon.

        Raises:
            Unreached: it is not; why the last try failed.
        """
        left = self._next - self._clock()
        if left > self._least:
            raise Unreached(f"{self._why} (tried again in {left:.0f} s)")
        if left > 0:
            self._sleep(left)
        self._next = self._clock() + self._least

    def made(self) -> None:
        """A connection was made."""
        self._pause = self._least
        self._next = self._clock() + self._pause

    def failed(self, why: str, *, refused: bool = False) -> None:
        """None was made. `refused`: somebody must do something, so there is no hurry."""
        self._why = why
        pause, self._pause = self._pause, min(MOST, self._pause * 2)
        self._next = self._clock() + (max(pause, min(MOST, 30 * self._least)) if refused else pause)
