"""The availability profile: how many processors will be free, and when.

A step function of time, from running jobs' expected ends and from reservations: `earliest` finds
the first time at which a request fits for as long as it needs, `take` and `give` change what is
free in between.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from math import inf

from metabroker.policy.placement import Place, worst_fit
from metabroker.policy.request import Placement, Request, Sizes

Slot = tuple[float, Placement]
"""A start and the clusters; (inf, ()) for a request that never fits."""

NEVER: Slot = (inf, ())


class Profile:
    """The free processors of clusters, `free[i][c]` in step i; `place` says what fits.

    `times[i]` is where step i begins; the last is open.
    """

    def __init__(self, processors: Sequence[int], place: Place = worst_fit) -> None:
        self.times: list[float] = [-inf]
        self.free: list[list[int]] = [list(processors)]
        self._place = place

    @classmethod
    def of(cls, profiles: Sequence["Profile"], place: Place) -> "Profile":
        """The clusters of several profiles, one after another."""
        return cls._combined(profiles, place, lambda frees: [n for free in frees for n in free])

    def least(self, other: "Profile") -> "Profile":
        """What is free in both."""
        return self._combined([self, other], self._place, lambda frees: list(map(min, *frees)))

    @classmethod
    def _combined(
        cls,
        profiles: Sequence["Profile"],
        place: Place,
        combine: Callable[[list[list[int]]], list[int]],
    ) -> "Profile":
        found = cls((), place)
        found.times = sorted({time for each in profiles for time in each.times})
        found.free = [
            combine([each.free[bisect_right(each.times, time) - 1] for each in profiles])
            for time in found.times
        ]
        return found

    def copy(self) -> "Profile":
        """The same, to be changed apart."""
        return self.of([self], self._place)

    def earliest(self, request: Request, duration: float, now: float) -> Slot:
        """The first time, at least `now`, from which the request fits for `duration`."""
        step = bisect_right(self.times, now) - 1
        while step < len(self.times):
            start = max(self.times[step], now)
            window = self._window(step, start + duration)
            too_full = self._last_too_full(request, window)
            if too_full is None:
                too_full = 0
                clusters = self._place(request, list(map(min, *window, window[0])))
                if clusters is not None:
                    return start, clusters
            step += 1 + too_full
        return NEVER

    def always_free(self, start: float, duration: float) -> list[int]:
        """What is free all the time from `start` on for `duration`, by cluster."""
        window = self._window(bisect_right(self.times, start) - 1, start + duration)
        return list(map(min, *window, window[0]))

    def _window(self, step: int, end: float) -> list[list[int]]:
        """What is free in this step and all that begin before `end`."""
        return self.free[step : bisect_left(self.times, end, step + 1)]

    def _last_too_full(self, request: Request, window: Sequence[Sequence[int]]) -> int | None:
        """The last step in which there is no room for it: it starts after that, if at all."""
        backwards = range(len(window) - 1, -1, -1)
        if len(window[0]) == 1:  # no need to ask where
            total = request.total
            return next((n for n in backwards if window[n][0] < total), None)
        return next((n for n in backwards if self._place(request, window[n]) is None), None)

    def take(self, start: float, end: float, clusters: Placement, sizes: Sizes) -> None:
        """`sizes[i]` processors of `clusters[i]` are in use from `start` until `end`."""
        self._add(start, end, clusters, [-size for size in sizes])

    def give(self, start: float, end: float, clusters: Placement, sizes: Sizes) -> None:
        """They are free again from `start` until `end`."""
        self._add(start, end, clusters, sizes)

    def forget(self, now: float) -> None:
        """Drop the steps that have ended by `now`: nothing is known of them any more."""
        gone = bisect_right(self.times, now) - 1
        del self.times[:gone], self.free[:gone]

    def _add(self, start: float, end: float, clusters: Placement, sizes: Sequence[int]) -> None:
        first, last = self._cut(start), self._cut(end)
        for cluster, size in zip(clusters, sizes, strict=True):
            for free in self.free[first:last]:
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
