"""`metabroker clusters`."""

from __future__ import annotations

import click

from metabroker.cli import common


@click.command()
@common.socket_option
@common.json_option
def clusters(socket_path: str | None, as_json: bool) -> None:
    """Each cluster: processors, idle, down, reserved, health, and the age of the information.

    `?` is what the broker does not know; it never takes it as idle.
    """
    answer = common.connect(socket_path).get("clusters")
    if as_json:
        common.print_json(answer)
        return
    from metabroker.cli.views import print_clusters

    print_clusters(answer["clusters"])
