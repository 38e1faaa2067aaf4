"""Logs as workloads: which of their jobs, at which site, and wide ones cut into parts (ER 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from metabroker.policy import Request
from metabroker.simulation.job import SimJob
from metabroker.traces.swf import Parts, SwfJob, Trace, whole

Shape = tuple[tuple[int, ...], tuple[int, ...] | None]
"""Processors of each component; their clusters, or None for an unordered request."""

SITES = ("round-robin", "partition", "first")
"""How jobs get the site at which they are submitted: one after another (ER 3.1), by the log's
partition, or all at the first."""


@dataclass(frozen=True)
class Replay:
    """The jobs `first` (from 1) to `last` of a log, for a system of so many `sites`.

    A job wider than `max_size` is replaced by parts of at most that many processors, submitted
    together and running as long (ER 3.1). The components of a co-allocated job are those that the
    log tells, on the clusters that its user chose if all of them are among `names`; with `merge`
    it is one component. A partition is the cluster of its name, by the log's header; where that
    names none of `names`, its number counts. Raises ValueError for an empty extract.
    """

    trace: Trace
    sites: int = 1
    first: int | None = None
    last: int | None = None
    max_size: int | None = None
    assignment: str = "round-robin"
    names: tuple[str, ...] = ()
    merge: bool = False

    def __post_init__(self) -> None:
        if self.assignment not in SITES:
            raise ValueError(f"sites are given {', '.join(SITES)}, not {self.assignment!r}")
        if self.max_size is not None and self.max_size < 1:
            raise ValueError(f"max_size is at least 1, not {self.max_size}")
        if not self.extract:
            there = len(self.trace.jobs)
            raise ValueError(f"jobs {self.first} to {self.last} of {there}: there are none")

    @property
    def extract(self) -> Sequence[SwfJob]:
        """The jobs of the log that are replayed."""
        start = 0 if self.first is None else max(0, self.first - 1)
        return self.trace.jobs[start : self.last]

    def jobs(
        self, seed: int = 0, replication: int = 0, count: int | None = None
    ) -> Iterator[SimJob]:
        """The jobs with their submission counted from the first one's. Nothing is drawn."""
        known: dict[Shape, Request] = {}
        extract = self.extract[:count]
        begin = extract[0].submit if extract else 0.0
        turn = 0
        for entry in extract:
            for shape in self._shapes(entry):
                request = known.get(shape)
                if request is None:
                    request = known[shape] = Request(*shape)
                site = self._site(entry, turn)
                turn += 1
                yield SimJob(entry.submit - begin, request, site, entry.run, entry.estimate)

    def entries(self, count: int | None = None) -> Iterator[SwfJob]:
        """The job of the log that each of `jobs()` is, or is a part of."""
        for entry in self.extract[:count]:
            for _ in self._shapes(entry):
                yield entry

    def _shapes(self, entry: SwfJob) -> list[Shape]:
        """What the jobs that stand for this one ask for."""
        most, size = self.max_size, entry.size
        parts = None if self.merge else self.trace.parts.get(entry.number)
        if parts is not None and (most is None or max(parts.sizes) <= most):
            return [(parts.sizes, self._chosen(parts))]
        if most is None or size <= most:
            return [((size,), None)]
        sizes = [most] * (size // most) + ([size % most] if size % most else [])
        return [((part,), None) for part in sizes]

    def _chosen(self, parts: Parts) -> tuple[int, ...] | None:
        """The clusters that its user chose, where there are such."""
        if parts.clusters is None or not set(parts.clusters) <= set(self.names):
            return None
        return tuple(self.names.index(name) for name in parts.clusters)

    def _site(self, entry: SwfJob, turn: int) -> int:
        if self.assignment == "round-robin":
            return turn % self.sites
        if self.assignment == "partition" and entry.partition > 0:
            if self._by_number:
                return self._by_number.get(entry.partition, turn % self.sites)
            return (entry.partition - 1) % self.sites
        return 0

    @cached_property
    def _by_number(self) -> dict[int, int]:
        """The clusters of this name, by the numbers that the log's header gives them."""
        told = (value.partition(" ") for value in self.trace.header.get("Partition", ()))
        known = ((whole(number), name.strip()) for number, _, name in told)
        return {
            number: self.names.index(name)
            for number, name in known
            if number is not None and name in self.names
        }
