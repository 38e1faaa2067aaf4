"""An array of eight tasks of 16 processors on two clusters of 32, against one of these alone.

    python -m benchmarks.makespan [--seconds 20]

Both by `sbatch`: metabroker's front end over both clusters, and the origin cluster's own. Printed:
from the submission to the end of the last task of each, and the ratio (a half, were all else free).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.testbed import Testbed
from tests.testbed.cluster import ClusterSpec

from .federation import serving

_NAMES = ("one", "two")
_FRONT = "from metabroker.frontends.main import main; main('sbatch')"


def makespan(
    command: list[str], folder: Path, way: str, seconds: int, env: Mapping[str, str]
) -> float:
    """Seconds from the submission to the end of the last task."""
    script = f"#!/bin/sh\nsleep {seconds}\ndate +%s.%N > {folder}/{way}.$SLURM_ARRAY_TASK_ID\n"
    words = [*command, "-n", "16", "-t", "5", "-o", "/dev/null", "--array", "0-7"]
    began = time.time()
    subprocess.run(words, input=script, text=True, env=env, check=True, stdout=subprocess.DEVNULL)
    ends = [folder / f"{way}.{task}" for task in range(8)]
    deadline = time.monotonic() + 20 * seconds + 60
    while not all(end.exists() and end.stat().st_size for end in ends):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{way}: only {sum(end.exists() for end in ends)} tasks have ended")
        time.sleep(0.1)
    return max(float(end.read_text()) for end in ends) - began


def main() -> None:
    """Print both, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=20, help="how long each task takes")
    given = parser.parse_args()
    with Testbed([ClusterSpec(name, nodes=2, cores=16) for name in _NAMES]) as testbed:
        environment = {name: testbed[name].env() for name in _NAMES}
        clusters = {
            name: {
                "system": "slurm",
                "env": {k: v for k, v in environment[name].items() if k in ("SLURM_CONF", "PATH")},
                "partition": "batch",
            }
            for name in _NAMES
        }
        with serving({"clusters": clusters, "poll_interval": "2s"}) as federation:
            folder = federation.folder
            own = str(testbed["one"].bin / "sbatch")
            alone = makespan(
                [own], folder, "alone", given.seconds, {**os.environ, **environment["one"]}
            )
            socket = {"METABROKER_SOCKET": str(folder / "metabroker.sock")}
            front = [sys.executable, "-c", _FRONT]
            both = makespan(front, folder, "both", given.seconds, {**os.environ, **socket})
    print(f"one cluster alone {alone:.1f} s, both {both:.1f} s: ratio {both / alone:.3f}")


if __name__ == "__main__":
    main()
