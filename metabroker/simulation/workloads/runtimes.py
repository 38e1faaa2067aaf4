"""Jobs whose run time depends on their total size and number of components (BE07 5).

BE07's Table 5, the run times of Ensflow and Poisson measured on the DAS, is lost. `STAND_INS` are
tables of ours that agree with all that its text still says of them: speedups of Poisson from 8 to
32 processors of 3.45 on one and 3.46 on two clusters, from 16 to 32 on four clusters of 1.74; a
largest extension factor of 1.23; Ensflow hardly extended, its sizes divisors of 60. Whatever is
found with them is found with stand-ins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from metabroker.policy import Limits, Request
from metabroker.simulation.job import SimJob

from .blocks import Block, Wholes, padded
from .distributions import Discrete
from .streams import Floats, Purpose, arrivals, stream
from .tables import rows


class Measured(NamedTuple):
    """A run time in seconds of a job of `total` processors in `components` equal parts."""

    application: str
    total: int
    components: int
    run_time: float

    @property
    def sizes(self) -> tuple[int, ...]:
        """Its components: as equal as possible, the larger ones first."""
        size, more = divmod(self.total, self.components)
        return (size + 1,) * more + (size,) * (self.components - more)


def _table(application: str, times: dict[int, dict[int, float]]) -> tuple[Measured, ...]:
    return tuple(
        Measured(application, total, components, time)
        for total, row in times.items()
        for components, time in row.items()
    )


# On one cluster Poisson's speedup from 8 to 32 is 278.6 / 80.75 = 3.45, on two 307.6 / 88.9 =
# 3.46; on four, from 16 to 32, 172.8 / 99.3 = 1.74; its largest extension is 99.3 / 80.75 = 1.23.
STAND_INS: dict[str, tuple[Measured, ...]] = {
    "ensflow": _table(
        "ensflow",
        {
            10: {1: 1170.0, 2: 1177.0},
            12: {1: 980.0, 2: 986.0, 3: 990.0},
            15: {1: 790.0, 3: 797.0},
            20: {1: 600.0, 2: 604.0, 4: 610.0},
            30: {1: 408.0, 2: 412.0, 3: 415.0},
            60: {2: 222.0, 3: 224.0, 4: 226.0},
        },
    ),
    "poisson": _table(
        "poisson",
        {
            8: {1: 278.6, 2: 307.6},
            16: {1: 147.0, 2: 160.0, 4: 172.8},
            32: {1: 80.75, 2: 88.9, 4: 99.3},
            64: {2: 54.0, 4: 60.0},
        },
    ),
}


def from_file(path: str | Path) -> tuple[Measured, ...]:
    """A table of one's own: columns application, total, components, run_time (seconds).

    Raises WorkloadError naming file and line.
    """
    found = []
    for row in rows(path, ("application", "total", "components", "run_time")):
        total, components = row.whole("total"), row.whole("components")
        if components > total:
            raise row.wrong("components", f"{total} processors cannot form {components} components")
        time = row.number("run_time")
        found.append(Measured(row.values["application"], total, components, time))
    return tuple(found)


def admitted(table: Sequence[Measured], limits: Limits, clusters: Sequence[int]) -> list[Measured]:
    """The lines that a coallocation rule admits and the clusters can hold (BE07 5.1)."""
    rooms = sorted(clusters, reverse=True)
    return [
        entry
        for entry in table
        if limits.check(entry.sizes) is None
        and len(entry.sizes) <= len(rooms)
        and all(size <= room for size, room in zip(entry.sizes, rooms, strict=False))
    ]


@dataclass(frozen=True)
class Runtimes:
    """Jobs of measured applications: each application equally likely, then each of its total
    sizes, then each way to split that (BE07 5.2); unordered requests, Poisson arrivals.

    Raises ValueError for an empty table or a rate that is not above 0.
    """

    table: tuple[Measured, ...]
    queues: Discrete
    arrival_rate: float

    def __post_init__(self) -> None:
        if not self.table:
            raise ValueError("no job is admitted: the table of run times is empty")
        if not self.arrival_rate > 0:
            raise ValueError(f"the arrival rate must be above 0, not {self.arrival_rate:g}")

    @cached_property
    def _choice(self) -> Discrete:
        return Discrete(tuple(range(len(self.table))), tuple(weights(self.table)))

    def jobs(self, seed: int, replication: int, count: int) -> Iterator[SimJob]:
        """The first `count` jobs of a replication."""
        known = [(Request(entry.sizes), entry.run_time) for entry in self.table]
        for submits, chosen, queues in self._drawn(seed, replication, count):
            columns = submits.tolist(), chosen.tolist(), queues.tolist()
            for submit, index, queue in zip(*columns, strict=True):
                request, time = known[index]
                yield SimJob(submit, request, queue, time, time)

    def blocks(self, seed: int, replication: int, count: int) -> Iterator[Block]:
        """The same."""
        sizes = padded([Request(entry.sizes) for entry in self.table])
        known = np.array([entry.run_time for entry in self.table])
        for submits, chosen, queues in self._drawn(seed, replication, count):
            times = known[chosen]
            yield Block(submits, times, times, queues, sizes[chosen])

    def _drawn(
        self, seed: int, replication: int, count: int
    ) -> Iterator[tuple[Floats, Wholes, Wholes]]:
        """Submissions, lines of the table and local queues, in chunks."""
        gaps = stream(seed, replication, Purpose.ARRIVALS)
        kinds = stream(seed, replication, Purpose.SIZES)
        local = stream(seed, replication, Purpose.QUEUES)
        for submits in arrivals(1 / self.arrival_rate, gaps, count):
            size = len(submits)
            chosen = self._choice.indices(kinds.random(size))
            yield submits, chosen, self.queues.indices(local.random(size))


def weights(table: Sequence[Measured]) -> list[float]:
    """The probability of each line of a table."""
    sizes: dict[str, set[int]] = {}
    ways: dict[tuple[str, int], int] = {}
    for entry in table:
        sizes.setdefault(entry.application, set()).add(entry.total)
        key = entry.application, entry.total
        ways[key] = ways.get(key, 0) + 1
    return [
        1 / len(sizes) / len(sizes[e.application]) / ways[e.application, e.total] for e in table
    ]


def work(table: Sequence[Measured]) -> float:
    """The expected processor-seconds of a job."""
    return sum(e.total * e.run_time * w for e, w in zip(table, weights(table), strict=True))
