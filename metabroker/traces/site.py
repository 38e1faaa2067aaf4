"""A site's own records, in whatever of the known formats they are, as one list of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import pbs, sacct
from .errors import TraceError
from .lines import lines
from .records import Record, Records

FORMATS = ("sacct", "pbs")


def read(paths: Sequence[str | Path], kind: str | None = None, *, strict: bool = False) -> Records:
    """The jobs of all files together; `kind` is one of `FORMATS`, None: found out file by file.

    A job that stands in several files, because their days overlap, is there once. Raises
    TraceError: a file cannot be read or is in no known format, or, `strict`, a line is not right.
    """
    records = Records()
    known: set[tuple[str, float | None, float | None]] = set()
    for path in paths:
        first = len(records.jobs)
        reader = sacct.read if (kind or _kind(path)) == "sacct" else pbs.read
        reader(path, records, strict=strict)
        ours = records.jobs[first:]
        fresh = [record for record in ours if _identity(record) not in known]
        if len(fresh) < len(ours):
            records.again += len(ours) - len(fresh)
        records.jobs[first:] = fresh
        known.update(map(_identity, fresh))
    return records


def _identity(record: Record) -> tuple[str, float | None, float | None]:
    """A job that was run again has the same name, and is another one."""
    return record.job, record.start, record.end


def _kind(path: str | Path) -> str:
    for number, text in lines(path):
        if pbs.is_line(text):
            return "pbs"
        if sacct.is_header(text):
            return "sacct"
        if number >= 20 and text.strip():
            break
    message = "is neither the output of sacct --parsable2 nor an accounting file of OpenPBS"
    advice = "name its kind (--format sacct or --format pbs), or one file alone if it is SWF"
    raise TraceError(str(path), 1, message, advice)
