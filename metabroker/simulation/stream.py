"""What goes into the engine and what comes out: the stream of jobs, and the finished ones."""

from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import NamedTuple

from metabroker.policy import Placement, Sizes
from metabroker.simulation.job import SimJob


class Finished(NamedTuple):
    """A job that has run. It is also the job's place in the queue of events.

    It had `sizes[i]` processors on `clusters[i]`, from `start` on; and before that for as long as
    its files took to come (`policy.transfer_time`). If `sizes` differs from `job.request.sizes`,
    the policy has split it, and it ran (1 + overhead) times as long.
    """

    end: float
    serial: int
    """The number of its start: equal ends come in the order of the starts."""
    key: int
    job: SimJob
    clusters: Placement
    sizes: Sizes
    start: float


Sink = Callable[[list[Finished]], None]
"""What takes the finished jobs, some hundreds at a time, in order of their ends. It may keep the
list: the engine makes a new one."""

CHUNK = 400
"""The number of finished jobs that a sink gets at a time."""


def in_order(jobs: Iterable[SimJob]) -> Iterator[SimJob]:
    """The same jobs. Raises ValueError for one out of order, or without a finite run time."""
    last = -inf
    for key, job in enumerate(jobs):
        if not last <= job.submit < inf or not 0 <= job.run_time < inf:
            raise ValueError(
                f"job {key}: submitted at {job.submit}, after one of {last}, "
                f"to run for {job.run_time}"
            )
        last = job.submit
        yield job
