"""How long a job will run, from how long jobs like it ran.

Users ask for far more time than they need, but do the same again and again: what the last jobs of
the same user ran tells more than the limit (Tsafrir, Etsion and Feitelson 2007); of those that bear
its name most.
"""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Iterable

from .asked import Asked

_LAST = 6  # jobs of one kind that are remembered
_OF_ALL = 200
_MOST_KINDS = 5_000
_NUMBER = re.compile(r"[0-9]+")  # of a run, a day: jobs are numbered that are the same

_Kind = tuple[str, str, int, float]


class RunTimes:
    """The last run times of each kind of jobs, of a bounded number of kinds."""

    def __init__(self) -> None:
        self._kinds: OrderedDict[_Kind, deque[float]] = OrderedDict()
        self._parts: deque[float] = deque(maxlen=_OF_ALL)
        """Of their limits, how much the last jobs of all users ran."""

    def ended(self, asked: Asked, ran: float) -> None:
        """A job ran so many seconds."""
        for kind in _kinds(asked):
            times = self._kinds.get(kind)
            if times is None:
                times = self._kinds[kind] = deque(maxlen=_LAST)
                if len(self._kinds) > _MOST_KINDS:
                    self._kinds.popitem(last=False)
            self._kinds.move_to_end(kind)
            times.append(ran)
        self._parts.append(ran / max(1.0, asked.limit))

    def possible(self, asked: Asked, elapsed: float) -> list[float]:
        """Equally likely times that a job which has run for `elapsed` seconds still runs, at least
        one: by jobs of its kind, else of its user, else of all users."""
        known = (self._kinds[kind] for kind in _kinds(asked) if kind in self._kinds)
        times: Iterable[float] = next(known, ())
        found = [ran for ran in times if ran > elapsed]
        if not found:
            found = [part * asked.limit for part in self._parts if part * asked.limit > elapsed]
        left = max(1.0, asked.limit - elapsed)
        return [min(max(1.0, ran - elapsed), left) for ran in found] or [left]


def _kinds(asked: Asked) -> list[_Kind]:
    """Of the jobs of its user that have its name, ask for as much, and for as much time; that ask
    for as much, for as much time; and of all of them."""
    user, limit, total = asked.user, asked.limit, asked.request.total
    of_all = [(user, "", total, limit), (user, "", 0, limit), (user, "", 0, 0.0)]
    if not asked.name:
        return of_all
    name = _NUMBER.sub("0", asked.name)
    return [(user, name, total, limit), (user, name, 0, 0.0), *of_all]
