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
    help="end this one, even if it runs; `all` ends every one; administrators only",
)
@common.socket_option
@common.json_option
def leftovers(names: tuple[str, ...], socket_path: str | None, as_json: bool) -> None:
    """After a restore, list what runs in clusters and was begun after the backup, so that the store
    does not know it.

    A leftover runs to its end and then disappears from the list. --remove takes effect at the next
    poll of its cluster.
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
            *(left[key] for key in ("name", "cluster", "job", "state", "processors", "native_id")),
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
