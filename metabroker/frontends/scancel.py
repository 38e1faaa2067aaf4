"""`scancel`: ends jobs, by their numbers or by what they are."""

from __future__ import annotations

import re
import sys
import time

from metabroker.api.client import Client, ClientError
from metabroker.frontends.arrays import JobId, job_ids, waiting
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError, refuse
from metabroker.frontends.records import (
    Record,
    in_a_partition,
    own_user,
    records,
    state_word,
    user_names,
    whose,
)
from metabroker.submission.directives.getopt import Given, scan
from metabroker.submission.directives.rows import Command, row
from metabroker.submission.directives.words import Word
from metabroker.submission.tasks import TaskSet

_ROWS = tuple(
    row(called, Command())
    for called in (
        "account A =", "batch b", "clusters M =", "full f", "help", "hurry H", "interactive i",
        "jobname|name n =", "me", "nodelist w =", "partition p =", "qos q =", "quiet Q",
        "reservation R =", "signal s =", "state t =", "usage", "user u =", "verbose v",
        "version V", "wckey =",
    )
)  # fmt: skip
_REFUSED = {
    "batch": "only whole jobs can be ended",
    "interactive": "nobody is asked",
    "nodelist": "jobs are not chosen by their nodes",
    "reservation": "jobs are in no reservations of users",
}
_RANGES = 200  # of tasks in one request, which is a line of 8190 bytes at most
_ENDS = frozenset({"KILL", "TERM", "SIGKILL", "SIGTERM", "9", "15"})


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "scancel", permute=True)
    options = {each.name: each for each in given}
    refuse(options, _REFUSED)
    signal = options.get("signal")
    if signal is not None and (signal.value or "").upper() not in _ENDS:
        what = f"--signal={signal.value}: no signals are sent to jobs yet"
        raise FrontEndError(what, "leave it out to end the job")
    asked = [each for word in rest for each in job_ids(word.text)]
    if not asked and not _selects(options):
        raise FrontEndError("No job identification provided")
    way, states = client(), _states(options)
    numbers = [each.number for each in asked] or None
    users = _users(way, options)
    found = records(way, jobs=numbers, user=whose(users), since=time.time())  # no ended ones
    found = [job for job in found if not job.ended]
    missing = _missing(asked, found, options)
    jobs = _wanted(found, asked, options, states, users)
    there = [each for each in asked if any(each.means(job) for job in jobs)]
    wanted = _targets(jobs, there) if states is None else _in_states(jobs, asked, states)
    return _cancelled(way, wanted, quiet="quiet" in options) or missing


def _missing(asked: list[JobId], found: list[Record], options: dict[str, Given]) -> int:
    """Tells of jobs that are not there, or have ended, as Slurm does: where they are chosen from by
    other options, which is an error then; where they are only named, with -v. The exit code."""
    missing = [each for each in asked if not any(each.means(job) for job in found)]
    chosen = _selects(options)
    for each in missing:
        if (chosen or "verbose" in options) and "quiet" not in options:
            name = re.sub(r"_\[([0-9]+)\]$", r"_\1", str(each))
            told = f"Kill job error on job id {name}: Invalid job id specified"
            print(f"scancel: error: {told}", file=sys.stderr)
    return 1 if missing and chosen else 0


def _targets(jobs: list[Record], asked: list[JobId]) -> list[int | str]:
    """What is to be ended: an array by itself, with all its tasks, or those of its tasks that were
    named."""
    arrays = {job.id for job in jobs if job.json.get("array")}
    found: dict[int | str, None] = {}
    for job in jobs:
        array = int(job.json.get("array_job") or job.id)
        parts = [str(e) for e in asked if e.tasks is not None and e.number == array]
        if parts and all(e.tasks is not None for e in asked if e.number in (array, job.id)):
            found.update(dict.fromkeys(parts))
        elif job.id == array or array not in arrays:
            found[job.id] = None
    return list(found)


def _in_states(jobs: list[Record], asked: list[JobId], states: set[str]) -> list[int | str]:
    """The same where jobs of these states alone are meant. An array is never ended by its own
    number: that would end its tasks in all states. Of it those tasks are named that are no jobs
    yet; every other task is a job with its own state, also where it was named as a task."""
    found: dict[int | str, None] = {}
    for job in jobs:
        if not job.json.get("array"):
            found[job.id] = None
        elif "PENDING" in states:
            left = waiting(job)
            parts = [each.tasks for each in asked if each.number == job.id]
            if parts and None not in parts:
                left = left & TaskSet.of(task for part in parts for task in part or ())
            for first in range(0, len(left.ranges), _RANGES):
                some = TaskSet(left.ranges[first : first + _RANGES])
                found[str(JobId(job.id, some))] = None
    return list(found)


def _selects(options: dict[str, Given]) -> bool:
    chosen = {"account", "jobname", "me", "partition", "qos", "state", "user", "wckey"}
    return bool(chosen & options.keys())


def _states(options: dict[str, Given]) -> set[str] | None:
    """Slurm's words for the states of `--state`; None: any."""
    if "state" not in options:
        return None
    text = options["state"].value or ""
    found = {state_word(word) for word in text.split(",")}
    if None in found:
        raise FrontEndError(f"Invalid job state specified: {text}")
    return {word for word in found if word is not None}


def _users(way: Client, options: dict[str, Given]) -> list[str] | None:
    """Whose jobs are meant; None: anybody's."""
    if "user" in options:
        return user_names(options["user"].value or "")
    return [own_user(way)] if "me" in options else None


def _wanted(
    found: list[Record],
    asked: list[JobId],
    options: dict[str, Given],
    states: set[str] | None,
    users: list[str] | None,
) -> list[Record]:
    """Jobs that are as it is asked. Of arrays that have not ended the states are not looked at."""
    if asked:
        found = [job for job in found if any(each.means(job) for each in asked)]
    return [
        job
        for job in found
        if job.in_one_of(options["clusters"].value if "clusters" in options else None)
        and (users is None or job.user in users)
        and (states is None or job.json.get("array") or job.state in states)
        and _has(job, options)
    ]


def _has(job: Record, options: dict[str, Given]) -> bool:
    if "partition" in options and not in_a_partition(job, options["partition"].value):
        return False
    own = {
        "jobname": job.name,
        "account": job.asked("account"),
        "qos": job.asked("qos"),
        "wckey": job.asked("wckey"),
    }
    return all(own[name] == options[name].value for name in own if name in options)


def _cancelled(way: Client, jobs: list[int | str], *, quiet: bool) -> int:
    """Slurm's exit code where one of them may not be ended is the number of its error."""
    code = 0
    for job in jobs:
        try:
            way.change(job, "cancel")
        except ClientError as error:
            if error.status == 409:  # it has ended meanwhile
                continue
            code = 210 if error.status == 403 else 1
            if not quiet:
                told = "Access/permission denied" if error.status == 403 else error.message
                print(f"scancel: error: Kill job error on job id {job}: {told}", file=sys.stderr)
    return code
