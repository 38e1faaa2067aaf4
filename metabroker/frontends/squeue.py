"""`squeue`: jobs that wait and run, in the formats of `-o` and `-O`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from metabroker.api.client import Client
from metabroker.frontends.arrays import JobId, array_id, job_ids, rows, shown_id, task_id
from metabroker.frontends.dependencies import told, with_others
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError
from metabroker.frontends.printing import cell, hostlist, moment, short_duration
from metabroker.frontends.records import (
    KEPT,
    Record,
    cpus_per_node,
    in_a_partition,
    number_asked,
    own_user,
    records,
    state_word,
    uid_of,
    user_names,
    whose,
)
from metabroker.submission.directives.getopt import Given, scan
from metabroker.submission.directives.rows import Command, Row, row
from metabroker.submission.directives.words import Word

_ROWS: tuple[Row, ...] = tuple(
    row(called, Command())
    for called in (
        "accounts A =", "all a", "array r", "array-unique", "Format O =", "format o =",
        "federation", "help", "hide", "jobs|job j [=]", "local", "long l", "clusters|cluster M =",
        "me", "name n =", "noconvert", "nodelist|node|nodes w =", "noheader h",
        "only-job-state", "partitions p =", "priority P", "qos q =", "sort S =", "sib|sibling",
        "start", "states t =", "usage", "users|user u =", "verbose v", "version V",
    )
)  # fmt: skip
_DEFAULT = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
_LONG = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
_STARTS = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"

Show = Callable[[Record], str]


def _nodes_or_reason(job: Record) -> str:
    told = job.pending or job.short_state in ("TO", "F")
    return f"({job.reason})" if told else hostlist(job.hosts)


def _megabytes(job: Record) -> int:
    """That it needs on each node, or for each processor."""
    shape = job.json["shape"]
    return int(shape.get("memory") or shape.get("memory_per_cpu") or 0)


def _memory(job: Record) -> str:
    size = _megabytes(job)
    return f"{size}M" if size % 1024 else f"{size // 1024}G" if size else "0"


def _time_left(job: Record) -> str:
    return short_duration(job.limit - job.used)


FIELDS: dict[str, tuple[str, Show]] = {
    # by -O's names: the header, and what is shown
    "account": ("ACCOUNT", lambda job: job.asked("account") or "(null)"),
    "arrayjobid": ("ARRAY_JOB_ID", lambda job: str(array_id(job))),
    "arraytaskid": ("ARRAY_TASK_ID", lambda job: task_id(job) or "N/A"),
    "batchhost": ("EXEC_HOST", lambda job: job.hosts[0] if job.hosts else "n/a"),
    "command": ("COMMAND", lambda job: _command(job)),
    "comment": ("COMMENT", lambda job: job.asked("comment") or "(null)"),
    "contiguous": ("CONTIGUOUS", lambda job: "0"),
    "dependency": ("DEPENDENCY", told),
    "endtime": ("END_TIME", lambda job: moment(job.ends)),
    "exit_code": ("EXIT_CODE", lambda job: f"{job.exit_code[0]}:{job.exit_code[1]}"),  # of 24.11
    "feature": ("FEATURES", lambda job: job.asked("constraint") or "(null)"),
    "jobarrayid": ("JOBID", shown_id),
    "jobid": ("JOBID", lambda job: str(job.id)),
    "licenses": ("LICENSES", lambda job: job.asked("licenses") or "(null)"),
    "mincpus": ("MIN_CPUS", lambda job: str(cpus_per_node(job))),
    "minmemory": ("MIN_MEMORY", _memory),
    "name": ("NAME", lambda job: job.name),
    "nice": ("NICE", lambda job: job.asked("nice") or "0"),
    "nodelist": ("NODELIST", lambda job: hostlist(job.hosts)),
    "numcpus": ("CPUS", lambda job: str(job.processors)),
    "numnodes": ("NODES", lambda job: str(job.nodes)),
    "numtasks": ("TASKS", lambda job: str(job.tasks)),
    "oversubscribe": ("OVER_SUBSCRIBE", lambda job: "NO" if _alone(job) else "OK"),
    "partition": ("PARTITION", lambda job: job.partition),
    "qos": ("QOS", lambda job: job.asked("qos") or "(null)"),
    "reason": ("REASON", lambda job: job.reason),
    "reasonlist": ("NODELIST(REASON)", _nodes_or_reason),
    "reservation": ("RESERVATION", lambda job: "(null)"),
    "schednodes": ("SCHEDNODES", lambda job: "(null)"),
    "starttime": ("START_TIME", lambda job: moment(job.started)),
    "state": ("STATE", lambda job: job.state),
    "statecompact": ("ST", lambda job: job.short_state),
    "submittime": ("SUBMIT_TIME", lambda job: moment(job.submitted)),
    "timeleft": ("TIME_LEFT", _time_left),
    "timelimit": ("TIME_LIMIT", lambda job: short_duration(job.limit)),
    "timeused": ("TIME", lambda job: short_duration(job.used)),
    "userid": ("UID", lambda job: uid_of(job.user)),
    "username": ("USER", lambda job: job.user),
    "wckey": ("WCKEY", lambda job: job.asked("wckey") or "(null)"),
    "workdir": ("WORK_DIR", lambda job: job.spec("chdir")),
    "cluster": ("CLUSTER", lambda job: job.json["components"][0]["cluster"] or "N/A"),
    "stdout": ("STDOUT", lambda job: job.path("output")),
    "stderr": ("STDERR", lambda job: job.path("error")),
    "stdin": ("STDIN", lambda job: "/dev/null"),
}  # fmt: skip
_LETTERS = {
    "A": "jobid", "a": "account", "B": "batchhost", "C": "numcpus", "c": "mincpus",
    "D": "numnodes", "E": "dependency", "e": "endtime", "F": "arrayjobid", "f": "feature",
    "h": "oversubscribe", "i": "jobarrayid", "j": "name", "K": "arraytaskid", "k": "comment",
    "L": "timeleft", "l": "timelimit", "M": "timeused", "m": "minmemory", "N": "nodelist",
    "o": "command", "O": "contiguous", "P": "partition", "q": "qos", "R": "reasonlist",
    "r": "reason", "S": "starttime", "T": "state", "t": "statecompact", "U": "userid",
    "u": "username", "V": "submittime", "v": "reservation", "W": "licenses", "w": "wckey",
    "Y": "schednodes", "y": "nice", "Z": "workdir",
}  # fmt: skip
_STANDS_OUT = frozenset({
    "nodelist", "reasonlist", "schednodes", "timeleft", "timelimit", "timeused",
})  # fmt: skip


def _alone(job: Record) -> bool:
    return bool(job.json["shape"].get("exclusive"))


def _command(job: Record) -> str:
    name = job.spec("script_name")
    return name if name.startswith("/") else f"{job.spec('chdir')}/{name}"


@dataclass(frozen=True)
class _Column:
    field: str  # "": only the text behind it
    width: int
    right: bool
    after: str

    def header(self) -> str:
        return self._told(FIELDS[self.field][0] if self.field else "")

    def of(self, job: Record) -> str:
        return self._told(FIELDS[self.field][1](job) if self.field else "")

    def _told(self, text: str) -> str:
        cut = self.field not in _STANDS_OUT
        return cell(text, self.width, right=self.right, cut=cut) + self.after


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "squeue", permute=True)
    options = {each.name: each for each in given}
    asked = _jobs_asked(options, [word.text for word in rest])
    columns = _columns(options)
    since = _since(options)
    way = client()
    users = _users(options, way)
    numbers = None if asked is None else [each.number for each in asked]
    found = records(way, jobs=numbers, user=whose(users), since=since)
    if asked is not None:
        found = [job for job in found if any(each.means(job) for each in asked)]
        if len(asked) == 1 and not found:
            raise FrontEndError("slurm_load_jobs error: Invalid job id specified")
    found = rows(found, each="array" in options)
    shown = [job for job in found if _chosen(job, options, users)]
    if any(column.field == "dependency" for column in columns):
        shown = with_others(way, shown)
    for line in lines(columns, _in_order(shown, options), header="noheader" not in options):
        print(line)
    return 0


def lines(columns: Sequence[_Column], jobs: Iterable[Record], *, header: bool) -> Iterable[str]:
    """The output, line by line."""
    if header:
        yield "".join(column.header() for column in columns)
    for job in jobs:
        yield "".join(column.of(job) for column in columns)


def _jobs_asked(options: dict[str, Given], rest: list[str]) -> list[JobId] | None:
    """The jobs that are asked about; None: any."""
    if "jobs" not in options:
        if rest:
            raise FrontEndError(f"Unrecognized option: {rest[0]}")
        return None
    text = options["jobs"].value or ",".join(rest)
    return job_ids(text) if text else None


def _users(options: dict[str, Given], way: Client) -> list[str] | None:
    if "me" in options:
        return [own_user(way)]
    text = options["users"].value if "users" in options else os.environ.get("SQUEUE_USERS")
    return user_names(text) if text else None


def _states(options: dict[str, Given]) -> set[str] | None:
    """Slurm's words for the wanted states; None: those of jobs that have not ended."""
    text = options["states"].value if "states" in options else os.environ.get("SQUEUE_STATES")
    if not text:
        return {"PENDING"} if "start" in options else None
    words = text.split(",")
    if any(word.strip().lower() == "all" for word in words):
        return set(_ALL)
    found = set()
    for word in words:
        known = state_word(word)
        if known is None:
            raise FrontEndError(f"Invalid job state specified: {ascii(word)[1:-1]:.40}")
        found.add(known)
    return found


_ALL = frozenset({"PENDING", "RUNNING", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT"})


def _since(options: dict[str, Given]) -> float | None:
    """From when on ended jobs are asked for (Unix seconds)."""
    import time

    states = _states(options)
    wants = states is not None and not states <= {"PENDING", "RUNNING"}
    return time.time() - KEPT if wants else time.time()


def _chosen(job: Record, options: dict[str, Given], users: list[str] | None) -> bool:
    states = _states(options)
    if not job.in_one_of(options["clusters"].value if "clusters" in options else None):
        return False
    if (job.ended if states is None else job.state not in states) or (
        users is not None and job.user not in users
    ):
        return False
    if "partitions" in options and not in_a_partition(job, options["partitions"].value):
        return False
    for option, own in (
        ("name", job.name),
        ("accounts", job.asked("account")),
        ("qos", job.asked("qos")),
    ):  # Slurm takes capital letters in these for small ones, and not in names of partitions
        names = (options[option].value or "").lower().split(",") if option in options else None
        if names is not None and (own is None or own.lower() not in names):
            return False
    return "nodelist" not in options or bool(
        set(job.hosts) & set((options["nodelist"].value or "").split(","))
    )


def _in_order(jobs: list[Record], options: dict[str, Given]) -> list[Record]:
    """By partition, state, and age, held ones last, or as `-S` says (fields of `-o`, `-` for the
    reverse)."""
    text = options["sort"].value if "sort" in options else os.environ.get("SQUEUE_SORT")
    held = {job.id for job in jobs if job.json["state"] == "HELD"}
    ordered = sorted(jobs, key=lambda job: (job.partition, job.state, job.id in held, job.id))
    for word in reversed((text or "").split(",")):
        letter = word.lstrip("+-")
        if not letter or letter == "p":
            continue
        if letter not in _LETTERS:
            raise FrontEndError(f"Invalid sort specification: {ascii(word)[1:-1]:.40}")
        show = _KEYS.get(letter, FIELDS[_LETTERS[letter]][1])
        ordered.sort(key=show, reverse=word.startswith("-"))
    return ordered


_KEYS: dict[str, Callable[[Record], int]] = {  # others by their words
    "i": lambda job: job.id,
    "A": lambda job: job.id,
    "C": lambda job: job.processors,
    "c": cpus_per_node,
    "D": lambda job: job.nodes,
    "F": array_id,
    "K": lambda job: int(re.split("[^0-9]", task_id(job) or "")[0] or -1),
    "L": lambda job: int(job.limit - job.used),
    "l": lambda job: job.limit,
    "m": lambda job: _megabytes(job),
    "U": lambda job: int(uid) if (uid := uid_of(job.user)).isdecimal() else 1 << 32,
    "y": lambda job: number_asked(job, "nice"),
    "S": lambda job: int(job.started or 0),
    "V": lambda job: int(job.submitted),
    "e": lambda job: int(job.ends or 0),
    "M": lambda job: int(job.used),
}


def _columns(options: dict[str, Given]) -> list[_Column]:
    if "Format" in options:
        return _long_columns(options["Format"].value or "")
    if "format" in options:
        return _short_columns(options["format"].value or "")
    if "only-job-state" in options:
        return _short_columns("%i %T")
    if "start" in options:
        return _short_columns(_STARTS)
    if "long" in options:
        return _short_columns(_LONG)
    if "SQUEUE_FORMAT2" in os.environ and "SQUEUE_FORMAT" not in os.environ:
        return _long_columns(os.environ["SQUEUE_FORMAT2"])
    return _short_columns(os.environ.get("SQUEUE_FORMAT") or _DEFAULT)


def _short_columns(text: str) -> list[_Column]:
    """`%[.][SIZE]LETTER`, and any text between; of `%all` all fields, with bars between."""
    if text.lower() == "%all":
        text = "|".join(f"%{letter}" for letter in sorted(_LETTERS, key=_as_in_slurm))
    prefix, *tokens = text.split("%")
    found = [_Column("", 0, False, prefix)] if prefix else []
    for token in filter(None, tokens):
        size = re.match(r"(\.?)([0-9]{0,6})", token)
        assert size is not None
        letter = token[size.end() : size.end() + 1]
        if letter not in _LETTERS:
            raise FrontEndError(
                f"-o: %{ascii(letter)[1:-1]} is not known here",
                f"use some of %{', %'.join(sorted(_LETTERS))}",
            )
        right, width = bool(size[1]), int(size[2] or 0)
        found.append(_Column(_LETTERS[letter], width, right, token[size.end() + 1 :]))
    return found


def _as_in_slurm(letter: str) -> tuple[str, bool]:
    """The order of `%all`: a small letter is before its capital one."""
    return letter.lower(), letter.isupper()


def _long_columns(text: str) -> list[_Column]:
    """`NAME[:[.]SIZE[TEXT]]`, with commas between."""
    found = []
    for token in filter(None, text.split(",")):
        name, colon, size = token.partition(":")
        field = name.lower()
        if field == "priority" or field not in FIELDS:
            raise FrontEndError(f"-O: {ascii(name)[1:-1]:.40} is not known here")
        parts = re.match(r"(\.?)([0-9]{0,6})(.*)", size, re.DOTALL)
        assert parts is not None
        width = int(parts[2] or 0) if colon else 20
        found.append(_Column(field, width, bool(parts[1]), parts[3]))
    return found
