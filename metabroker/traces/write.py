"""Jobs as a log in the Standard Workload Format, version 2.2: 18 numbers per job, -1 is unknown.

https://www.cs.huji.ac.il/labs/parallel/workload/swf.html

The format knows neither clusters nor components. They stand in comments, which other programs
pass over: `; Cluster: NAME PROCESSORS` for each cluster, and below a co-allocated job
`; Components: JOB SIZE,SIZE,...`, with SIZE@PARTITION where its user chose the clusters.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from metabroker import __version__

from .records import Record
from .swf import UNKNOWN


def write(
    records: Iterable[Record],
    *,
    computer: str = "",
    processors: int | None = None,
    clusters: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
) -> Iterator[str]:
    """The header's comments, then one line per job in the order of submission.

    `processors`: those of the system; None: unknown, and the most that were ever used at a time
    stand for them. `clusters`: processors by name; these are the first partitions, and others and
    all users, groups and queues are numbered as they come.
    """
    ordered = sorted(records, key=lambda record: (record.submit, record.number or 0))
    epoch = int(ordered[0].submit) if ordered else int(time.time())
    numbers = _Names(list(clusters or ()))
    rows = [_row(number, record, epoch, numbers) for number, record in enumerate(ordered, 1)]
    if processors is None:
        processors = _most_used(ordered)
        notes = (*notes, "MaxProcs is the most that these jobs used at a time")
    yield from _header(ordered, computer, processors, epoch, numbers)
    yield from (f"; Cluster: {_line(name)} {size}" for name, size in (clusters or {}).items())
    yield from (f"; Note: {note}" for note in notes)
    for row, record in zip(rows, ordered, strict=True):
        yield " ".join(map(str, row))
        if record.components:
            yield f"; Components: {row[0]} {_components(record, numbers)}"


def _components(record: Record, names: _Names) -> str:
    if not record.clusters:
        return ",".join(map(str, record.components))
    parts = zip(record.components, record.clusters, strict=True)
    return ",".join(f"{size}@{names.partitions.of(cluster)}" for size, cluster in parts)


def _most_used(records: Sequence[Record]) -> int:
    """The most processors that were used at a time, and at least those of the largest job."""
    changes = []
    for record in records:
        if record.start is not None and record.end is not None:
            size = record.used_processors or record.processors
            changes += [(record.start, size), (record.end, -size)]
    used = most = 0
    for _, change in sorted(changes):  # ends before starts of the same moment
        used += change
        most = max(most, used)
    return max([most, *(record.processors for record in records)])


class _Numbers:
    """Numbers for names, from 1, in the order in which they come."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.known: dict[str, int] = {}
        for name in names:
            self.of(name)

    def of(self, name: str | None) -> int:
        if not name:
            return UNKNOWN
        return self.known.setdefault(name, len(self.known) + 1)


class _Names:
    """The names in a log that are written as numbers."""

    def __init__(self, partitions: Sequence[str]) -> None:
        self.users = _Numbers()
        self.groups = _Numbers()
        self.queues = _Numbers()
        self.partitions = _Numbers(partitions)


def _row(number: int, record: Record, epoch: int, names: _Names) -> tuple[int, ...]:
    first = record.start if record.start is not None else record.end
    return (
        number if record.number is None else record.number,
        round(record.submit - epoch),
        UNKNOWN if first is None else max(0, round(first - record.submit)),
        _known(record.run),
        _known(record.used_processors),
        _known(record.cpu),
        _known(record.used_memory),
        record.processors,
        _known(record.time_limit),
        UNKNOWN,  # memory requested
        record.status,
        names.users.of(record.user),
        names.groups.of(record.group),
        UNKNOWN,  # executable
        names.queues.of(record.queue),
        names.partitions.of(record.partition),
        UNKNOWN,  # preceding job
        UNKNOWN,  # think time
    )


def _known(value: float | None) -> int:
    return UNKNOWN if value is None else max(0, round(value))


def _header(
    jobs: Sequence[Record], computer: str, processors: int, epoch: int, names: _Names
) -> Iterator[str]:
    ends = [job.end for job in jobs if job.end is not None]
    yield "; Version: 2.2"
    yield f"; Computer: {_line(computer)}"
    yield f"; Conversion: metabroker {__version__}"
    yield f"; MaxJobs: {len(jobs)}"
    yield f"; MaxRecords: {len(jobs)}"
    yield "; Preemption: No"
    yield f"; UnixStartTime: {epoch}"
    yield "; TimeZone: 0"
    yield "; TimeZoneString: Etc/UTC"
    yield f"; StartTime: {_written(epoch)}"
    yield f"; EndTime: {_written(max(ends, default=epoch))}"
    yield f"; MaxProcs: {processors}"
    yield from _named("Queue", names.queues.known)
    yield from _named("Partition", names.partitions.known)


def _named(kind: str, known: Mapping[str, int]) -> Iterator[str]:
    yield f"; Max{kind}s: {len(known)}"
    for name, number in known.items():
        yield f"; {kind}: {number} {_line(name)}"


def _line(text: str) -> str:
    """A name that cannot end its comment."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _written(moment: float) -> str:
    return time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime(moment))
