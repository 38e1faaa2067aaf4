"""What is asked of one cluster: for each component a line of effects, carried out one at a time.

The order in which a component's effects came is kept, whatever becomes of them. There is no thread
and no lock here: the executor works off the lines in real time, the worlds of the storm in virtual
time.
"""

from __future__ import annotations

from collections import deque

from metabroker.broker.effects import CleanStray, PendingEffect
from metabroker.broker.tokens import Ref


class Lines:
    """The effects that are under way or wait, and the orphans that are being removed."""

    def __init__(self) -> None:
        self._lines: dict[Ref, deque[PendingEffect]] = {}
        self._orphans: set[str] = set()

    def add(self, effect: PendingEffect) -> bool:
        """Put it at the end of its component's line; whether it is the first, and to be begun."""
        line = self._lines.setdefault(effect.ref, deque())
        line.append(effect)
        return len(line) == 1

    def first(self, ref: Ref) -> PendingEffect:
        """The effect that is to be carried out now."""
        return self._lines[ref][0]

    def alone(self, ref: Ref) -> bool:
        """Whether nothing else is asked of the component meanwhile."""
        return len(self._lines[ref]) == 1

    def finished(self, ref: Ref) -> PendingEffect | None:
        """The first one was answered; the next one, which is to be begun now."""
        line = self._lines[ref]
        line.popleft()
        if line:
            return line[0]
        del self._lines[ref]
        return None

    def claim(self, effect: CleanStray) -> bool:
        """Whether an orphan is to be removed now: it is not being removed already."""
        new = effect.token not in self._orphans
        self._orphans.add(effect.token)
        return new

    def removed(self, effect: CleanStray) -> None:
        """It was tried; the next poll tells whether it is gone."""
        self._orphans.discard(effect.token)
