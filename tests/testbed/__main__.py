"""The test-bed by hand: `python -m tests.testbed up|down|status`."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from tests.testbed.apt import SlurmUnavailable
from tests.testbed.packages import SLURM_OF_SUITE, cache_folder
from tests.testbed.processes import TestbedError
from tests.testbed.testbed import STATE, Testbed, default_suite

CONFIGURATION = "metabroker.yaml"


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    folder: Path = options.dir.resolve()
    try:
        report = {"up": up, "down": down, "status": status}[options.command](folder, options)
    except (SlurmUnavailable, TestbedError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(report, indent=1) if options.json else as_text(report))
    return 0


def up(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Start the clusters, to go on when this process ends."""
    if (folder / STATE).exists():
        testbed = Testbed.attach(folder)
        asked = options.release
        if asked not in (None, testbed.installation.suite):
            raise TestbedError(f"clusters of {testbed.installation.suite} are up; `down` first")
    else:
        testbed = Testbed(folder=folder, suite=options.release or default_suite())
        for file in folder.glob("metabroker.db*"):  # of a daemon over earlier clusters than these
            file.unlink()
    testbed.start()  # starts only what does not run
    testbed.write_metabroker_configuration(folder / CONFIGURATION)
    return describe(testbed)


def down(folder: Path, _: argparse.Namespace) -> dict[str, Any]:
    """Stop the clusters; their logs stay in the folder until the next start."""
    if not (folder / STATE).exists():
        return {"clusters": {}}
    testbed = Testbed.attach(folder)
    testbed.stop()
    return describe(testbed)


def status(folder: Path, _: argparse.Namespace) -> dict[str, Any]:
    return describe(Testbed.attach(folder))


def describe(testbed: Testbed) -> dict[str, Any]:
    """What a person or a script needs to use the clusters."""
    return {
        "release": testbed.installation.suite,
        "slurm": testbed.installation.version,
        "configuration": str(testbed.folder / CONFIGURATION),
        "clusters": {
            name: {
                "processors": cluster.processors,
                "running": cluster.controller.running(),
                "nodes": {node: daemon.running() for node, daemon in cluster.nodes.items()},
                "env": {"SLURM_CONF": str(cluster.slurm_conf), "PATH": f"{cluster.bin}:$PATH"},
            }
            for name, cluster in testbed.clusters.items()
        },
    }


def as_text(report: dict[str, Any]) -> str:
    clusters = report["clusters"]
    if not clusters:
        return "no clusters are up"
    lines = [f"Slurm {report['slurm']} ({report['release']})"]
    for name, cluster in clusters.items():
        nodes = sum(cluster["nodes"].values())
        state = "up" if cluster["running"] else "down"
        lines.append(
            f"{name:8} {state:5} {cluster['processors']:4} processors, "
            f"{nodes} of {len(cluster['nodes'])} nodes"
        )
    if not any(cluster["running"] for cluster in clusters.values()):
        return "\n".join(lines)
    lines.append("\nTo use one by hand:")
    for cluster in clusters.values():
        env = cluster["env"]
        folder = shlex.quote(env["PATH"].removesuffix(":$PATH"))
        lines.append(f"  export SLURM_CONF={shlex.quote(env['SLURM_CONF'])} PATH={folder}:$PATH")
    lines.append("\nTo use them through metabroker:")
    lines.append(f"  metabroker serve --config {shlex.quote(report['configuration'])}")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.testbed", description=__doc__)
    parser.add_argument("command", choices=("up", "down", "status"))
    parser.add_argument(
        "--release", metavar="SUITE", help=f"Debian suite: {', '.join(SLURM_OF_SUITE)}"
    )
    parser.add_argument("--dir", type=Path, default=cache_folder() / "clusters")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
