"""The largest utilization at which a system is stable: by bisection."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Capacity(NamedTuple):
    """Stable at `low`, not at `high`: the limit lies between them."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The best guess."""
        return (self.low + self.high) / 2


def capacity(
    stable: Callable[[float], bool], low: float, high: float, resolution: float = 0.005
) -> Capacity:
    """Narrow the limit down until it is known to +- `resolution`.

    `stable(utilization)` runs the system. Raises ValueError if it is stable at `high`, or not at
    `low`.
    """
    if not 0 < low < high:
        raise ValueError(f"utilizations from {low} to {high} are not a range")
    if stable(high):
        raise ValueError(f"stable at {high}: begin with more")
    if not stable(low):
        raise ValueError(f"not stable at {low}: begin with less")
    while high - low > 2 * resolution:
        middle = (low + high) / 2
        if stable(middle):
            low = middle
        else:
            high = middle
    return Capacity(low, high)
