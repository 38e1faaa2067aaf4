"""`metabroker check`."""

from __future__ import annotations

import click

from metabroker.cli import common
from metabroker.cli.errors import USAGE, tell


@click.command()
@click.option("--config", "file", required=True, metavar="FILE", help="the configuration")
@click.option("--show", is_flag=True, help="print the configuration with every default")
@common.json_option
def check(file: str, show: bool, as_json: bool) -> int:
    """Validate a configuration without contacting a cluster.

    Each error names its file, line and key. The exit code is 2 if there is any.
    """
    from metabroker.config import ConfigErrors, load, render
    from metabroker.config.render import as_data

    try:
        config = load(file, files=True)
    except ConfigErrors as found:
        if as_json:
            errors = [error.as_json() for error in found.errors]
            common.print_json({"ok": False, "file": file, "errors": errors})
        else:
            for error in found.errors:
                tell(str(error))
        return USAGE
    from metabroker.daemon.shared_account import trouble_with_submitters
    from metabroker.runtime.cluster_accounts import trouble_with_root

    trouble, refused = trouble_with_root(config), trouble_with_submitters(config)
    if as_json:
        told = {"errors": [], "warnings": [said for said in (trouble, refused) if said]}
        common.print_json({"ok": True, "file": file, **told, "config": as_data(config)})
    elif show:
        print(render(config), end="")
    else:
        print(f"{file}: ok: policy {config.policy}, {len(config.clusters)} clusters")
        for name, cluster in config.clusters.items():
            print(f"  {name}: {cluster.system}, {cluster.processors or '?'} processors")
        if trouble is not None:
            print(f"  warning: if this account starts it, {trouble}")
        if refused is not None:
            print(f"  warning: {refused}")
        if config.shared_with_submitters:
            print("  submitters share everything: each of them can do all that the daemon can")
    return 0
