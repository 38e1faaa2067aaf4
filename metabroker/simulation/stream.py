"""What goes into the engine and what comes out: the stream of jobs, and the finished ones."""

from collections.abc import Callable, Iterable, Iterator
from math import inf

from metabroker.policy import Placement, Sizes
from metabroker.simulation.job import SimJob

Finished = tuple[float, int, int, SimJob, Placement, Sizes, float]
"""A job that has run: (end, serial number of its start, key, job, clusters, sizes, start).

It had `sizes[i]` processors on `clusters[i]`. If `sizes` differs from `job.request.sizes`, the
policy has split it, and it ran (1 + overhead) times as long. A plain tuple, because millions are
made; it is also the job's place in the queue of events.
"""

Sink = Callable[[list[Finished]], None]
"""What takes the finished jobs, some hundreds at a time, in order of their ends. It may keep the
list: the engine makes a new one."""

CHUNK = 400
"""About the number of finished jobs that a sink gets at a time. With thousands they would leave the
processor's cache, and the garbage collector (it looks after 700 new objects) would find them: the
whole run was 10 % slower."""


def in_order(jobs: Iterable[SimJob]) -> Iterator[SimJob]:
    """The same jobs. Raises ValueError for one out of order, or without a finite run time."""
    last = -inf
    for key, job in enumerate(jobs):
        submit, _, _, run_time, _ = job
        if not last <= submit < inf or not 0 <= run_time < inf:
            raise ValueError(
                f"job {key}: submitted at {submit}, after one of {last}, to run for {run_time}"
            )
        last = submit
        yield job
