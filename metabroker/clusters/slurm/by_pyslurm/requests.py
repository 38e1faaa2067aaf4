"""Which of the adapter's commands the helper answers, and what it is asked for each.

The seam is here, below all operations: a command is put to the helper instead of being run, and
its answer has the form of the command's. So there is one way to look, to compare and to judge.

By the commands themselves go `sbatch` (it alone runs a site's cli_filter and SPANK plugins, and
users' own options are in its words), `scontrol create reservation` (pyslurm hands Slurm a list of
core counts without its end, so more may be reserved than was asked for), and what is asked seldom.
"""

from __future__ import annotations

from typing import Any

from metabroker.clusters.slurm.parsing import JOB_FORMAT, NODE_FORMAT, USE_FORMAT
from metabroker.clusters.transports.base import Command

Request = dict[str, Any]
_STATES = {"R": "RUNNING", "S": "SUSPENDED", "CG": "COMPLETING", "CF": "CONFIGURING"}
_FORMATS = (JOB_FORMAT, USE_FORMAT)


def request(command: Command) -> Request | None:
    """What to ask the helper; None: this is for the command itself."""
    match command.argv:
        case ("squeue", "-h", "-a", "--local", "-r", "-t", states, *words, "-o", form):
            return _jobs(states, words, form) if form in _FORMATS else None
        case ("sinfo", "-h", "-a", "--local", "-N", "-o", form) if form == NODE_FORMAT:
            return {"do": "nodes"}
        case ("scontrol", "-o", "show", "reservation"):
            return {"do": "reservations"}
        case ("scontrol", "-o", "show", "reservation", name):
            return {"do": "reservations", "name": name}
        case ("scontrol", "delete", word) if word.startswith("ReservationName="):
            return {"do": "delete reservation", "name": word.removeprefix("ReservationName=")}
        case ("scancel", "-u", user, "-n", name):
            return {"do": "cancel", "user": user, "names": [name]}
    return None


def _jobs(states: str, words: list[str], form: str) -> Request | None:
    asked: Request = {"do": "jobs", "columns": form.split("\x1f")}
    if states != "all":
        asked["states"] = [_STATES.get(state, state) for state in states.split(",")]
    for option, value in zip(words[::2], words[1::2], strict=False):
        match option:
            case "-u":
                asked["user"] = value
            case "-n":
                asked["names"] = value.split(",")
            case "-R":
                asked["reservations"] = value.split(",")
            case _:
                return None
    return asked
