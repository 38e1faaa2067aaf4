"""`metabroker serve`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from metabroker.cli import common

if TYPE_CHECKING:
    from metabroker.daemon.logs import LogFormat

# Many threads wait for clusters beside one that computes: they should not wait for that one long.
_TURN = 0.001  # seconds that a thread computes while others want to (Python's own: 0.005)


@click.command()
@click.option("--config", "file", required=True, metavar="FILE", help="the configuration")
@click.option(
    "--offline",
    is_flag=True,
    help="replace every cluster by a simulated twin; no real cluster is contacted",
)
@click.option(
    "--log-format",
    type=click.Choice(["auto", "text", "json", "journal"]),
    default="auto",
    help="log format; auto: text on a terminal, journal records under systemd",
)
def serve(file: str, offline: bool, log_format: LogFormat) -> int:
    """Run the daemon in the foreground, until SIGTERM or Ctrl-C."""
    config = common.configuration(file)
    from metabroker.config import load
    from metabroker.daemon.main import serve as run

    sys.setswitchinterval(_TURN)
    return run(config, offline, again=lambda: load(file), log_format=log_format)
