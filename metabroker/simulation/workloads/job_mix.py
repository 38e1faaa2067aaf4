"""The job mix of KH 2: sequential jobs and gangs on one system of partitionable processors.

Sizes are powers of two, all equally likely. A job of at most `nmax` tasks is sequential: its tasks
run one after another on one processor. A larger one is a gang: its tasks run together, and end
together. Task times are exponential; so a sequential job's time is a sum of as many of them as it
has tasks, and a gang's is one.

KH 3 says "Nmax = 8, 4, 2 means that 25%, 37.5% and 50% of the jobs respectively are sequential":
25 % and 50 % are swapped there, since with 8 of the sizes 1, 2, 4 ... 128 those up to 8 are half.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from metabroker.policy import Request, Sequential
from metabroker.simulation.job import SimJob

from .blocks import Block, Wholes
from .streams import Floats, Purpose, arrivals, stream


@dataclass(frozen=True)
class JobMixStream:
    """`processors` (a power of two), `nmax`, and mean times in the unit of the workload.

    Raises ValueError for numbers of processors that are not a power of two, and means not above 0.
    """

    nmax: int
    processors: int = 128
    mean_interarrival: float = 0.280
    mean_service: float = 1.0

    def __post_init__(self) -> None:
        if self.processors < 1 or self.processors & (self.processors - 1):
            raise ValueError(f"{self.processors} processors are not a power of two")
        if self.nmax < 0:
            raise ValueError(f"nmax is not negative, but {self.nmax}")
        if not (self.mean_interarrival > 0 and self.mean_service > 0):
            raise ValueError("the mean times must be above 0")

    @property
    def sizes(self) -> list[int]:
        """The numbers of tasks that there are."""
        return [1 << power for power in range(self.processors.bit_length())]

    @property
    def utilization(self) -> float:
        """What is offered, as a part of the processors: the same for every `nmax`."""
        sizes = self.sizes
        mean = sum(sizes) / len(sizes)
        return mean * self.mean_service / self.mean_interarrival / self.processors

    def jobs(self, seed: int, replication: int, count: int) -> Iterator[SimJob]:
        """The first `count` jobs. A job's tasks have their own times, whether they are one after
        another or together is `nmax`'s: the i-th job of two mixes has the same size."""
        sizes = self.sizes
        known = [Sequential((1,), tasks=n) if n <= self.nmax else Request((n,)) for n in sizes]
        for submits, kinds, times in self._drawn(seed, replication, count):
            columns = submits.tolist(), kinds.tolist(), times.tolist()
            for submit, kind, time in zip(*columns, strict=True):
                yield SimJob(submit, known[kind], 0, time, time)

    def blocks(self, seed: int, replication: int, count: int) -> Iterator[Block]:
        """The same."""
        sizes = np.array(self.sizes)
        sequential = sizes <= self.nmax
        needs = np.where(sequential, 1, sizes)[:, None]
        tasks = np.where(sequential, sizes, 0)
        for submits, kinds, times in self._drawn(seed, replication, count):
            here = np.zeros(len(submits), dtype=np.int64)
            yield Block(submits, times, times, here, needs[kinds], tasks[kinds])

    def _drawn(
        self, seed: int, replication: int, count: int
    ) -> Iterator[tuple[Floats, Wholes, Floats]]:
        """Submissions, indices of sizes and run times, in chunks."""
        gaps = stream(seed, replication, Purpose.ARRIVALS)
        kinds = stream(seed, replication, Purpose.SIZES)
        service = stream(seed, replication, Purpose.SERVICE)
        sizes = np.array(self.sizes)
        tasks = np.where(sizes <= self.nmax, sizes, 1)
        for submits in arrivals(self.mean_interarrival, gaps, count):
            chosen = (kinds.random(len(submits)) * len(sizes)).astype(np.int64)
            yield submits, chosen, service.standard_gamma(tasks[chosen]) * self.mean_service
