"""Jobs, as `squeue -h -r -t ... -o ...` prints them."""

from __future__ import annotations

import pwd
import time
from collections.abc import Callable, Iterator
from typing import Any

import pyslurm

from .said import SEPARATOR, moment, word

_COLUMNS: dict[str, Callable[[Any], str]] = {
    "%i": lambda job: _identity(job),
    "%j": lambda job: _name(job),
    "%T": lambda job: str(job.state),
    "%C": lambda job: str(job.cpus),
    "%N": lambda job: job.allocated_nodes or "",
    "%r": lambda job: job.state_reason or "None",
    "%V": lambda job: moment(job.submit_time),
    "%S": lambda job: moment(job.start_time),
    "%e": lambda job: _end(job),
    "%v": lambda job: word(job.reservation),
}


def listed(request: dict[str, Any]) -> str:
    """A line for each job that is asked for, of these columns."""
    columns = [_COLUMNS[letter] for letter in request["columns"]]
    lines = [SEPARATOR.join(column(job) for column in columns) for job in found(request)]
    return "".join(f"{line}\n" for line in lines)


def _identity(job: Any) -> str:
    """A task of an array has two numbers. (pyslurm says None for the task 0.)"""
    task = job.array_task_id
    if not job.array_id or (task is None and job.array_tasks_waiting):
        return str(job.id)
    return f"{job.array_id}_{task or 0}"


def _end(job: Any) -> str:
    """A job without a time limit will end some day."""
    endless = job.time_limit is None and (job.end_time or 0) > time.time()
    return "NONE" if endless else moment(job.end_time)


def found(request: dict[str, Any]) -> Iterator[Any]:
    """The jobs of a user, of a name, in states, in reservations: of those of these that are given.

    Raises:
        KeyError: there is no such user.
    """
    user = request.get("user")
    uid = None if user is None else pwd.getpwnam(user).pw_uid
    for job in pyslurm.Jobs.load().values():
        if uid is not None and job.user_id != uid:
            continue
        # Of a job that is not asked for nothing is read: its user may have written anything there.
        if all(read(job) in request[key] for key, read in _MARKS.items() if key in request):
            yield job


def _name(job: Any) -> str:
    """A name need not be text. One of ours is."""
    try:
        return job.name or ""
    except UnicodeDecodeError:
        return "?"


_MARKS: dict[str, Callable[[Any], Any]] = {
    "names": _name,
    "states": lambda job: job.state,
    "reservations": lambda job: job.reservation,
}
