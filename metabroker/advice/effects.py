"""What a setting would have changed, for whom, and how sure that is.

Jobs of one week hang together, so weeks are drawn and not jobs (block bootstrap): the interval of a
mean difference is that of many means over as many weeks, drawn with replacement. Of few weeks that
is too narrow: so it is at least Student's, of a ratio over blocks of weeks. A setting is compared
with the one in force on the same jobs. An effect is *certain* where the interval does not contain
zero, and the log has enough weeks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from metabroker.simulation.job import SimJob
from metabroker.traces.swf import SwfJob

from .settings import Setting
from .site import Floats, is_local

LEVEL = 0.99
"""Many effects are looked at together: with 95 % some would be certain by chance."""
WEEK = 7 * 86400.0
LEAST_WEEKS = 8
LEAST_JOBS = 100
_DRAWS = 2000
_SHORT = 3600.0
_BLOCK = 2  # weeks that are drawn together

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Effect:
    """The mean wait of some jobs in seconds under the setting in force (`before`) and under another
    one (`after`), and the interval of the difference (None: the log is too short to tell it)."""

    who: str
    jobs: int
    before: float
    after: float
    low: float | None
    high: float | None
    certain: bool

    @property
    def change(self) -> float:
        """The difference; below 0 they wait less."""
        return self.after - self.before

    @property
    def sign(self) -> int:
        """-1: they wait less; 1: more."""
        return -1 if self.change < 0 else 1


def groups(
    jobs: Sequence[SimJob], entries: Sequence[SwfJob], processors: Sequence[int], setting: Setting
) -> Mapping[str, Flags]:
    """Whose waits are told apart, by place in the log."""
    size = np.array([job.request.total for job in jobs])
    run = np.array([job.run_time for job in jobs])
    single = np.array([job.request.single for job in jobs])
    found: dict[str, Flags] = {"all jobs": np.ones(len(jobs), dtype=bool)}
    if setting.shared:
        local = np.array([is_local(entry) for entry in entries]) & single
        found["local jobs"] = local
        found["single jobs of the broker"] = single & ~local
        found["co-allocated jobs"] = ~single
        return found
    largest = max(processors)
    found["single jobs"], found["co-allocated jobs"] = single, ~single
    found["narrow jobs (to 1/16 of a cluster)"] = size <= largest / 16
    found["wide jobs (above 1/4 of a cluster)"] = size > largest / 4
    found["short jobs (to an hour)"], found["long jobs (above an hour)"] = (
        run <= _SHORT,
        run > _SHORT,
    )
    if found["single jobs"].all():
        del found["single jobs"]
    return found


def effects(
    submits: Floats, before: Floats, after: Floats, who: Mapping[str, Flags]
) -> Iterator[Effect]:
    """One for each group of jobs that is large enough."""
    known = ~(np.isnan(before) | np.isnan(after))
    weeks = ((submits - submits[0]) // WEEK).astype(int)
    draws = _drawn(int(weeks[-1]) + 1)
    for name, members in who.items():
        chosen = members & known
        count = int(chosen.sum())
        if count < LEAST_JOBS:
            continue
        counts = np.bincount(weeks[chosen], minlength=weeks[-1] + 1)
        gaps = np.bincount(weeks[chosen], (after - before)[chosen], minlength=int(weeks[-1]) + 1)
        means = gaps[draws].sum(axis=1) / np.maximum(1, counts[draws].sum(axis=1))
        low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        mean, half = gaps.sum() / count, _half_width(gaps, counts)
        low, high = min(low, mean - half), max(high, mean + half)
        ends = bool(np.isfinite(half))
        enough = int((counts > 0).sum()) >= LEAST_WEEKS
        yield Effect(
            name,
            count,
            float(before[chosen].mean()),
            float(after[chosen].mean()),
            float(low) if ends else None,
            float(high) if ends else None,
            enough and bool(low > 0 or high < 0),
        )


def _half_width(gaps: NDArray[Any], counts: NDArray[np.int_]) -> float:
    """Of Student's interval of the ratio of these sums by week, over blocks of weeks."""
    first = np.arange(0, len(gaps), _BLOCK)
    sums, numbers = np.add.reduceat(gaps, first), np.add.reduceat(counts, first)
    blocks, total = len(first), numbers.sum()
    if blocks < 2:
        return float("inf")
    rest = sums - numbers * sums.sum() / total
    error = np.sqrt((rest**2).sum() * blocks / (blocks - 1)) / total
    return float(error * special.stdtrit(blocks - 1, (1 + LEVEL) / 2))


def _drawn(weeks: int) -> NDArray[np.int_]:
    """Which weeks are in each of the samples: blocks of neighbours, in a circle."""
    draws = np.random.default_rng(1)
    blocks = -(-weeks // _BLOCK)
    first = draws.integers(0, weeks, (_DRAWS, blocks, 1))
    return ((first + np.arange(_BLOCK)) % weeks).reshape(_DRAWS, -1)[:, :weeks]
