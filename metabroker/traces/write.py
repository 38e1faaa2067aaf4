"""Jobs as a log in the Standard Workload Format, version 2.2: 18 numbers per job, -1 is unknown.

https://www.cs.huji.ac.il/labs/parallel/workload/swf.html

The format knows neither clusters nor components. They stand in comments, which other programs
pass over: `; Cluster: NAME PROCESSORS` for each cluster, and below a co-allocated job
`; Components: JOB SIZE,SIZE,...`, with SIZE@PARTITION where its user chose the clusters.

A log is as long as its site's history, and its head tells what is in all of it. So the jobs are
put in order in a temporary file, not in memory.
"""

from __future__ import annotations

import pickle
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing

from metabroker import __version__

from .records import Record
from .swf import UNKNOWN


class _InOrder:
    """Records in the order of submission, any number of times."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._file = sqlite3.connect("")  # of which what memory does not hold is in a file
        self._file.execute("pragma cache_size = -16384")
        self._file.execute("create table records (submit real, number integer, record blob)")
        rows = ((each.submit, each.number or 0, pickle.dumps(tuple(each))) for each in records)
        self._file.executemany("insert into records values (?, ?, ?)", rows)

    def __iter__(self) -> Iterator[Record]:
        ordered = "select record from records order by submit, number, rowid"
        # What this very process has written a moment ago.
        return (Record(*pickle.loads(row)) for (row,) in self._file.execute(ordered))

    def count(self) -> int:
        found: int = self._file.execute("select count(*) from records").fetchone()[0]
        return found

    def close(self) -> None:
        self._file.close()


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
    with closing(_InOrder(records)) as ordered:
        names = Names(list(clusters or ()))
        epoch, end = None, None
        for record in ordered:
            epoch = int(record.submit) if epoch is None else epoch
            end = record.end if end is None else max(end, record.end or end)
            names.take(record)
        epoch = int(time.time()) if epoch is None else epoch
        if processors is None:
            processors = _most_used(ordered)
            notes = (*notes, "MaxProcs is the most that these jobs used at a time")
        yield from _header(ordered.count(), computer, processors, epoch, end, names)
        yield from (f"; Cluster: {printable(name)} {n}" for name, n in (clusters or {}).items())
        yield from (f"; Note: {note}" for note in notes)
        for number, record in enumerate(ordered, 1):
            row = row_of(number, record, epoch, names)
            yield " ".join(map(str, row))
            if record.components:
                yield f"; Components: {row[0]} {components_comment(record, names)}"


def components_comment(record: Record, names: Names) -> str:
    """A co-allocated job's components, as its comment tells them."""
    if not record.clusters:
        return ",".join(map(str, record.components))
    parts = zip(record.components, record.clusters, strict=True)
    return ",".join(f"{size}@{names.partitions.of(cluster)}" for size, cluster in parts)


def _most_used(records: Iterable[Record]) -> int:
    """The most processors that were used at a time, and at least those of the largest job."""
    changes = []
    largest = 0
    for record in records:
        largest = max(largest, record.processors)
        if record.start is not None and record.end is not None:
            size = record.used_processors or record.processors
            changes += [(record.start, size), (record.end, -size)]
    used = most = 0
    for _, change in sorted(changes):  # ends before starts of the same moment
        used += change
        most = max(most, used)
    return max(most, largest)


class Numbers:
    """Numbers for names, from 1, in the order in which they come."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.known: dict[str, int] = {}
        for name in names:
            self.of(name)

    def of(self, name: str | None) -> int:
        if not name:
            return UNKNOWN
        return self.known.setdefault(name, len(self.known) + 1)


class Names:
    """The names in a log that are written as numbers."""

    def __init__(self, partitions: Sequence[str]) -> None:
        self.users = Numbers()
        self.groups = Numbers()
        self.queues = Numbers()
        self.partitions = Numbers(partitions)

    def take(self, record: Record) -> None:
        """Number what is new in a record."""
        row_of(0, record, 0, self)
        if record.clusters:
            components_comment(record, self)


def row_of(number: int, record: Record, epoch: int, names: Names) -> tuple[int, ...]:
    """A job's 18 numbers. `number`: where the record has none; `epoch`: the log's start."""
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
    jobs: int, computer: str, processors: int, epoch: int, end: float | None, names: Names
) -> Iterator[str]:
    yield "; Version: 2.2"
    yield f"; Computer: {printable(computer)}"
    yield f"; Conversion: metabroker {__version__}"
    yield f"; MaxJobs: {jobs}"
    yield f"; MaxRecords: {jobs}"
    yield "; Preemption: No"
    yield f"; UnixStartTime: {epoch}"
    yield "; TimeZone: 0"
    yield "; TimeZoneString: Etc/UTC"
    yield f"; StartTime: {_written(epoch)}"
    yield f"; EndTime: {_written(epoch if end is None else end)}"
    yield f"; MaxProcs: {processors}"
    yield from _named("Queue", names.queues.known)
    yield from _named("Partition", names.partitions.known)


def _named(kind: str, known: Mapping[str, int]) -> Iterator[str]:
    yield f"; Max{kind}s: {len(known)}"
    for name, number in known.items():
        yield f"; {kind}: {number} {printable(name)}"


def printable(text: str) -> str:
    """A name that cannot end its comment."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _written(moment: float) -> str:
    return time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime(moment))
