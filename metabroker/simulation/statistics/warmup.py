"""How much of a run's beginning is cut: MSER-5 with a floor, a fraction, or nothing.

MSER-5 (White 1997; White, Cobb and Spratt 2000): of all cuts within the first half of the run, the
one whose remaining means of five give the mean with the least standard error.
"""

from __future__ import annotations

import numpy as np

from .series import Floats, Series

FLOOR = 0.05
"""`auto` cuts at least this part: the first jobs have found an empty system."""


def mser(means: Floats) -> int:
    """The number of leading values to cut, at most half of them.

    `means` are the run's batch means in their order; 0 for less than four of them.
    """
    count = len(means)
    if count < 4:
        return 0
    # Suffix sums: of all values from d on, for every d at once.
    values = means[::-1] - means.mean()
    sums = np.cumsum(values)[::-1]
    squares = np.cumsum(values * values)[::-1]
    left = np.arange(count, 0, -1, dtype=np.float64)
    errors = (squares - sums * sums / left) / (left * left)
    return int(np.argmin(errors[: count // 2 + 1]))


def cut(series: Series, rule: str | float = "auto", column: str = "response") -> int:
    """The number of leading groups of `series` to cut.

    `rule` is "auto" (MSER-5 with a floor), "none", or the fraction of the jobs to cut.
    Raises ValueError for another word or a fraction outside [0, 1).
    """
    if rule == "none":
        return 0
    if rule == "auto":
        means = series.means(column)
        return max(mser(means), int(FLOOR * len(means)))
    if isinstance(rule, str) or not 0 <= rule < 1:
        raise ValueError(f"warm-up is auto, none or a fraction below 1, not {rule!r}")
    return int(rule * series.groups)
