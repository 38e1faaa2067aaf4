"""The availability profile: how many processors will be free, and when.

A step function of time, from running jobs' expected ends and from reservations: `earliest` finds
the first time at which a request fits for as long as it needs, `take` and `give` change what is
free in between. One pool of processors (`PoolProfile`) or several clusters (`Profile`).
"""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import inf

from metabroker.policy.placement import Place
from metabroker.policy.request import Placement, Request, Sizes

Slot = tuple[float, Placement]
"""A start and the clusters; (inf, ()) for a request that never fits."""

NEVER: Slot = (inf, ())


class AnyProfile(ABC):
    """What the two have in common: the steps. `times[i]` is where step i begins; the last is open.

    Times before the last `forget` are not known any more.
    """

    def __init__(self) -> None:
        self.times: list[float] = [-inf]

    @abstractmethod
    def earliest(self, request: Request, duration: float, now: float) -> Slot:
        """The first time, at least `now`, from which the request fits for `duration`."""

    @abstractmethod
    def take(self, start: float, end: float, clusters: Placement, sizes: Sizes) -> None:
        """`sizes[i]` processors of `clusters[i]` are in use from `start` until `end`."""

    @abstractmethod
    def give(self, start: float, end: float, clusters: Placement, sizes: Sizes) -> None:
        """They are free again from `start` until `end`."""

    @abstractmethod
    def forget(self, now: float) -> None:
        """Drop the steps that have ended by `now`."""


class PoolProfile(AnyProfile):
    """The free processors of one pool."""

    def __init__(self, processors: int) -> None:
        super().__init__()
        self.free: list[int] = [processors]

    def earliest(self, request: Request, duration: float, now: float) -> Slot:
        times, free, size = self.times, self.free, request.total
        start = now
        step = bisect_right(times, now) - 1
        for later in range(step, len(times)):
            if times[later] >= start + duration and later > step:
                break
            if free[later] < size:
                start = times[later + 1] if later + 1 < len(times) else inf
                step = later + 1
        return NEVER if start == inf else (start, (0,) * len(request.sizes))

    def take(self, start: float, end: float, clusters: Placement, sizes: Sizes) -> None:
        self._add(start, end, -sum(sizes))

    def give(self, start: float, end: float, clusters: Placement, sizes: Sizes) -> None:
        self._add(start, end, sum(sizes))

    def forget(self, now: float) -> None:
        gone = bisect_right(self.times, now) - 1
        del self.times[:gone], self.free[:gone]

    def copy(self) -> "PoolProfile":
        """The same, to be changed apart."""
        found = PoolProfile(0)
        found.times, found.free = list(self.times), list(self.free)
        return found

    def least(self, other: "PoolProfile") -> "PoolProfile":
        """What is free in both."""
        found = PoolProfile(0)
        found.times = sorted({*self.times, *other.times})
        found.free = [min(self._at(time), other._at(time)) for time in found.times]
        return found

    def _at(self, time: float) -> int:
        return self.free[bisect_right(self.times, time) - 1]

    def _add(self, start: float, end: float, processors: int) -> None:
        first, last = self._cut(start), self._cut(end)
        free = self.free
        for step in range(first, last):
            free[step] += processors
        self._join(last)
        self._join(first)

    def _cut(self, time: float) -> int:
        """The step that begins at `time`, made if there is none."""
        step = bisect_left(self.times, time)
        if step == len(self.times) or self.times[step] != time:
            self.times.insert(step, time)
            self.free.insert(step, self.free[step - 1])
        return step

    def _join(self, step: int) -> None:
        """Two steps with the same free processors become one."""
        if 0 < step < len(self.free) and self.free[step] == self.free[step - 1]:
            del self.times[step], self.free[step]


class Profile(AnyProfile):
    """The free processors of several clusters, `free[i][c]` in step i; `place` says what fits."""

    def __init__(self, processors: Sequence[int], place: Place) -> None:
        super().__init__()
        self.free: list[list[int]] = [list(processors)]
        self._place = place

    @classmethod
    def of(cls, pools: Sequence[PoolProfile], place: Place) -> "Profile":
        """The profile of clusters of which each has its own."""
        found = cls([0] * len(pools), place)
        found.times = sorted({time for pool in pools for time in pool.times})
        found.free = [[pool._at(time) for pool in pools] for time in found.times]
        return found

    def earliest(self, request: Request, duration: float, now: float) -> Slot:
        times = self.times
        for step in range(bisect_right(times, now) - 1, len(times)):
            if self._place(request, self.free[step]) is None:
                continue
            start = max(times[step], now)
            clusters = self._place(request, self._least(step, start + duration))
            if clusters is not None:
                return start, clusters
        return NEVER

    def take(self, start: float, end: float, clusters: Placement, sizes: Sizes) -> None:
        self._add(start, end, clusters, [-size for size in sizes])

    def give(self, start: float, end: float, clusters: Placement, sizes: Sizes) -> None:
        self._add(start, end, clusters, sizes)

    def forget(self, now: float) -> None:
        gone = bisect_right(self.times, now) - 1
        del self.times[:gone], self.free[:gone]

    def _least(self, step: int, end: float) -> list[int]:
        """What is free in each cluster from the step until `end`."""
        least = self.free[step]
        for later in range(step + 1, len(self.times)):
            if self.times[later] >= end:
                break
            least = list(map(min, least, self.free[later]))
        return least

    def _add(self, start: float, end: float, clusters: Placement, sizes: Sequence[int]) -> None:
        first, last = self._cut(start), self._cut(end)
        for free in self.free[first:last]:
            for cluster, size in zip(clusters, sizes, strict=True):
                free[cluster] += size
        self._join(last)
        self._join(first)

    def _cut(self, time: float) -> int:
        """The step that begins at `time`, made if there is none."""
        step = bisect_left(self.times, time)
        if step == len(self.times) or self.times[step] != time:
            self.times.insert(step, time)
            self.free.insert(step, list(self.free[step - 1]))
        return step

    def _join(self, step: int) -> None:
        """Two steps with the same free processors become one."""
        if 0 < step < len(self.free) and self.free[step] == self.free[step - 1]:
            del self.times[step], self.free[step]


def profile_of(processors: Sequence[int], place: Place) -> AnyProfile:
    """An empty system: of one cluster a PoolProfile, of several a Profile."""
    return PoolProfile(processors[0]) if len(processors) == 1 else Profile(processors, place)
