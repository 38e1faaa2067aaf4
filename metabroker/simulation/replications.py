"""Replications of runs, summed up: intervals of their means, and whether the system kept up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .measure import JobOutcome
from .statistics.intervals import Interval, t_interval
from .statistics.saturation import saturated


@dataclass(frozen=True)
class Summary:
    """Independent replications of one run."""

    outcomes: tuple[JobOutcome, ...]

    def interval(self, what: Callable[[JobOutcome], float | None]) -> Interval | None:
        """The interval of a figure; None if a replication has none (no job of that kind)."""
        values = [what(outcome) for outcome in self.outcomes]
        known = [value for value in values if value is not None]
        return t_interval(known) if known and len(known) == len(values) else None

    @property
    def response(self) -> Interval:
        """The mean response time of all jobs."""
        return t_interval([outcome.response for outcome in self.outcomes])

    @property
    def saturated(self) -> bool:
        """Could the system not keep up? Then its means tell only how long the run was."""
        return saturated([outcome.growth for outcome in self.outcomes])

    def mean(self, what: Callable[[JobOutcome], float | None]) -> float | None:
        """The mean of a figure over the replications."""
        found = self.interval(what)
        return None if found is None else found.mean
