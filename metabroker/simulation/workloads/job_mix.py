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

from metabroker.policy import Request, Sequential
from metabroker.simulation.job import SimJob

from .streams import Purpose, arrivals, stream


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
        gaps = stream(seed, replication, Purpose.ARRIVALS)
        kinds = stream(seed, replication, Purpose.SIZES)
        service = stream(seed, replication, Purpose.SERVICE)
        sizes = self.sizes
        known = [Sequential((1,), tasks=n) if n <= self.nmax else Request((n,)) for n in sizes]
        for submits in arrivals(self.mean_interarrival, gaps, count):
            chosen = (kinds.random(len(submits)) * len(sizes)).astype(int).tolist()
            for submit, kind in zip(submits, chosen, strict=True):
                tasks = sizes[kind] if sizes[kind] <= self.nmax else 1
                time = float(service.standard_gamma(tasks)) * self.mean_service
                yield SimJob(submit, known[kind], 0, time, time)
