"""`metabroker clusters`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations

import click

from metabroker.api.client import Client, Json, Unreachable
from metabroker.cli import common
from metabroker.cli.errors import CliError
from metabroker.cli.table import age, print_table

_PAUSE = 0.2  # seconds
_NOT_MEASURED: Json = {
    "latency_ms": None,
    "bandwidth_mb_per_s": None,
    "measured": None,
    "said": "not measured: metabroker doctor --links",
}


@click.command()
@click.option(
    "--wait",
    "patience",
    type=click.FloatRange(0, 86400),
    metavar="SECONDS",
    help="first wait until the daemon serves and has polled every cluster, and give up after "
    "this time",
)
@click.option("--links", "between", is_flag=True, help="what was measured between them instead")
@common.socket_option
@common.json_option
def clusters(patience: float | None, between: bool, socket_path: str | None, as_json: bool) -> None:
    """List the clusters: processors, idle, down, reserved, health, and the age of the information.

    `?` is a value that is not known; the broker never takes it as idle. --links lists what
    `metabroker doctor --links` has measured between the nodes of each two clusters.
    """
    client = common.connect(socket_path)
    answer = client.get("clusters") if patience is None else _waited(client, patience)
    if between:
        _print_links(client.get("links"), [str(c["name"]) for c in answer["clusters"]], as_json)
        return
    if as_json:
        common.print_json(answer)
        return
    from metabroker.cli.views import print_clusters

    print_clusters(answer["clusters"])


def _print_links(answer: Json, names: Sequence[str], as_json: bool) -> None:
    """Of these clusters, also where nothing is known."""
    known = {tuple(link["clusters"]): link for link in answer["links"]}
    pairs = list(combinations(sorted(names), 2))
    links = [known.get(each) or {"clusters": list(each), **_NOT_MEASURED} for each in pairs]
    if as_json:
        common.print_json({"links": links})
        return
    rows = (
        (
            "-".join(link["clusters"]),
            _number(link["latency_ms"], 3),
            _number(link["bandwidth_mb_per_s"], 0),
            age(link["measured"]),
            link["said"],
        )
        for link in links
    )
    print_table(("LINK", "MS", "MB/S", "AGE", "NOTE"), rows, right=("MS", "MB/S", "AGE"))


def _number(value: float | None, digits: int) -> str:
    return "?" if value is None else f"{value:.{digits}f}"


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
