"""Files that jobs read: where each lies, how large it is, and how long it takes to come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from metabroker.policy import Request
from metabroker.simulation.job import SimJob

from .distributions import Law
from .streams import CHUNK, Floats, Purpose, stream

Costs = tuple[float, ...]
_MOST_SHAPES = 4096  # of requests that are shared


@dataclass(frozen=True)
class Files:
    """One file for a `share` of the jobs, drawn independently of all else.

    `size` is in megabytes; it lies in `copies` clusters, drawn by the weights `homes` without one
    twice. `bandwidth` is in megabytes for a unit of time, from one cluster to another; `links` has
    other ones, by the two clusters in increasing order. Raises ValueError for a bandwidth that is
    not above 0, and for more copies than clusters of a weight above 0.
    """

    share: float
    size: Law
    homes: tuple[float, ...]
    copies: int = 1
    bandwidth: float = 100.0
    links: Mapping[tuple[int, int], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not min((self.bandwidth, *self.links.values())) > 0:
            raise ValueError("a bandwidth is above 0")
        able = sum(weight > 0 for weight in self.homes)
        if not 1 <= self.copies <= able:
            raise ValueError(f"{self.copies} copies of a file in {able} clusters")

    def given_to(self, jobs: Iterable[SimJob], seed: int, replication: int) -> Iterator[SimJob]:
        """The same jobs; what their files cost is in their requests (`Request.costs`)."""
        numbers = stream(seed, replication, Purpose.INPUTS)
        shared: dict[tuple[Request, Costs], Request] = {}
        each = iter(jobs)
        while chunk := list(islice(each, CHUNK)):
            drawn = numbers.random((len(chunk), 2 + self.copies))
            sizes = self.size.times(drawn[:, 1])
            for job, row, size in zip(chunk, drawn, sizes.tolist(), strict=True):
                if row[0] >= self.share:
                    yield job
                    continue
                costs = self.costs(size, self._homes(row[2:]))
                if not any(costs):  # it lies everywhere, or is empty
                    yield job
                    continue
                key = job.request, costs
                request = shared.get(key)
                if request is None:
                    if len(shared) >= _MOST_SHAPES:
                        shared.clear()
                    request = shared[key] = replace(job.request, costs=costs)
                yield job._replace(request=request)

    def costs(self, size: float, homes: Iterable[int]) -> Costs:
        """The time until a file that lies in these clusters is in each."""
        at = sorted(homes)
        return tuple(
            0.0 if cluster in at else size / max(self._speed(one, cluster) for one in at)
            for cluster in range(len(self.homes))
        )

    def _speed(self, one: int, other: int) -> float:
        return self.links.get((min(one, other), max(one, other)), self.bandwidth)

    def _homes(self, uniforms: Floats) -> list[int]:
        """Clusters that differ, one for each number in [0, 1)."""
        weights = np.array(self.homes, dtype=np.float64)
        found = []
        for uniform in uniforms:
            edges = np.cumsum(weights)
            cluster = int(np.searchsorted(edges, uniform * edges[-1], side="right"))
            found.append(cluster)
            weights[cluster] = 0.0
        return found
