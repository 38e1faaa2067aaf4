"""Several logs in the Standard Workload Format as one: of years one after another, of clusters side
by side, or both.

Each counts its times from its own start (`UnixStartTime`), and numbers its users, queues and
partitions by itself. Which clusters it is of is told by its lines `Cluster`, or else by `Computer`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import swf
from .errors import TraceError
from .records import Record, Records
from .swf import Trace

_EARLIEST = 1e8  # Unix seconds: logs that begin before 1973 do not tell when they do
_HINT = "write `; Cluster: NAME PROCESSORS` into the head of each"


@dataclass(slots=True)
class Joined:
    """The jobs of all logs; processors of the clusters by name, as far as they are told; and those
    of the system, where it has no names (None: not told)."""

    records: Records = field(default_factory=Records)
    clusters: dict[str, int] = field(default_factory=dict)
    processors: int | None = None


@dataclass(frozen=True, slots=True)
class _Log:
    trace: Trace
    start: int
    clusters: Mapping[str, int]
    records: Sequence[Record]


def read(paths: Sequence[str | Path]) -> Joined:
    """Read them all. Jobs that stand in several logs of the same clusters are there once, if they
    have the same times and sizes.

    Raises TraceError: a file cannot be read, does not tell when it begins or of which clusters it
    is where others do, or shares time or clusters with another one so that it is not clear what ran
    where.
    """
    logs = sorted((_log(path) for path in paths), key=lambda log: log.records[0].submit)
    found = Joined()
    groups: dict[frozenset[str], list[_Log]] = {}
    for log in logs:
        groups.setdefault(frozenset(log.clusters), []).append(log)
        for why, skipped in log.trace.skipped.items():
            found.records.skipped[log.trace.file, why] = skipped
    _check_names(groups)
    for members in groups.values():
        found.records.jobs += _one_after_another(members, found.records)
        for log in members:
            for name, size in log.clusters.items():
                found.clusters[name] = max(size, found.clusters.get(name, 0))
    sizes = [_processors(log.trace) for log in logs]
    told = [size for size in sizes if size is not None]
    found.processors = sum(found.clusters.values()) or max(told, default=None)
    if not all(found.clusters.values()):
        found.clusters = {}  # of one cluster: else that was an error
    return found


def _log(path: str | Path) -> _Log:
    trace = swf.read(path)
    start = trace.number("UnixStartTime")
    if start is None or start + trace.jobs[0].submit < _EARLIEST:
        message = "does not tell when it begins, so it cannot be joined with other logs"
        advice = "write `; UnixStartTime: SECONDS` (since 1970, UTC) into its head"
        raise TraceError(trace.file, 0, message, advice)
    clusters = _clusters(trace)
    return _Log(trace, start, clusters, list(_records(trace, start, tuple(clusters))))


def _clusters(trace: Trace) -> dict[str, int]:
    """Their processors (0: not told); empty: it names none."""
    if "Cluster" in trace.header:
        return trace.clusters()
    computer = next((name for name in trace.header.get("Computer", ()) if name), None)
    return {} if computer is None else {computer: _processors(trace) or 0}


def _processors(trace: Trace) -> int | None:
    return trace.number("MaxProcs") or trace.number("MaxNodes")


def _check_names(groups: Mapping[frozenset[str], Sequence[_Log]]) -> None:
    """Whether it is clear which log is of which clusters."""
    if len(groups) == 1:
        return
    whose: dict[str, str] = {}
    for names, logs in groups.items():
        trace = logs[0].trace
        if not names:
            message = "does not name its cluster, as others of these logs do"
            raise TraceError(trace.file, 0, message, _HINT)
        for name in sorted(names):
            if not any(log.clusters[name] for log in logs):
                message = f"does not tell how many processors {name} has"
                raise TraceError(trace.file, 0, message, "write `; MaxProcs: NUMBER` into its head")
            if name in whose:
                message = f"shares {name} with {whose[name]}, but not all of its clusters"
                raise TraceError(
                    trace.file, 0, message, "join logs of the same clusters, or others"
                )
            whose[name] = trace.file


def _one_after_another(logs: Sequence[_Log], records: Records) -> list[Record]:
    """The jobs of logs of the same clusters, the earliest first.

    At the turn of a year a job may stand in both logs, or be submitted in one and told in the next.
    Logs that mostly tell of the same time, and not of the same jobs, are no such.
    """
    jobs: list[Record] = []
    known: Counter[tuple[object, ...]] = Counter()
    last = logs[0]
    for log in logs:
        its = Counter[tuple[object, ...]]()
        fresh = []
        for record in log.records:
            its[_identity(record)] += 1
            if its[_identity(record)] > known[_identity(record)]:
                fresh.append(record)
        if log is not last:
            _check_times(last, log, fresh, its)
        records.again += len(log.records) - len(fresh)
        known |= its
        jobs += fresh
        last = max(last, log, key=lambda each: each.records[-1].submit)
    return jobs


def _check_times(
    before: _Log, log: _Log, fresh: Sequence[Record], its: Counter[tuple[object, ...]]
) -> None:
    begin, end = log.records[0].submit, before.records[-1].submit
    later = sum(record.submit <= end for record in fresh)
    theirs = [record for record in before.records if record.submit >= begin]
    earlier = sum(_identity(record) not in its for record in theirs)
    if 2 * later > len(log.records) or 2 * earlier > len(before.records):
        message = f"tells of the same time as {before.trace.file}, and not of the same jobs"
        names = " and ".join(log.clusters)
        advice = f"both are of {names}: name each cluster of its own" if names else _HINT
        raise TraceError(log.trace.file, 0, message, f"{advice}, if they are of several clusters")


def _identity(record: Record) -> tuple[object, ...]:
    """Numbers of jobs and users begin anew with each log."""
    sizes = record.processors, record.used_processors, record.components
    return record.submit, record.start, record.run, record.time_limit, *sizes


def _records(trace: Trace, start: int, clusters: Sequence[str]) -> Iterator[Record]:
    queues, partitions = _names(trace, "Queue"), _names(trace, "Partition")
    users, groups = _names(trace, "User"), _names(trace, "Group")
    mark = f" of {', '.join(clusters)}" if clusters else ""
    for job in trace.jobs:
        parts = trace.parts.get(job.number)
        began = None if job.wait < 0 else start + job.submit + job.wait
        partition = partitions.get(job.partition) or _number(job.partition, mark)
        yield Record(
            number=None,
            submit=start + job.submit,
            start=began,
            end=None if began is None else began + job.run,
            processors=job.size,
            used_processors=None if job.used_processors < 0 else job.used_processors,
            run=job.run,
            time_limit=job.requested_time if job.requested_time > 0 else None,
            status=job.status,
            user=users.get(job.user) or _number(job.user, mark),
            group=groups.get(job.group) or _number(job.group, mark),
            queue=queues.get(job.queue) or _number(job.queue, mark),
            partition=clusters[0] if len(clusters) == 1 and parts is None else partition,
            cpu=None if job.cpu < 0 else job.cpu,
            used_memory=None if job.used_memory < 0 else job.used_memory,
            components=parts.sizes if parts else (),
            clusters=(parts.clusters or ()) if parts else (),
        )


def _names(trace: Trace, kind: str) -> dict[int, str]:
    told = (value.partition(" ") for value in trace.header.get(kind, ()))
    known = ((swf.whole(number), name.strip()) for number, _, name in told)
    return {number: name for number, name in known if number is not None and name}


def _number(number: int, mark: str) -> str | None:
    return None if number < 0 else f"{number}{mark}"
