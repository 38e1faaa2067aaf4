"""Others' jobs that came to a cluster a moment ago, and what they are about to take there.

A controller takes some seconds to start a job for which there is room. What such a job wants counts
as in use meanwhile, and its cluster is not contested by it: nobody has been kept waiting yet. But
somebody may submit jobs that never start, and cancel each before it has waited long. So this holds
for some seconds on end. After that nothing is kept free for them; and if they want all that is
idle, they want the cluster, as those do who wait there.
"""

from __future__ import annotations

from dataclasses import dataclass

_ON_END = 10.0
"""Seconds. A controller of Slurm starts what there is room for within 4 (see `clusters/slurm`)."""


@dataclass(slots=True)
class Arrivals:
    """Of one cluster. `since`: seconds by the broker's clock at which the first of those polls was
    taken that have each shown somebody who had just come; None: the last one showed nobody."""

    since: float | None = None

    def seen(self, wanted: int, idle: int, now: float) -> tuple[int, bool]:
        """A poll taken at `now` shows that those who have just come want so many processors of
        those that are `idle`. Answers how many of these count as in use, and whether the cluster
        is contested by them."""
        if not wanted:
            self.since = None
            return 0, False
        # The clock may have been set back.
        self.since = now if self.since is None else min(self.since, now)
        if now - self.since < _ON_END:
            return min(wanted, idle), False
        return 0, wanted >= idle
