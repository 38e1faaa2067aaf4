"""Synthetic workloads: Poisson arrivals, drawn sizes and service times (BE03 2.4, BE07 2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from metabroker.simulation.job import SimJob

from .blocks import Block, Wholes
from .distributions import Discrete, Law
from .shapes import Shapes
from .streams import Floats, Purpose, arrivals, stream


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
        shapes, extension = self.shapes, self.extension
        for submits, uniforms, queues, services in self._drawn(seed, replication, count):
            requests = shapes.requests(uniforms)
            columns = submits.tolist(), requests, queues.tolist(), services.tolist()
            for submit, request, queue, time in zip(*columns, strict=True):
                if not request.single:
                    time *= extension
                yield SimJob(submit, request, queue, time, time)

    def blocks(self, seed: int, replication: int, count: int) -> Iterator[Block]:
        """The same."""
        for submits, uniforms, queues, times in self._drawn(seed, replication, count):
            sizes = self.shapes.sizes_of(uniforms)
            if sizes.shape[1] > 1:
                times[sizes[:, 1] > 0] *= self.extension
            yield Block(submits, times, times, queues, sizes)

    def _drawn(
        self, seed: int, replication: int, count: int
    ) -> Iterator[tuple[Floats, Floats, Wholes, Floats]]:
        """Submissions, what the shapes are made of, local queues and service times, in chunks."""
        gaps = stream(seed, replication, Purpose.ARRIVALS)
        sizes = stream(seed, replication, Purpose.SIZES)
        local = stream(seed, replication, Purpose.QUEUES)
        service = stream(seed, replication, Purpose.SERVICE)
        for submits in arrivals(1 / self.arrival_rate, gaps, count):
            size = len(submits)
            uniforms = sizes.random((size, self.shapes.columns))
            queues = self.queues.indices(local.random(size))
            yield submits, uniforms, queues, self.service.times(service.random(size))

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
