"""`metabroker move-store`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metabroker.cli import common
from metabroker.cli.backup import jobs_of, stored
from metabroker.cli.errors import CliError
from metabroker.cli.streams import is_terminal

if TYPE_CHECKING:
    from metabroker.maintenance.move_store import MoveReport


@click.command()
@click.option("--config", "file", required=True, metavar="FILE", help="the daemon's configuration")
@click.option("--from", "source", required=True, metavar="PATH", help="the SQLite file to move")
@common.json_option
def move_store(file: str, source: str, as_json: bool) -> int:
    """Move the store from SQLite into PostgreSQL, so that several brokers can share it.

    The configuration (`store`) must already name the database, which must be empty. The daemon must
    not run; jobs go on in their clusters. The file is kept under another name. What was beside it
    (the audit log, the archive) is not moved: it is told where it is, and where the next one is.
    """
    from metabroker.maintenance.move_store import move
    from metabroker.store import LeadershipLost

    config = common.configuration(file)
    progress = click.progressbar(
        length=1, label="rows", file=sys.stderr, hidden=not is_terminal(sys.stderr)
    )
    with progress as bar, stored():

        def told(written: int, total: int) -> None:
            bar.length = total
            bar.update(written - bar.pos)

        try:
            done = move(config, Path(source), time.time(), told)
        except LeadershipLost as error:
            raise CliError(str(error), "stop every daemon of that database first") from error
    if as_json:
        common.print_json(_as_json(done))
    else:
        _print(done)
    return 0


def _as_json(done: MoveReport) -> dict[str, Any]:
    return {
        "from": str(done.content.path),
        "aside": str(done.aside),
        "instance": done.content.instance,
        "jobs": dict(done.content.jobs),
        "rows": dict(done.rows),
        "left": [
            {"what": e.what, "path": str(e.path), "now": str(e.now), "advice": e.advice}
            for e in done.left
        ],
    }


def _print(done: MoveReport) -> None:
    had = "" if done.rows else ", all of it by a run before this one"
    print(f"moved from {done.content.path}: {jobs_of(done.content)}{had}")
    print(f"the former store is {done.aside}")
    for each in done.left:
        print(f"{each.what} is not moved: it stays at {each.path}, and is from now on {each.now}")
        print(f"  -> {each.advice}")
    print("start the daemon")
