"""`metabroker page`: the daemon's page for the user who asks, with all that this user may read."""

from __future__ import annotations

from typing import Any

import click

from metabroker.cli import common
from metabroker.cli.errors import USAGE, CliError

Json = dict[str, Any]
_MINE = 500  # jobs of the user who looks


@click.command()
@common.socket_option
@click.option(
    "--address",
    default="127.0.0.1:0",
    show_default=True,
    metavar="HOST:PORT",
    help="serve at this loopback address; port 0 takes any free port",
)
def page(socket_path: str | None, address: str) -> None:
    """Serve a live page of the clusters, of what runs, and of why each job waits, until Ctrl-C.

    You can filter your own jobs, and open each job's history. The printed address holds a key;
    without it the page shows nothing. To look from another host: ssh -L PORT:127.0.0.1:PORT HOST.
    """
    from metabroker.config import values
    from metabroker.config.errors import ConfigRefusal
    from metabroker.web.guards import loopback
    from metabroker.web.own_page import OwnPage

    try:
        where = values.address(address)
    except ConfigRefusal as error:
        raise CliError(f"--address {error.message}", error.advice, USAGE) from error
    if where is None or not loopback(where.host):
        raise CliError(
            f"--address {where}: it is not a loopback address, and others could read what is sent",
            "serve it at 127.0.0.1, and reach it from other hosts by ssh -L",
            USAGE,
        )
    client = common.connect(socket_path)
    me = str(client.get("whoami")["user"])

    def overview() -> Json:
        """With the user's own jobs, which are not among the first ones of long queues."""
        seen = client.get("overview")
        known = {job["job"] for job in seen["jobs"]}
        mine = client.get("jobs", user=me, limit=_MINE)["jobs"]
        seen["jobs"] += [job for job in mine if job["job"] not in known]
        return seen

    own = OwnPage(overview, lambda job: client.get(f"jobs/{job}"), me)
    try:
        own.start(where.host, where.port)
    except OSError as error:
        raise CliError(
            f"cannot listen at {where}: {error.strerror}", "choose another --address"
        ) from error
    click.echo(f"http://{values.Address(where.host, own.port)}/?key={own.key}")
    try:
        own.wait()
    except KeyboardInterrupt:
        click.echo("ended", err=True)
    finally:
        own.stop()
