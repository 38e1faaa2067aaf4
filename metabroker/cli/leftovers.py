"""`metabroker leftovers`."""

from __future__ import annotations

from typing import Any

import click

from metabroker.cli import common


@click.command()
@click.option(
    "--remove",
    "names",
    multiple=True,
    metavar="NAME",
    help="end this one, whatever it does; `all`: every one; administrators only",
)
@common.socket_option
@common.json_option
def leftovers(names: tuple[str, ...], socket_path: str | None, as_json: bool) -> None:
    """After a restore: what was begun after the backup, so that nobody remembers it.

    It runs to its end, and is then gone from here. What is to be removed goes with the next looks
    at its cluster; it is shown here until it has gone.
    """
    client = common.connect(socket_path)
    if names:
        answer = client.remove_leftovers(None if "all" in names else list(names))
    else:
        answer = client.get("leftovers")
    if as_json:
        common.print_json(answer)
        return
    _print(answer)


def _print(answer: dict[str, Any]) -> None:
    from metabroker.cli.table import clock, print_table

    heads = ("NAME", "CLUSTER", "JOB", "STATE", "PROCS", "NATIVE", "STARTED", "HOSTS", "NOTE")
    rows = [
        (
            left["name"],
            left["cluster"],
            left["job"],
            left["state"],
            left["processors"],
            left["native_id"],
            clock(left["start_time"]),
            left["hosts"],
            _note(left),
        )
        for left in answer["leftovers"]
    ]
    print_table(heads, rows, right=("JOB", "PROCS"))


def _note(left: dict[str, Any]) -> str:
    if left["removing"]:
        return "is being removed"
    return "of a job that is known" if left["known"] else "its job is lost"
