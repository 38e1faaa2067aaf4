"""Synthetic workloads: Poisson arrivals, drawn sizes and service times (BE03 2.4, BE07 2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from metabroker.simulation.job import SimJob

from .distributions import Discrete, Law
from .shapes import Shapes
from .streams import Purpose, arrivals, stream


@dataclass(frozen=True)
class Synthetic:
    """Jobs with shapes, service times and local queues drawn independently.

    `arrival_rate` is in jobs per unit of time; `queues` gives the local queue at which a job is
    submitted; a job of several components runs `extension` times its service time (BE07 2.2).
    Raises ValueError for a rate that is not above 0 or an extension factor below 1.
    """

    shapes: Shapes
    service: Law
    queues: Discrete
    arrival_rate: float
    extension: float = 1.0

    def __post_init__(self) -> None:
        if not self.arrival_rate > 0:
            raise ValueError(f"the arrival rate must be above 0, not {self.arrival_rate:g}")
        if not self.extension >= 1:
            raise ValueError(f"the extension factor is at least 1, not {self.extension:g}")

    def jobs(self, seed: int, replication: int, count: int) -> Iterator[SimJob]:
        """The first `count` jobs of a replication."""
        gaps = stream(seed, replication, Purpose.ARRIVALS)
        sizes = stream(seed, replication, Purpose.SIZES)
        local = stream(seed, replication, Purpose.QUEUES)
        service = stream(seed, replication, Purpose.SERVICE)
        law, shapes, queues = self.service, self.shapes, self.queues
        extension = self.extension
        for submits in arrivals(1 / self.arrival_rate, gaps, count):
            size = len(submits)
            requests = shapes.requests(sizes.random((size, shapes.columns)))
            where = queues.indices(local.random(size)).tolist()
            times = law.times(service.random(size)).tolist()
            for submit, request, queue, time in zip(submits, requests, where, times, strict=True):
                if not request.single:
                    time *= extension
                yield SimJob(submit, request, queue, time, time)

    def utilization(self, processors: int) -> tuple[float, float]:
        """Gross and net utilization offered to a system of so many processors."""
        per_processor = self.arrival_rate * self.service.mean / processors
        return per_processor * self.shapes.work(self.extension), per_processor * self.shapes.work(1)


def rate_for(
    utilization: float, shapes: Shapes, service: Law, processors: int, extension: float = 1.0
) -> float:
    """The arrival rate that offers a gross utilization (models, section 3).

    Raises ValueError for a utilization that is not above 0.
    """
    if not utilization > 0:
        raise ValueError(f"the utilization must be above 0, not {utilization:g}")
    return utilization * processors / (shapes.work(extension) * service.mean)
