"""Others' reservations of one cluster (see `Coming`), by what they leave until a moment."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate

from .observation import Coming

_SAME = 60.0  # seconds by which a reservation's start may differ


class Upcoming:
    """In the order of their starts. Each question takes as long for many as for few."""

    __slots__ = ("_idle", "_processors", "_starts", "items")

    def __init__(self, coming: Iterable[Coming] = (), offset: float = 0.0) -> None:
        """`offset`: seconds that the clock of these times is ahead of the broker's."""
        self.items = tuple(
            replace(each, start=each.start - offset, end=each.end - offset) if offset else each
            for each in sorted(coming, key=lambda each: each.start)
        )
        self._starts = [each.start for each in self.items]
        self._idle = [0, *accumulate(each.idle for each in self.items)]
        self._processors = [0, *accumulate(each.processors for each in self.items)]

    def __bool__(self) -> bool:
        return bool(self.items)

    def idle(self, until: float) -> int:
        """Processors, idle now, of those that begin before that moment."""
        return self._idle[bisect_left(self._starts, until)]

    def beyond(self, until: float, processors: int) -> Coming | None:
        """The first of those that begin before that moment which, with those before it, takes more
        than so many processors; None: they do not take as many."""
        return self._first(self._processors, until, processors)

    def beyond_idle(self, until: float, processors: int) -> Coming | None:
        """The same of processors that are idle now."""
        return self._first(self._idle, until, processors)

    def last(self, moment: float) -> Coming | None:
        """The last of those that have begun by that moment."""
        begun = bisect_right(self._starts, moment)
        return self.items[begun - 1] if begun else None

    def _first(self, sums: list[int], until: float, processors: int) -> Coming | None:
        processors = max(0, processors)
        if sums[bisect_left(self._starts, until)] <= processors:
            return None
        return self.items[bisect_right(sums, processors) - 1]

    def is_like(self, other: Upcoming) -> bool:
        """Whether both hold as many processors from about the same moments on."""
        pairs = zip(self.items, other.items, strict=False)
        return len(self.items) == len(other.items) and all(
            (one.name, one.processors) == (two.name, two.processors)
            and abs(one.start - two.start) < _SAME
            for one, two in pairs
        )
