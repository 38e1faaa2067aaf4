"""Jobs that are all submitted at the same moment (DCS 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metabroker.policy import Request
from metabroker.simulation.job import SimJob


@dataclass(frozen=True)
class Batch:
    """Requests with their run times in seconds, in the order in which they join the queue."""

    entries: tuple[tuple[Request, float], ...]

    def jobs(
        self, seed: int = 0, replication: int = 0, count: int | None = None
    ) -> Iterator[SimJob]:
        """All jobs, or the first `count` of them. Nothing is drawn."""
        for request, time in self.entries[:count]:
            yield SimJob(0.0, request, 0, time, time)


def alternating(kinds: Sequence[tuple[Request, float]], count: int) -> Batch:
    """`count` jobs of several kinds in turn."""
    return Batch(tuple(kinds[index % len(kinds)] for index in range(count)))
