"""Confidence intervals of independent replications, and of differences on the same jobs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special  # and not stats, which takes a second to import


class Interval(NamedTuple):
    """A mean and the half-width of its confidence interval (nan for a single value)."""

    mean: float
    half: float
    values: int

    @property
    def low(self) -> float:
        """The interval's lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """The interval's upper end."""
        return self.mean + self.half

    @property
    def relative(self) -> float:
        """The half-width as a part of the mean; infinite for a mean of 0 that is not exact."""
        if self.half == 0:
            return 0.0
        return self.half / abs(self.mean) if self.mean else math.inf

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high


def t_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """Student's interval of the mean of independent values. Raises ValueError for none."""
    if not values:
        raise ValueError("an interval needs at least one value")
    mean, count = float(np.mean(values)), len(values)
    if count == 1:
        return Interval(mean, math.nan, 1)
    error = float(np.std(values, ddof=1)) / math.sqrt(count)
    return Interval(mean, error * float(special.stdtrit(count - 1, (1 + level) / 2)), count)


def paired(first: Sequence[float], second: Sequence[float], level: float = 0.95) -> Interval:
    """The interval of `first - second`, run by run: replications on the same jobs.

    Raises ValueError if they are not equally many.
    """
    differences = [a - b for a, b in zip(first, second, strict=True)]
    return t_interval(differences, level)


def precise_enough(values: Sequence[float], precision: float, least: int = 3) -> bool:
    """Is the half-width at most the part `precision` of the mean, with at least `least` values?"""
    return len(values) >= max(2, least) and t_interval(values).relative <= precision
