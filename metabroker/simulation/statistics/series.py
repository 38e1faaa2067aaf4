"""A run of any length in constant memory: sums over groups of jobs that finished one after another.

While there is room a group has `GROUP` jobs (5: MSER-5 works on these means); when all rows are
used, neighbours are merged and groups become twice as large. Whatever is to be told of a part of
the run, such as all but its warm-up, is told to the accuracy of one group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

GROUP = 5
ROWS = 16_384

Floats = NDArray[np.float64]


class Series:
    """Sums of several `columns` (and maxima of others) over groups of consecutive jobs.

    `columns` names what is summed up; `maxima` what the largest is kept of. Rows are groups in
    the order in which their jobs finished.
    """

    def __init__(
        self, columns: Sequence[str], maxima: Sequence[str] = (), *, rows: int = ROWS
    ) -> None:
        if rows < 2 or rows % 2:
            raise ValueError(f"the number of rows is even and at least 2, not {rows}")
        self.columns = tuple(columns)
        self.maxima = tuple(maxima)
        self.group = GROUP
        self.jobs = 0
        self._sums = np.zeros((rows, len(self.columns)))
        self._tops = np.zeros((rows, len(self.maxima)))

    def add(self, sums: Floats, tops: Floats | None = None) -> None:
        """Jobs that have finished, in their order: `sums` has one line per job and a value for
        each of `columns`, `tops` one for each of `maxima` (none negative)."""
        start = 0
        while start < len(sums):
            room = len(self._sums) * self.group - self.jobs
            if room == 0:
                self._merge()
                continue
            stop = min(len(sums), start + room)
            where = (self.jobs + np.arange(stop - start)) // self.group
            first = int(where[0])
            edges = np.concatenate(([0], np.flatnonzero(np.diff(where)) + 1))
            rows = slice(first, first + len(edges))
            self._sums[rows] += np.add.reduceat(sums[start:stop], edges, axis=0)
            if tops is not None and self.maxima:
                best = np.maximum.reduceat(tops[start:stop], edges, axis=0)
                self._tops[rows] = np.maximum(self._tops[rows], best)
            self.jobs += stop - start
            start = stop

    def _merge(self) -> None:
        half = len(self._sums) // 2
        self._sums[:half] = self._sums[0::2] + self._sums[1::2]
        self._sums[half:] = 0.0
        self._tops[:half] = np.maximum(self._tops[0::2], self._tops[1::2])
        self._tops[half:] = 0.0
        self.group *= 2

    @property
    def groups(self) -> int:
        """The number of groups that are full."""
        return self.jobs // self.group

    def means(self, column: str) -> Floats:
        """The mean of a column in each full group."""
        found: Floats = self._sums[: self.groups, self.columns.index(column)] / self.group
        return found

    def total(self, column: str, skipped: int = 0) -> float:
        """The sum of a column over all jobs but those of the first `skipped` groups."""
        return float(self._sums[skipped:, self.columns.index(column)].sum())

    def top(self, column: str, skipped: int = 0) -> float:
        """The largest value of one of `maxima`, without the first `skipped` groups."""
        return float(self._tops[skipped:, self.maxima.index(column)].max(initial=0.0))

    def top_before(self, column: str, groups: int) -> float:
        """The largest value of one of `maxima` in the first `groups` groups; 0 of none."""
        return float(self._tops[:groups, self.maxima.index(column)].max(initial=0.0))
