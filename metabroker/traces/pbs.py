"""What OpenPBS writes down: its accounting files, turned into records.

One file a day, `PBS_HOME/server_priv/accounting/YYYYMMDD`, with one line per event:

    03/01/2025 10:00:00;E;17.pbs;user=alice group=staff queue=workq ctime=1740823000 qtime=...

The E records, which are written when a job has ended, hold all that is needed; times in them are
Unix times. Those of PBS Professional are the same, and Torque's are read too.

What a user has written (the account, the project, the job's name, resources that are text) stands
among them: in quotes where it has spaces, but quotes within it are as they were written. So nothing
tells a field in it from one of OpenPBS. OpenPBS writes no field twice, though: a record that has a
field twice of those that are read here is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from .lines import lines
from .records import LeftOut, Record, Records, WrongLine

_LINE = re.compile(r"[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2};[A-Za-z];")
_ARRAY = re.compile(r"[0-9]+\[\](?:\..*)?")
_CPUS = re.compile(r":ncpus=([0-9]{1,7})")
_CHUNK = re.compile(r"(?:([0-9]{1,7}):)?(?:.*?:)??ncpus=([0-9]{1,7})(?::.*)?")
_HOST = re.compile(r"[^/+]+/[^*+]+(?:\*([0-9]{1,7}))?")  # what is between two `+`
_SPAN = re.compile(r"(?:([0-9]{1,7}):)?(?:([0-9]{1,7}):)?([0-9]{1,12})(?:\.[0-9]+)?")
# A value goes on until the next ` key=`: names of jobs and accounts may have spaces in them.
_PAIR = re.compile(r"(?:^| )([A-Za-z][\w.]*)=")
_READ = frozenset(
    {"user", "group", "queue", "ctime", "qtime", "start", "end", "Exit_status"}
    | {"exec_host", "exec_vnode", "resources_used.cput", "resources_used.mem"}
    | {"Resource_List.ncpus", "Resource_List.select", "Resource_List.walltime"}
)

_KILLED = frozenset({"271", "-1", "-2", "265", "143", "137"})


def read(path: str | Path, records: Records, *, strict: bool = False) -> None:
    """Add the jobs of a day's file, plain or gzip, to `records`.

    Raises TraceError: the file cannot be read; and with `strict` for the first line that is not
    right. (Jobs that never started, and array jobs, whose subjobs have records of their own, are
    left out either way.)
    """
    name = str(path)
    for number, text in lines(path):
        if not text.strip():
            continue
        if not is_line(text):
            records.wrong(name, "it is not a line of an accounting file", number, strict)
            continue
        _, kind, job, rest = (*text.split(";", 3), "")[:4]
        if kind != "E":
            continue
        try:
            records.jobs.append(_record(job, _pairs(rest)))
        except LeftOut as reason:
            records.skip(name, str(reason), number)
        except WrongLine as reason:
            records.wrong(name, str(reason), number, strict)


def is_line(text: str) -> bool:
    """Could this be a line of an accounting file?"""
    return _LINE.match(text) is not None


def _pairs(text: str) -> dict[str, str]:
    """The fields of a record. Raises WrongLine: one that is read stands there twice."""
    found = list(_PAIR.finditer(text))
    if not found:
        return {}
    read = [match[1] for match in found if match[1] in _READ]
    if len(read) > len(set(read)):
        raise WrongLine("it has a field twice: a user may have written one into a name or a text")
    ends = [match.start() for match in found[1:]] + [len(text)]
    return {
        match[1]: text[match.end() : end].strip().strip('"')
        for match, end in zip(found, ends, strict=True)
    }


def _record(job: str, pairs: Mapping[str, str]) -> Record:
    """The job of an E record. Raises LeftOut and WrongLine."""
    if _ARRAY.fullmatch(job):
        raise LeftOut("it is an array job as a whole; its subjobs are counted")
    submit = _moment(pairs, "ctime", "qtime")
    start, end = _moment(pairs, "start"), _moment(pairs, "end")
    if not start:
        raise LeftOut("it never started")
    if submit is None or end is None:
        raise WrongLine("its submission or its end is not known")
    if end < start or end < submit:
        raise WrongLine("it ends before it was submitted or started")
    used = _used(pairs)
    asked = _asked(pairs) or used
    if not asked:
        raise WrongLine("its number of processors is not known")
    cpu = _span(pairs.get("resources_used.cput", ""))
    memory = re.fullmatch(r"([0-9]{1,15})kb", pairs.get("resources_used.mem", ""))
    return Record(
        number=None,
        submit=submit,
        start=max(start, submit),
        end=end,
        processors=asked,
        used_processors=used or asked,
        run=end - start,
        time_limit=_span(pairs.get("Resource_List.walltime", "")),
        status=_status(pairs.get("Exit_status", "")),
        user=pairs.get("user"),
        group=pairs.get("group"),
        queue=pairs.get("queue"),
        cpu=None if cpu is None else cpu / (used or asked),
        used_memory=None if memory is None else int(memory[1]) / (used or asked),
        job=job,
    )


def _moment(pairs: Mapping[str, str], *names: str) -> float | None:
    for name in names:
        text = pairs.get(name, "")
        if text.isascii() and text.isdigit() and len(text) <= 12:
            return float(text)
    return None


def _asked(pairs: Mapping[str, str]) -> int:
    """The processors asked for: the sum that PBS keeps, else those of the select statement."""
    text = pairs.get("Resource_List.ncpus", "")
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return int(text)
    total = 0
    for chunk in pairs.get("Resource_List.select", "").split("+"):
        found = _CHUNK.fullmatch(chunk)
        if found is not None:
            total += int(found[1] or 1) * int(found[2])
    return total


def _used(pairs: Mapping[str, str]) -> int:
    """The processors it had: exec_vnode's, else exec_host's `host/0*4+host/1`."""
    cpus = sum(int(number) for number in _CPUS.findall(pairs.get("exec_vnode", "")))
    if cpus:
        return cpus
    hosts = pairs.get("exec_host", "")
    parts = map(_HOST.fullmatch, hosts.split("+"))
    return sum(int(found[1] or 1) for found in parts if found is not None)


def _status(text: str) -> int:
    """1 for exit status 0; 5 where it was deleted (PBS: 256 and the signal), else 0, failed."""
    if text == "0":
        return 1
    return 5 if text in _KILLED else 0


def _span(text: str) -> float | None:
    """Seconds of HH:MM:SS, MM:SS or plain seconds."""
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    first, second, last = found.groups()
    hours, minutes = (first, second) if second is not None else (None, first)
    return float((int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(last))
