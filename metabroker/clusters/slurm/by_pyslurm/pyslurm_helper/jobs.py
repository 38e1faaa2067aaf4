"""Jobs, as `squeue -h -r -t ... -o ...` prints them."""

from __future__ import annotations

import pwd
from collections.abc import Callable, Iterator
from typing import Any

import pyslurm

from .said import SEPARATOR, moment, word

_COLUMNS: dict[str, Callable[[Any], str]] = {
    "%i": lambda job: str(job.id),
    "%j": lambda job: str(job.name or ""),
    "%T": lambda job: str(job.state),
    "%C": lambda job: str(job.cpus),
    "%N": lambda job: job.allocated_nodes or "",
    "%r": lambda job: job.state_reason or "None",
    "%V": lambda job: moment(job.submit_time),
    "%S": lambda job: moment(job.start_time),
    "%e": lambda job: moment(job.end_time),
    "%v": lambda job: word(job.reservation),
}


def listed(request: dict[str, Any]) -> str:
    """A line for each job that is asked for, of these columns."""
    columns = [_COLUMNS[letter] for letter in request["columns"]]
    lines = [SEPARATOR.join(column(job) for column in columns) for job in found(request)]
    return "".join(f"{line}\n" for line in lines)


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
        if all(_one_of(request, key, value) for key, value in _marks(job)):
            yield job


def _marks(job: Any) -> Iterator[tuple[str, Any]]:
    yield "names", job.name
    yield "states", job.state
    yield "reservations", job.reservation


def _one_of(request: dict[str, Any], key: str, value: Any) -> bool:
    wanted = request.get(key)
    return wanted is None or value in wanted
