"""`sacct`: jobs, ended ones too, as a table or in fields to be parsed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator

from metabroker.api.client import Client
from metabroker.frontends.arrays import JobId, job_ids, rows, shown_id
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError, refuse
from metabroker.frontends.moments import parse_moment
from metabroker.frontends.printing import duration, hostlist, moment
from metabroker.frontends.records import (
    Record,
    ended_well,
    in_a_partition,
    own_user,
    records,
    state_word,
    uid_of,
    user_names,
    whose,
)
from metabroker.frontends.tables import Form, form_of
from metabroker.submission.directives.getopt import Given, scan
from metabroker.submission.directives.rows import Command, row
from metabroker.submission.directives.words import Word

_ROWS = tuple(
    row(called, Command())
    for called in (
        "accounts|account A =", "allusers a", "allocations X", "allclusters L", "brief b",
        "clusters|cluster M =", "delimiter =", "duplicates D", "endtime E =", "format o =",
        "help h", "helpformat e", "jobs|job j =", "long l", "name =", "noconvert", "nodelist N =",
        "noheader n", "parsable p", "parsable2 P", "partition r =", "qos q =", "starttime S =",
        "state s =", "truncate T", "uid|user u =", "units =", "usage", "verbose v", "version V",
    )
)  # fmt: skip
_DEFAULT = "jobid,jobname,partition,account,alloccpus,state,exitcode"
_BRIEF = "jobid,state,exitcode"

_NOT_YET = {"JobHeldUser", "Dependency", "DependencyNeverSatisfied", "JobArrayTaskLimit"}
_REFUSED = {
    "nodelist": "jobs are not chosen by their nodes",
    "long": "no such usage is known of jobs",
}

Show = Callable[[Record, bool], str]
"""What is shown of a job, or of its batch step."""


def _exit(job: Record, step: bool) -> str:
    if job.state in ("TIMEOUT", "CANCELLED") and not step:  # Slurm keeps the signal to itself
        return "0:0"
    return f"{job.exit_code[0]}:{job.exit_code[1]}"


def _state(job: Record, step: bool) -> str:
    if step:
        if ended_well(job):
            return "COMPLETED"
        cut = job.state == "TIMEOUT" or (job.state == "FAILED" and job.exit_code[1])
        return "CANCELLED" if cut else job.state
    by = re.fullmatch(r"cancelled by (\S+?);?( .*)?", str(job.json["reason"]))
    if job.state == "CANCELLED" and by is not None:
        return f"CANCELLED by {uid_of(by[1])}"
    return job.state


def _processors(job: Record, step: bool) -> str:
    """The batch step has those of the first node."""
    return str(-(-job.processors // job.nodes) if step else job.processors)


def _of_job(show: Callable[[Record], str]) -> Show:
    return lambda job, step: "" if step else show(job)


def _both(show: Callable[[Record], str]) -> Show:
    return lambda job, _step: show(job)


FIELDS: dict[str, tuple[int, str, Show]] = {
    # width (negative: to the left), name, and what is shown
    "account": (10, "Account", _both(lambda job: job.asked("account") or "")),
    "alloccpus": (10, "AllocCPUS", _processors),
    "allocnodes": (10, "AllocNodes", lambda job, step: "1" if step else str(len(job.hosts))),
    "cluster": (10, "Cluster", _both(lambda job: job.json["components"][0]["cluster"] or "")),
    "comment": (14, "Comment", _of_job(lambda job: job.asked("comment") or "")),
    "constraints": (19, "Constraints", _of_job(lambda job: job.asked("constraint") or "")),
    "cputime": (10, "CPUTime", _both(lambda job: duration(job.used * job.processors))),
    "cputimeraw": (10, "CPUTimeRAW", _both(lambda job: str(int(job.used) * job.processors))),
    "elapsed": (10, "Elapsed", _both(lambda job: duration(job.used))),
    "elapsedraw": (10, "ElapsedRaw", _both(lambda job: str(int(job.used)))),
    "eligible": (19, "Eligible", _both(lambda job: moment(job.submitted, "Unknown"))),
    "end": (19, "End", _both(lambda job: moment(job.json["end_time"], "Unknown"))),
    "exitcode": (8, "ExitCode", _exit),
    "derivedexitcode": (15, "DerivedExitCode", _of_job(lambda job: "0:0")),
    "jobid": (-12, "JobID", lambda job, step: shown_id(job) + (".batch" if step else "")),
    "jobidraw": (-12, "JobIDRaw", lambda job, step: f"{job.id}.batch" if step else str(job.id)),
    "jobname": (10, "JobName", lambda job, step: "batch" if step else job.name),
    "ncpus": (10, "NCPUS", _processors),
    "nnodes": (8, "NNodes", _both(lambda job: str(job.nodes))),
    "nodelist": (15, "NodeList", _both(lambda job: hostlist(job.hosts) or "None assigned")),
    "ntasks": (8, "NTasks", lambda job, step: "1" if step else ""),
    "partition": (10, "Partition", _of_job(lambda job: job.partition)),
    "priority": (10, "Priority", _of_job(lambda job: "")),
    "qos": (10, "QOS", _of_job(lambda job: job.asked("qos") or "")),
    "reason": (22, "Reason", _of_job(lambda job: job.reason)),
    "reqcpus": (8, "ReqCPUS", _both(lambda job: str(job.processors))),
    "reqnodes": (8, "ReqNodes", _both(lambda job: str(job.nodes))),
    "start": (19, "Start", _both(lambda job: moment(job.json["start_time"], "Unknown"))),
    "state": (10, "State", _state),
    "submit": (19, "Submit", _both(lambda job: moment(job.submitted, "Unknown"))),
    "timelimit": (10, "Timelimit", _of_job(lambda job: duration(job.limit))),
    "timelimitraw": (10, "TimelimitRaw", _of_job(lambda job: str(job.limit // 60))),
    "uid": (6, "UID", _of_job(lambda job: uid_of(job.user))),
    "user": (9, "User", _of_job(lambda job: job.user)),
    "wckey": (10, "WCKey", _of_job(lambda job: job.asked("wckey") or "")),
    "workdir": (20, "WorkDir", _of_job(lambda job: job.spec("chdir"))),
}  # fmt: skip
_NO_USAGE = frozenset({
    "maxrss", "maxvmsize", "averss", "avevmsize", "avecpu", "totalcpu", "usercpu", "systemcpu",
    "reqmem", "alloctres", "reqtres", "maxdiskread", "maxdiskwrite", "consumedenergy",
})  # fmt: skip


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "sacct", permute=True)
    if rest:
        raise FrontEndError(f"Unknown arguments:\n {rest[0].text}")
    options = {each.name: each for each in given}
    refuse(options, _REFUSED)
    if "helpformat" in options:
        print("\n".join(_table([FIELDS[name][1] for name in sorted(FIELDS)])))
        return 0
    table = _form(options)
    jobs = _asked(given)
    since = _since(options)
    way = client()
    users = _users(options, jobs, way)
    numbers = None if jobs is None else [each.number for each in jobs]
    found = records(way, jobs=numbers, user=whose(users), since=since)
    if jobs is not None:
        found = [job for job in found if any(each.means(job) for each in jobs)]
    found = [job for job in rows(found) if jobs is not None or not _ineligible(job)]
    for line in _lines(table, [job for job in found if _chosen(job, options, users)], options):
        print(line)
    return 0


def _table(names: list[str]) -> Iterator[str]:
    """Four in each line."""
    for first in range(0, len(names), 4):
        yield "".join(f"{name:<20}" for name in names[first : first + 4]).rstrip()


def _lines(table: Form, jobs: list[Record], options: dict[str, Given]) -> Iterator[str]:
    if "noheader" not in options:
        yield from table.head([FIELDS[name][1] for name, _ in table.columns])
    for job in jobs:
        yield table.row([FIELDS[name][2](job, False) for name, _ in table.columns])
        if "allocations" not in options and job.json["start_time"] is not None:
            yield table.row([FIELDS[name][2](job, True) for name, _ in table.columns])


def _form(options: dict[str, Given]) -> Form:
    text = options["format"].value if "format" in options else os.environ.get("SACCT_FORMAT")
    if "brief" in options:
        text = _BRIEF
    return form_of(text or _DEFAULT, _column, options)


def _column(word: str) -> tuple[str, int]:
    name = _field(word)
    return name, FIELDS[name][0]


def _field(name: str) -> str:
    """A field's name may be cut, as long as it says which is meant: the first one counts."""
    word = name.lower()
    if word in _NO_USAGE:
        raise FrontEndError(f"{ascii(name)[1:-1]}: no such usage is known of jobs")
    found = word if word in FIELDS else next((f for f in FIELDS if f.startswith(word)), None)
    if found is None or not word:
        raise FrontEndError(f'Invalid field requested: "{ascii(name)[1:-1]:.40}"')
    return found


def _asked(given: list[Given]) -> list[JobId] | None:
    """The jobs of `-j`, which may be given more than once; of `17.batch` job 17."""
    texts = [each.value or "" for each in given if each.name == "jobs"]
    if not texts:
        return None
    text = re.sub(r"[.+][^,]*", "", re.sub(r"\s", "", ",".join(texts)))
    try:
        found = job_ids(text)
    except FrontEndError:
        found = []
    if not found:
        raise FrontEndError(f"Bad job/step specified: {ascii(texts[0])[1:-1]:.60}")
    return list(dict.fromkeys(found))


def _users(options: dict[str, Given], jobs: list[JobId] | None, way: Client) -> list[str] | None:
    """None: all."""
    if "uid" in options:
        return user_names(options["uid"].value or "")
    if "allusers" in options or jobs is not None:
        return None
    me = own_user(way)
    return None if me == "root" else [me]


def _since(options: dict[str, Given]) -> float:
    """From when on ended jobs are told of: from midnight, if it is not said."""
    if "starttime" not in options:
        today = time.localtime()
        return time.mktime((today.tm_year, today.tm_mon, today.tm_mday, 0, 0, 0, 0, 0, -1))
    return parse_moment(options["starttime"].value or "")


def _ineligible(job: Record) -> bool:
    """Who may not start yet is in no period of time, and told of where it is named alone."""
    return job.pending and job.reason in _NOT_YET


def _chosen(job: Record, options: dict[str, Given], users: list[str] | None) -> bool:
    if users is not None and job.user not in users:
        return False
    if not job.in_one_of(options["clusters"].value if "clusters" in options else None):
        return False
    if "endtime" in options and job.submitted > parse_moment(options["endtime"].value or ""):
        return False
    if "state" in options:
        words = (options["state"].value or "").split(",")
        if job.state not in {state_word(word) for word in words}:
            return False
    if "partition" in options and not in_a_partition(job, options["partition"].value):
        return False
    for option, own in (
        ("name", job.name),
        ("accounts", job.asked("account")),
        ("qos", job.asked("qos")),
    ):
        if option in options and own not in (options[option].value or "").split(","):
            return False
    return True
