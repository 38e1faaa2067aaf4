"""`metabroker demo`."""

from __future__ import annotations

import click


@click.command()
def demo() -> int:
    """Run three simulated clusters, the daemon and a few jobs, co-allocated ones among them.

    The jobs are shown live, and the demo ends by itself. It needs nothing but this package.
    """
    from metabroker.cli.demonstration import demonstrate

    return demonstrate()
