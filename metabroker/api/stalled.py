"""Answers that are made and not taken: how much memory they may have.

Who asks for long lists and reads none of it leaves each answer's next page in memory until the
connection is ended for that, some minutes. Those of one user together have a part of a room. When
that is used up, the answer is cut off that has not been taken for longest; the one that has just
begun to wait goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .peers import Who

ROOM = 512 * 1024 * 1024  # bytes of all answers that are not taken
_SHARE = 8  # of one user a part of that
BESIDE = 512 * 1024  # bytes of each besides its pages: which jobs are in its list, and their places


class Waits(Protocol):
    """A connection."""

    @property
    def who(self) -> Who:
        """Whose it is."""

    @property
    def end(self) -> Callable[[str], None]:
        """Ends it, and says why."""


class Stalled:
    """Those there are. For one event loop's thread."""

    def __init__(self, room: int = ROOM) -> None:
        """`room`: bytes."""
        self._room = room
        self._sizes: dict[Who, dict[Waits, int]] = {}  # of each user the longest first

    def add(self, one: Waits, size: int) -> None:
        """So many bytes of its answer are not taken. Root's are not counted."""
        if one.who == 0:
            return
        mine = self._sizes.setdefault(one.who, {})
        mine[one] = size + BESIDE
        while len(mine) > 1 and sum(mine.values()) > self._room // _SHARE:
            self._end(mine)
        while sum(sum(each.values()) for each in self._sizes.values()) > self._room:
            greatest = max(self._sizes.values(), key=lambda each: sum(each.values()))
            if len(greatest) == 1:
                break
            self._end(greatest)

    def remove(self, one: Waits) -> None:
        """It is taken, or its connection has ended; to say so twice does no harm."""
        mine = self._sizes.get(one.who, {})
        mine.pop(one, None)
        if not mine:
            self._sizes.pop(one.who, None)

    @staticmethod
    def _end(some: dict[Waits, int]) -> None:
        first = next(iter(some))
        del some[first]
        first.end("too slow: the client does not read its answers, and they are many")
