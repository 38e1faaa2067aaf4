"""The Standard Workload Format, version 2.2 (Feitelson, Tsafrir and Krakov, JPDC 74(10), 2014).

Comments begin with `;`; those of the form `; Name: value` are the header. Every other line is a
job: 18 numbers, -1 where unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .errors import TraceError
from .lines import lines

FIELDS = 18
UNKNOWN = -1


class Parts(NamedTuple):
    """The components of a co-allocated job: processors of each, and the names of their clusters
    where the user chose these."""

    sizes: tuple[int, ...]
    clusters: tuple[str, ...] | None


class SwfJob(NamedTuple):
    """One job; times in seconds, `submit` since the log's start, memory in kilobytes."""

    number: int
    submit: float
    wait: float
    run: float
    used_processors: int
    cpu: float
    used_memory: float
    processors: int
    requested_time: float
    requested_memory: float
    status: int
    user: int
    group: int
    executable: int
    queue: int
    partition: int
    preceding: int
    think: float

    @property
    def size(self) -> int:
        """The processors that it asked for, else those that it had; -1 if neither is known."""
        return self.processors if self.processors > 0 else self.used_processors

    @property
    def estimate(self) -> float:
        """How long its user said it would run; its run time, if the user said nothing."""
        return self.requested_time if self.requested_time > 0 else self.run


@dataclass(slots=True)
class Skipped:
    """Lines that were left out for one reason: how many, and the first of them."""

    why: str
    first_line: int
    count: int = 1


@dataclass(slots=True)
class Trace:
    """A log that was read. `header`: all values of each name, in their order; `parts`: the
    components of co-allocated jobs, by the job's number."""

    file: str
    jobs: list[SwfJob] = field(default_factory=list)
    header: dict[str, list[str]] = field(default_factory=dict)
    parts: dict[int, Parts] = field(default_factory=dict)
    skipped: dict[str, Skipped] = field(default_factory=dict)

    def skip(self, why: str, line: int) -> None:
        """Leave a line out."""
        self.skipped.setdefault(why, Skipped(why, line, 0)).count += 1

    def number(self, name: str) -> int | None:
        """A header's value as a number: `MaxProcs`, `MaxNodes`, ...; None if it says none."""
        for value in self.header.get(name, ()):
            found = whole(value.split()[0] if value.split() else "")
            if found is not None:
                return found
        return None

    def clusters(self) -> dict[str, int]:
        """Processors of the system's clusters by name, as far as the header tells: by its lines
        `Cluster`, or else one cluster `all` of `MaxProcs` (`MaxNodes`) processors."""
        found = {}
        for value in self.header.get("Cluster", ()):
            name, _, size = value.rpartition(" ")
            number = whole(size)
            if name and number:
                found[name] = number
        if found:
            return found
        total = self.number("MaxProcs") or self.number("MaxNodes")
        return {} if not total else {"all": total}


def whole(text: str) -> int | None:
    """A number of a header, from 0 on; None: it is none, or larger than a log's numbers are."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None


_WHOLE = frozenset({0, 4, 7, 10, 11, 12, 13, 14, 15, 16})
_PARSERS: tuple[Callable[[str], int | float], ...] = tuple(
    int if index in _WHOLE else float for index in range(FIELDS)
)


def read(path: str | Path, *, strict: bool = False) -> Trace:
    """Read a log, plain or gzip.

    Lenient: lines that are not right, and jobs that cannot be replayed (unknown size or run time,
    submitted before the log's start), are left out and counted by reason; jobs are sorted by their
    submission. `strict`: the first of them is an error, and so is a wrong order.
    Raises TraceError: the file cannot be read; it has no job; or, `strict`, a line is not right.
    """
    trace = Trace(str(path))
    last = 0.0
    for number, text in lines(path):
        stripped = text.strip()
        if not stripped:
            continue
        if stripped.startswith(";"):
            _comment(trace, stripped, number, strict=strict)
            continue
        found = _job(stripped)
        why = found if isinstance(found, str) else _unusable(found)
        if not why and not isinstance(found, str):
            if strict and found.submit < last:
                why = "it is submitted before the job above it"
            last = found.submit
        if why and strict:
            raise TraceError(trace.file, number, why, _WITHOUT_STRICT)
        if why:
            trace.skip(why, number)
        elif not isinstance(found, str):
            trace.jobs.append(found)
    if not trace.jobs:
        raise TraceError(trace.file, 0, "holds no job that can be replayed", _advice(trace))
    trace.jobs.sort(key=lambda job: job.submit)
    return trace


def _advice(trace: Trace) -> str:
    worst = max(trace.skipped.values(), key=lambda s: s.count, default=None)
    if worst is None:
        return "is it a log in the Standard Workload Format?"
    return f"{worst.count} lines: {worst.why} (first: line {worst.first_line})"


_WITHOUT_STRICT = "correct the line, or read the log without `strict`"


def _comment(trace: Trace, text: str, line: int, *, strict: bool) -> None:
    why = _header(trace, text)
    if why and strict:
        raise TraceError(trace.file, line, why, _WITHOUT_STRICT)
    if why:
        trace.skip(why, line)


def _header(trace: Trace, text: str) -> str:
    """Take a comment in; what is wrong with it, or nothing."""
    name, colon, value = text.lstrip("; \t").partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not name or " " in name:
        return ""
    if name != "Components":
        trace.header.setdefault(name, []).append(value)
        return ""
    job, _, parts = value.partition(" ")
    number, found = whole(job), _parts(trace, parts.strip())
    if found is None or number is None:
        return "a comment `Components` is not JOB SIZE,SIZE,... or SIZE@PARTITION,..."
    trace.parts[number] = found
    return ""


_PARTS = re.compile(r"[1-9]\d{0,8}(@[1-9]\d{0,8})?(,[1-9]\d{0,8}(@[1-9]\d{0,8})?){1,999}", re.ASCII)


def _parts(trace: Trace, text: str) -> Parts | None:
    if _PARTS.fullmatch(text) is None:
        return None
    pairs = [part.partition("@") for part in text.split(",")]
    sizes = tuple(int(size) for size, _, _ in pairs)
    named = dict(value.split(" ", 1) for value in trace.header.get("Partition", ()) if " " in value)
    clusters = tuple(named.get(number, "") for _, _, number in pairs)
    return Parts(sizes, clusters if all(clusters) else None)


def _job(text: str) -> SwfJob | str:
    words = text.split()
    if len(words) != FIELDS:
        return f"it does not have the {FIELDS} fields of a job"
    try:
        return SwfJob(*[parse(word) for parse, word in zip(_PARSERS, words, strict=True)])  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        pass
    try:  # whole numbers written as 4.0 are found in some logs
        values = [float(word) for word in words]
        return SwfJob(*[int(v) if i in _WHOLE else v for i, v in enumerate(values)])  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return "a field is not a number"


_PART_OF_A_RUN, _CANCELLED = (2, 3, 4), 5
"""States of the format: parts of a job that was put aside at times; and one that was cancelled."""


def _unusable(job: SwfJob) -> str:
    """Why a job cannot be replayed; empty if it can."""
    if not all(-1e15 < value < 1e15 for value in job):
        return "a field is not a finite number"
    if job.submit < 0:
        return "its submit time is unknown or before the log's start"
    if job.run < 0:
        return "its run time is unknown"
    if job.size < 1:
        return "its number of processors is unknown"
    if job.status in _PART_OF_A_RUN:
        return "it is a part of a job's run, which has a line of its own"
    if job.status == _CANCELLED and job.run == 0 and job.used_processors < 1:
        return "it was cancelled before it started"
    return ""
