"""One long run: batch means, and whether the batches are long enough to count as independent."""

from __future__ import annotations

from typing import NamedTuple

from .intervals import Interval, t_interval
from .series import Floats

BATCHES = 30


class BatchMeans(NamedTuple):
    """`lag1`: the correlation of neighbouring batches; well above 0 the interval is too small."""

    interval: Interval
    lag1: float
    batches: int


def batch_means(means: Floats, batches: int = BATCHES, level: float = 0.95) -> BatchMeans:
    """The interval of one run from the means of its groups of jobs (warm-up already cut).

    Raises ValueError for fewer than two groups per batch.
    """
    size = len(means) // batches
    if size < 2:
        raise ValueError(f"{len(means)} groups of jobs are too few for {batches} batches")
    found = means[len(means) - size * batches :].reshape(batches, size).mean(axis=1)
    centred = found - found.mean()
    executor = float(centred @ centred)
    lag1 = float(centred[1:] @ centred[:-1]) / executor if executor else 0.0
    return BatchMeans(t_interval(list(map(float, found)), level), lag1, batches)
