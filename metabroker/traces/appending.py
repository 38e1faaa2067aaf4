"""A log in the Standard Workload Format that grows at its end, over months and restarts.

Nobody knows beforehand when its first job was submitted, and which users, queues and partitions it
will have. So its moments are Unix times (`UnixStartTime: 0`), its jobs stand in the order of their
ends, and a name is told in a comment above the first job that has it (`; Queue: 2 leiden`). Whoever
goes on with the log reads its comments, and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from metabroker import __version__

from .records import Record
from .swf import whole
from .write import Names, Numbers, components_comment, printable, row_of

_KINDS = ("User", "Group", "Queue", "Partition")


class SwfLines:
    """Makes the lines that are to be appended."""

    def __init__(self, comments: Iterable[str], clusters: Mapping[str, int]) -> None:
        """`comments`: of the log as it is; none: it is new. `clusters`: processors by name, for
        the head of a new one."""
        self._names = Names(())
        kinds = dict(zip(_KINDS, self._kinds(), strict=True))
        self._new = True
        for comment in comments:
            self._new = False
            kind, _, value = comment.lstrip("; \t").partition(": ")
            text, _, name = value.strip().partition(" ")
            number = whole(text)
            if kind in kinds and name and number is not None:
                kinds[kind].known[name] = number
        self._clusters = clusters

    def lines(self, records: Iterable[Record]) -> Iterator[str]:
        """Lines with their ends: of a new log its head, then one for each job."""
        if self._new:
            self._new = False
            yield from (f"; {line}\n" for line in self._head())
        for record in records:
            before = [len(kind.known) for kind in self._kinds()]
            row = row_of(record.number or 0, record, 0, self._names)
            parts = components_comment(record, self._names) if record.components else ""
            for kind, numbers, first in zip(_KINDS, self._kinds(), before, strict=True):
                for name in list(numbers.known)[first:]:
                    yield f"; {kind}: {numbers.known[name]} {printable(name)}\n"
            yield " ".join(map(str, row)) + "\n"
            if parts:
                yield f"; Components: {row[0]} {parts}\n"

    def _kinds(self) -> tuple[Numbers, ...]:
        names = self._names
        return names.users, names.groups, names.queues, names.partitions

    def _head(self) -> Iterator[str]:
        yield "Version: 2.2"
        yield f"Computer: {printable(', '.join(self._clusters))}"
        yield f"Conversion: metabroker {__version__}"
        yield "Preemption: No"
        yield "UnixStartTime: 0"
        yield "TimeZone: 0"
        yield "TimeZoneString: Etc/UTC"
        yield f"MaxProcs: {sum(self._clusters.values())}"
        yield "Note: the jobs stand in the order of their ends; sort them by their second number"
        yield "Note: a job with components in several clusters has partition -1"
        yield "Note: status 0 is failed or over its time limit, 5 cancelled"
        yield from (f"Cluster: {printable(name)} {size}" for name, size in self._clusters.items())
