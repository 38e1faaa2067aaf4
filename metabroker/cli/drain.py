"""`metabroker drain` and `resume`."""

from __future__ import annotations

import click

from metabroker.api.client import Json
from metabroker.cli import common
from metabroker.cli.types import ClusterName


@click.command()
@click.argument("cluster", type=ClusterName())
@click.option("--reason", default="", metavar="TEXT", help="why; users are told")
@common.socket_option
@common.json_option
def drain(cluster: str, reason: str, socket_path: str | None, as_json: bool) -> None:
    """Send nothing new to CLUSTER. For administrators.

    What runs there finishes. Jobs that need the cluster wait, and say why; others go elsewhere.
    The drain lasts, over restarts of the daemon too, until `metabroker resume`.
    """
    client = common.connect(socket_path)
    _print(client.change_cluster(cluster, "drain", reason=reason), "drained", as_json)


@click.command()
@click.argument("cluster", type=ClusterName())
@common.socket_option
@common.json_option
def resume(cluster: str, socket_path: str | None, as_json: bool) -> None:
    """Use a drained CLUSTER again. For administrators."""
    client = common.connect(socket_path)
    _print(client.change_cluster(cluster, "resume"), "resumed", as_json)


def _print(cluster: Json, done: str, as_json: bool) -> None:
    if as_json:
        common.print_json(cluster)
    else:
        print(f"{cluster['name']} {done}")
