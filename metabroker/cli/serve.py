"""`metabroker serve`."""

from __future__ import annotations

import click

from metabroker.cli.errors import USAGE, tell


@click.command()
@click.option("--config", "file", required=True, metavar="FILE", help="the configuration")
@click.option(
    "--offline",
    is_flag=True,
    help="simulated twins in the place of all clusters: nothing is touched",
)
def serve(file: str, offline: bool) -> int:
    """Run the daemon in the foreground, until SIGTERM or Ctrl-C."""
    from metabroker.config import ConfigErrors, load

    try:
        config = load(file)
    except ConfigErrors as found:
        for error in found.errors:
            tell(str(error))
        return USAGE
    from metabroker.daemon.main import serve as run

    return run(config, offline, again=lambda: load(file))
