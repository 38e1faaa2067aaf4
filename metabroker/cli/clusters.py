"""`metabroker clusters`."""

from __future__ import annotations

import time

import click

from metabroker.api.client import Client, Json, Unreachable
from metabroker.cli import common
from metabroker.cli.errors import CliError

_PAUSE = 0.2  # seconds


@click.command()
@click.option(
    "--wait",
    "patience",
    type=click.FloatRange(0, 86400),
    metavar="SECONDS",
    help="first wait until the daemon serves and has polled every cluster, and give up after "
    "this time",
)
@common.socket_option
@common.json_option
def clusters(patience: float | None, socket_path: str | None, as_json: bool) -> None:
    """List the clusters: processors, idle, down, reserved, health, and the age of the information.

    `?` is a value that is not known; the broker never takes it as idle.
    """
    client = common.connect(socket_path)
    answer = client.get("clusters") if patience is None else _waited(client, patience)
    if as_json:
        common.print_json(answer)
        return
    from metabroker.cli.views import print_clusters

    print_clusters(answer["clusters"])


def _waited(client: Client, patience: float) -> Json:
    """The answer, once the daemon serves and all clusters were seen.

    Raises CliError, naming what is missing, where that takes longer than `patience` seconds.
    """
    give_up = time.monotonic() + patience
    while True:
        try:
            answer = client.get("clusters")
            unseen = [str(c["name"]) for c in answer["clusters"] if not c["fresh"]]
            if not unseen:
                return answer
            why: Exception = CliError(
                f"not seen within {patience:g} s: {', '.join(unseen)}",
                "see: metabroker clusters",
            )
        except Unreachable as error:
            why = error
        if time.monotonic() + _PAUSE > give_up:
            raise why
        time.sleep(_PAUSE)
