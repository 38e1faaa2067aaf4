"""What Slurm's accounting remembers: the output of sacct, turned into records.

    SLURM_TIME_FORMAT=%s sacct --allusers --allocations --parsable2 --starttime 2025-01-01 \\
        --format JobID,User,Group,Partition,Submit,Start,End,ElapsedRaw,State,ReqCPUS,\\
AllocCPUS,TimelimitRaw

The first line names the columns, in any order: JobID, Submit, Start, End, State and one of
ReqCPUS, AllocCPUS and NCPUS must be there. Times are Unix times (SLURM_TIME_FORMAT=%s, without
trouble when clocks change) or sacct's usual local time, read in this host's zone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from .errors import TraceError
from .lines import lines
from .records import LeftOut, Record, Records, WrongLine
from .swf import UNKNOWN

FORMAT = (
    "JobID,User,Group,Partition,Submit,Start,End,ElapsedRaw,State,ReqCPUS,AllocCPUS,TimelimitRaw"
)
"""The columns that are of use, as sacct's --format takes them."""

_NEEDED = ("jobid", "submit", "start", "end", "state")
_SIZES = ("reqcpus", "alloccpus", "ncpus")
_OF_USERS = frozenset(
    {"jobname", "comment", "workdir", "submitline", "extra", "container"}
    | {"stdin", "stdout", "stderr"}
)
"""Columns in which any text of users may be. sacct prints it as it is, also a line break and what
looks like the next job behind it. (An account or a partition is one that Slurm knows.)"""

# The words of sacct(1), JOB STATE CODES. What is not here has not ended, or not for good.
_STATUS = {
    "COMPLETED": 1, "FAILED": 0, "TIMEOUT": 0, "NODE_FAIL": 0, "OUT_OF_MEMORY": 0, "BOOT_FAIL": 0,
    "DEADLINE": 0, "PREEMPTED": 0, "CANCELLED": 5,
}  # fmt: skip
_NOT_ENDED = frozenset(
    {"PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING", "REVOKED", "COMPLETING"}
    | {"CONFIGURING", "STOPPED", "SIGNALING", "STAGE_OUT", "SPECIAL_EXIT", "REQUEUE_HOLD"}
)
_NEVER = frozenset({"", "Unknown", "None", "N/A", "0", "NONE", "UNKNOWN"})
_LIMIT = re.compile(r"(?:([0-9]{1,5})-)?([0-9]{1,6}):([0-9]{2})(?::([0-9]{2}))?(?:\.[0-9]+)?")


def read(path: str | Path, records: Records, *, strict: bool = False) -> None:
    """Add the jobs of a file, plain or gzip, to `records`.

    Raises TraceError: the file cannot be read, or its first line does not name the columns; and
    with `strict` for the first line that is not right, and for a column in which users write what
    they like: that may be whole jobs. (Jobs that have not ended, or that were
    cancelled before they started, are left out either way: there is nothing to replay.)
    """
    name = str(path)
    columns: list[str] = []
    for number, text in lines(path):
        if not text.strip():
            continue
        if not columns:
            columns = _columns(text, name, number)
            _doubt(columns, name, number, records, strict)
            continue
        values = [value.strip() for value in text.split("|")]
        try:
            if len(values) != len(columns):
                raise WrongLine(f"it does not have the {len(columns)} columns of the first line")
            records.jobs.append(_record(dict(zip(columns, values, strict=True))))
        except LeftOut as reason:
            records.skip(name, str(reason), number)
        except WrongLine as reason:
            records.wrong(name, str(reason), number, strict)
    if not columns:
        raise TraceError(name, 0, "is empty", f"write it by sacct --format {FORMAT}")


def is_header(text: str) -> bool:
    """Could this be the first line of sacct's output?"""
    return "jobid" in [word.strip().lower() for word in text.split("|")]


def _columns(text: str, name: str, number: int) -> list[str]:
    columns = [word.strip().lower() for word in text.split("|")]
    missing = [word for word in _NEEDED if word not in columns]
    if not missing and not any(word in columns for word in _SIZES):
        missing = ["reqcpus"]
    if missing:
        message = f"its first line names no column {missing[0]}"
        advice = f"use sacct --parsable2 --allocations with its header: --format {FORMAT}"
        raise TraceError(name, number, message, advice)
    return columns


def _doubt(columns: list[str], name: str, number: int, records: Records, strict: bool) -> None:
    """Tell of a column in which whole jobs may be written."""
    found = next((word for word in columns if word in _OF_USERS), None)
    if found is None:
        return
    message = f"users can write line breaks into its column {found}, and so jobs that were none"
    advice = f"write it without this column: sacct --format {FORMAT}"
    if strict:
        raise TraceError(name, number, message, advice)
    records.doubts.append(f"{name}: {message}; {advice}")


def _record(row: Mapping[str, str]) -> Record:
    """The job of one line. Raises LeftOut and WrongLine."""
    if "." in row["jobid"]:
        raise LeftOut("it is a step of a job, not an allocation")
    state = (row["state"].split() or [""])[0].rstrip("+")  # CANCELLED by 1000
    if state in _NOT_ENDED:
        raise LeftOut("it has not ended")
    if state not in _STATUS:
        raise WrongLine("its state is not known to sacct")
    submit, start, end = (_moment(row, column) for column in ("submit", "start", "end"))
    never = start is None or row.get("alloccpus") == "0"  # older releases: start is the end
    if never and state == "CANCELLED":
        raise LeftOut("it was cancelled before it started")
    if submit is None or start is None or end is None:
        raise WrongLine("its submission, start or end is not known")
    run = _number(row.get("elapsedraw", ""))
    if run is None:
        run = end - start
    if run < 0 or end < submit:
        raise WrongLine("it ends before it was submitted or started")
    asked, used = _whole(row, "reqcpus"), _whole(row, "alloccpus") or _whole(row, "ncpus")
    # Where cores or nodes are given whole it held more than it asked for, and would again.
    asked = max(asked or 0, used or 0)
    if not asked:
        raise WrongLine("its number of processors is not known")
    used = used or asked
    return Record(
        number=None,
        submit=submit,
        start=start,
        end=end,
        processors=asked,
        used_processors=used,
        run=run,
        time_limit=_time_limit(row),
        status=_STATUS.get(state, UNKNOWN),
        user=row.get("user") or row.get("uid") or None,
        group=row.get("group") or row.get("gid") or row.get("account") or None,
        queue=row.get("qos") or row.get("partition") or None,
        partition=row.get("partition") or None,
        job=row["jobid"],
    )


def _moment(row: Mapping[str, str], column: str) -> float | None:
    text = row[column]
    if text in _NEVER:
        return None
    if text.isascii() and text.isdigit() and len(text) <= 12:
        return float(text)
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise WrongLine(f"its {column} is not a time") from None


def _number(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


def _whole(row: Mapping[str, str], column: str) -> int:
    text = row.get(column, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0


def _time_limit(row: Mapping[str, str]) -> float | None:
    """TimelimitRaw is in minutes, Timelimit is [days-]hours:minutes:seconds."""
    minutes = _number(row.get("timelimitraw", ""))
    if minutes is not None:
        return minutes * 60
    found = _LIMIT.fullmatch(row.get("timelimit", ""))
    if found is None:  # UNLIMITED, Partition_Limit
        return None
    days, hours, minute, second = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minute) * 60 + second)
