"""`metabroker demo`."""

from __future__ import annotations

import click


@click.command()
def demo() -> int:
    """Three simulated clusters, the daemon and a handful of jobs, co-allocated ones among them.

    Shown live; needs nothing but this package, and ends by itself.
    """
    from metabroker.cli.demonstration import demonstrate

    return demonstrate()
