"""Does the system keep up? The mean response time of one that does not only tells the run's length.

In a stable system the response time settles; offered more than it can do, it grows with every job.
The growth of a run is the slope of the response time over its jobs, times their number, over their
mean: about 0 when settled, 2 when it rises from nothing in a straight line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .intervals import t_interval
from .series import Floats

GROWTH = 1.0
"""A mean growth from here on is taken for saturation ..."""
SURELY = 0.5
"""... where even its confidence interval stays above this."""
FEW = 5
"""Fewer replications have so wide an interval that each of them is asked instead."""


def growth(means: Floats) -> float:
    """The growth of one run, from the means of its groups, the warm-up included."""
    count = len(means)
    mean = float(means.mean()) if count else 0.0
    if count < 4 or mean <= 0:
        return 0.0
    slope = float(np.polyfit(np.linspace(0.0, 1.0, count), means, 1)[0])
    return slope / mean


def saturated(growths: Sequence[float]) -> bool:
    """Did these replications of one system show that it cannot keep up?"""
    if not growths:
        return False
    found = t_interval(growths)
    surely = min(growths) if len(growths) < FEW else found.low
    return found.mean >= GROWTH and surely > SURELY
