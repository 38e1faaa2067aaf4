"""Writes what a cluster answers into files, for the tests of the parsers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.testbed.cluster import SlurmCluster
from tests.testbed.reading import SEPARATOR
from tests.testbed.testbed import Testbed

SQUEUE_FIELDS = "%i %A %T %j %u %U %P %C %D %N %r %R %S %e %V %l %v %k"


SINFO_FIELDS = "%N %T %C %P %a %H %E"


QUERIES: dict[str, tuple[str, ...]] = {
    "squeue": ("squeue", "-h", "-a", "-t", "all", "-o", SQUEUE_FIELDS.replace(" ", SEPARATOR)),
    "sinfo": ("sinfo", "-h", "-N", "-o", SINFO_FIELDS.replace(" ", SEPARATOR)),
    "reservation": ("scontrol", "-o", "show", "reservation"),
    "node": ("scontrol", "-o", "show", "node"),
    "job": ("scontrol", "-o", "show", "job"),
    "partition": ("scontrol", "-o", "show", "partition"),
}


class Recorder:
    """Writes what a cluster answers, with this machine's names and paths taken out."""

    def __init__(self, testbed: Testbed, folder: Path) -> None:
        self.folder = folder
        self._replaced = [
            (str(testbed.installation.prefix), "/opt/slurm"),
            (str(testbed.folder), "/srv/clusters"),
            (f"={socket.gethostname()}\n", "=login\n"),
            (f"={socket.gethostname()} ", "=login "),
            (f" {socket.gethostname()} ", " login "),
            (os.uname().release, "6.1.0"),
            (os.uname().version, "1 SMP"),
        ]

    def clean(self, text: str) -> str:
        for machine, neutral in self._replaced:
            text = text.replace(machine, neutral)
        return text

    def state(self, cluster: SlurmCluster, name: str, *queries: str) -> None:
        """Record the answers to `queries` (default: all) in this state of the cluster."""
        for query in queries or QUERIES:
            done = cluster.run(*QUERIES[query], check=True)
            (self.folder / f"{name}.{query}.txt").write_text(self.clean(done.stdout))
        print(f"{cluster.name}: {name}", file=sys.stderr)

    def command(
        self,
        case: str,
        cluster: SlurmCluster,
        *argv: str,
        user: str | None = None,
        stdin: str = "",
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run one command and record how it ended; rc null is one that had to be killed."""
        began = time.monotonic()
        try:
            done = cluster.run(*argv, user=user, stdin=stdin, cwd=cwd, seconds=PATIENCE)
            rc = done.returncode
        except subprocess.TimeoutExpired as hung:
            output = [(text or b"").decode() for text in (hung.stdout, hung.stderr)]
            done, rc = subprocess.CompletedProcess(argv, -9, *output), None
        line = {
            "case": case,
            "argv": [self.clean(word) for word in argv],
            "user": user or "root",
            "rc": rc,
            "stdout": self.clean(done.stdout),
            "stderr": self.clean(done.stderr),
            "seconds": round(time.monotonic() - began, 1),
        }
        with (self.folder / "commands.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        return done


PATIENCE = 12  # seconds
