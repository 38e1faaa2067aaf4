"""What costs much where there is very much is worked out seldom then, however often it is asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_FREE = 0.005  # seconds of processor time that are no matter
_TIMES = 10.0
_LONGEST = 2.0  # seconds


class Seldom(Generic[T]):
    """A value that takes a tenth of a processor at most to be kept up to date: as of now where it
    costs little, else as old as ten times its cost (2 s at most). Of those who ask at once one
    works it out; where that fails, it has failed for all of them. From any thread."""

    def __init__(
        self,
        work: Callable[[], T],
        *,
        spent: Callable[[], float] = time.thread_time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`spent`: the processor time of the thread that works, in seconds."""
        self._work = work
        self._spent = spent
        self._clock = clock
        self._lock = threading.Lock()
        self._known: tuple[float, T] | None = None  # and until when
        self._failed: tuple[float, Exception] | None = None  # and when

    def __call__(self) -> T:
        """The value. Raises what working it out raises."""
        asked = self._clock()
        with self._lock:
            if self._known is not None and self._clock() < self._known[0]:
                return self._known[1]
            if self._failed is not None and self._failed[0] > asked:
                raise self._failed[1]  # else each would wait as long, one after the other
            began = self._spent()
            try:
                found = self._work()
            except Exception as error:
                self._failed = self._clock(), error
                raise
            cost = self._spent() - began
            until = self._clock() + min(_TIMES * cost, _LONGEST)
            self._known = (until, found) if cost > _FREE else None
            return found
