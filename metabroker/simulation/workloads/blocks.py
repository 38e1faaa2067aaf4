"""Jobs as arrays, some thousand at a time: what the kernel plays, and what `jobs()` are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from metabroker.policy import Request, Sequential
from metabroker.simulation.job import SimJob

from .streams import CHUNK, Floats

if TYPE_CHECKING:
    from metabroker.simulation.local_users import JobStream

Wholes = NDArray[np.int64]


class NotCovered(ValueError):
    """A request that only the readable policies understand; why, in its words."""


class Block(NamedTuple):
    """Jobs one after another; what is told of each is what `SimJob` tells of it."""

    submit: Floats
    run: Floats
    estimate: Floats
    local: Wholes
    sizes: Wholes
    """A line for each job: its components in decreasing order, then zeros."""
    tasks: Wholes | None = None
    """Of a sequential job of a job mix, its number of tasks; 0: a gang. None: all are gangs."""


@runtime_checkable
class BlockStream(Protocol):
    """A workload that is drawn in blocks."""

    def blocks(self, seed: int, replication: int, count: int) -> Iterator[Block]:
        """The same as its `jobs`."""


def blocks_of(workload: JobStream, seed: int, replication: int, count: int) -> Iterator[Block]:
    """The jobs of a workload, of which it draws as many or has them one by one (`JobStream`).

    Raises NotCovered for an ordered request, and for one with bounds.
    """
    if isinstance(workload, BlockStream):
        return workload.blocks(seed, replication, count)
    return blocks_of_jobs(workload.jobs(seed, replication, count))


def blocks_of_jobs(jobs: Iterable[SimJob], size: int = CHUNK) -> Iterator[Block]:
    """The same jobs, so many in each block. Raises NotCovered for a request that says where it may
    run, or may not, and for one whose files must come."""
    stream = iter(jobs)
    while chunk := list(islice(stream, size)):
        requests = [job.request for job in chunk]
        for request in requests:
            if request.needs or request.bounded:
                raise NotCovered("jobs that say where they may run")
            if request.costs:
                raise NotCovered("jobs whose files must come")
        tasks = [request.tasks if isinstance(request, Sequential) else 0 for request in requests]
        yield Block(
            np.array([job.submit for job in chunk], dtype=np.float64),
            np.array([job.run_time for job in chunk], dtype=np.float64),
            np.array([job.estimate for job in chunk], dtype=np.float64),
            np.array([job.local for job in chunk], dtype=np.int64),
            padded(requests),
            np.array(tasks, dtype=np.int64),
        )


def padded(requests: Sequence[Request]) -> Wholes:
    """The sizes of a block."""
    width = max(len(request.sizes) for request in requests)
    padding = (0,) * width
    sizes = [(request.decreasing + padding)[:width] for request in requests]
    return np.array(sizes, dtype=np.int64)
