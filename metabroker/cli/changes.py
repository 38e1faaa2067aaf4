"""`metabroker cancel`, `hold` and `release`."""

from __future__ import annotations

from typing import Any

import click

from metabroker.api.client import ClientError, Unreachable
from metabroker.cli import common
from metabroker.cli.errors import FAILED, complain


def _command(verb: str, text: str) -> click.Command:
    """The command that does `verb` to each of several jobs."""

    @click.command(verb, help=text)
    @click.argument("jobs", nargs=-1, required=True, type=common.JobOrTasks(), metavar="JOB...")
    @common.socket_option
    @common.json_option
    def command(jobs: tuple[int | str, ...], socket_path: str | None, as_json: bool) -> int:
        return _change(verb, jobs, socket_path, as_json)

    return command


def _change(verb: str, jobs: tuple[int | str, ...], socket_path: str | None, as_json: bool) -> int:
    """Do it to every job, whatever becomes of the others; 1 if any could not be done."""
    client = common.connect(socket_path)
    done: list[Any] = []
    errors: list[dict[str, Any]] = []
    for job in jobs:
        try:
            done.append(client.change(job, verb))
        except Unreachable:
            raise
        except ClientError as error:
            complain(f"job {job}: {error.message}", error.advice)
            errors.append({"job": job, "error": error.message, "advice": error.advice})
        else:
            if not as_json:
                print(f"{job} {done[-1].get('state', '')}")
    if as_json:
        common.print_json({"jobs": done, "errors": errors})
    return FAILED if errors else 0


cancel = _command("cancel", "Cancel each JOB, whether it waits or runs.")
hold = _command("hold", "Hold each waiting JOB: it is not started before `metabroker release`.")
release = _command("release", "Release each held JOB to its queue's tail.")
