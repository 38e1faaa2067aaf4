"""Work that is too much for one turn of the core.

An event may concern very many jobs: a cluster is lost in whose queue they wait, or a poll shows
that they have ended. What is then to be done to each of them is put into a line here, and each turn
does some of it (`work`). Between two turns other events are handled and written. So nothing in a
line may rely on what was true when it was put there: whoever does it looks again. Nothing of it is
stored either. After a crash the store holds what was done, and the next poll, or the next look at
what is lost, puts the rest into a line again.

What cannot be done to a job fails that job, and no other: all behind it go on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, TypeVar

from .tokens import Ref

T = TypeVar("T", bound=Hashable)
Contain = Callable[[int, Exception, float, Ref | None], None]
"""Fails the job of this number, of which something cannot be done (see `Containment.contain`)."""


class Line(Generic[T]):
    """What the same is to be done to, each once, in the order in which it was put here."""

    def __init__(self, do: Callable[[T, float], None]) -> None:
        """`do` is given each and the time (Unix seconds), and looks whether it is still so."""
        self._do = do
        self._line: deque[T] = deque()
        self._known: set[T] = set()

    def __len__(self) -> int:
        return len(self._line)

    def add(self, things: Iterable[T]) -> None:
        """At its end; what is in it already keeps its place."""
        for thing in things:
            if thing not in self._known:
                self._known.add(thing)
                self._line.append(thing)

    def clear(self) -> None:
        """It need not be done any more."""
        self._line.clear()
        self._known.clear()

    def work(self, most: int, now: float, contain: Contain) -> None:
        """Do it to the first of them. An error in one is contained to its job; in what is no job's
        it is raised."""
        for _ in range(min(most, len(self._line))):
            thing = self._line.popleft()
            self._known.discard(thing)
            try:
                self._do(thing, now)
            except Exception as error:
                if isinstance(thing, Ref):
                    contain(thing.job, error, now, thing)
                elif isinstance(thing, int):
                    contain(thing, error, now, None)
                else:
                    raise
            if not self._line:
                return


class Backlog:
    """All lines. `since`: when some of it was done last, in Unix seconds."""

    def __init__(self) -> None:
        self._lines: list[Line[Any]] = []
        self._next: Line[Any] | None = None
        self.since = 0.0

    def __len__(self) -> int:
        return sum(map(len, self._lines))

    def line(self, do: Callable[[T, float], None]) -> Line[T]:
        """A new line."""
        made = Line(do)
        self._lines.append(made)
        return made

    def work(self, most: int, now: float, contain: Contain) -> None:
        """So much of it: each line that is not empty has its part. Where there are more of them
        than is to be done, those that go without are the first the next time."""
        self.since = now
        left = [line for line in self._lines if line]
        if self._next in left:
            first = left.index(self._next)
            left = left[first:] + left[:first]
        self._next = None
        for number, line in enumerate(left):
            if not most:
                self._next = line
                return
            part = -(-most // (len(left) - number))
            most -= min(part, len(line))
            line.work(part, now, contain)
