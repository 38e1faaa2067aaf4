"""What the benchmarks share: real clusters, a daemon, and a client."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metabroker.api.client import Client, ClientError
from metabroker.submission.model import Processors, Submission
from metabroker.submission.wire import to_wire
from tests.testbed import Testbed
from tests.testbed.cluster import ClusterSpec
from tests.testbed.testbed import DEFAULT_CLUSTERS


@dataclass(frozen=True, slots=True)
class Federation:
    """A daemon over clusters."""

    folder: Path
    client: Client
    daemon: subprocess.Popen[bytes]

    def submission(self, script: str, processors: Processors, **more: Any) -> dict[str, Any]:
        """A submission as it crosses the socket."""
        return to_wire(
            Submission(
                script=script.encode(),
                script_name="bench",
                processors=processors,
                chdir=str(self.folder),
                **more,
            )
        )

    def idle(self, seconds: float = 120.0) -> None:
        """Wait until no job is left and nothing is owed."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            status = self.client.get("status")
            if not status["jobs"] and not status["owed_effects"]:
                return
            time.sleep(0.05)
        raise TimeoutError("jobs are left")


@contextlib.contextmanager
def serving(config: dict[str, Any]) -> Iterator[Federation]:
    """A daemon with this configuration (store and socket are added)."""
    with tempfile.TemporaryDirectory(prefix="metabroker-bench-") as name:
        folder = Path(name)
        whole = {
            "store": f"sqlite:///{folder}/metabroker.db",
            "socket": f"{folder}/metabroker.sock",
            "metrics": None,
            "allow_root": True,
            **config,
        }
        file = folder / "metabroker.yaml"
        file.write_text(json.dumps(whole))
        daemon = start(file, folder)
        client = Client(folder / "metabroker.sock")
        try:
            await_clusters(client)
            yield Federation(folder, client, daemon)
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(60)


def start(file: Path, folder: Path) -> subprocess.Popen[bytes]:
    """Start `metabroker serve`."""
    return start_as([], file, folder, None)


def start_as(
    words: list[str], file: Path, folder: Path, cwd: Path | None
) -> subprocess.Popen[bytes]:
    """The same by other words before it: as another account, say, from a folder of its own."""
    with (folder / "daemon.log").open("ab") as log:
        return subprocess.Popen(
            [*words, sys.executable, "-m", "metabroker", "serve", "--config", str(file)],
            stderr=log,
            stdin=subprocess.DEVNULL,
            cwd=cwd,
        )


def await_clusters(client: Client, seconds: float = 180.0) -> None:
    """Until the daemon answers and knows all its clusters."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(ClientError):
            if all(cluster["fresh"] for cluster in client.get("clusters")["clusters"]):
                return
        time.sleep(0.02)
    raise TimeoutError("the daemon does not answer, or not all clusters do")


@contextlib.contextmanager
def on_slurm(
    only: Sequence[str] = (), specs: Sequence[ClusterSpec] = DEFAULT_CLUSTERS, **config: Any
) -> Iterator[tuple[Federation, Testbed]]:
    """A daemon over real Slurm clusters (`specs`: three), or `only` some of these."""
    with Testbed(specs) as testbed:
        clusters = {
            cluster.name: {
                "system": "slurm",
                "env": {k: v for k, v in cluster.env().items() if k in ("SLURM_CONF", "PATH")},
                "partition": "batch",
            }
            for cluster in testbed.clusters.values()
            if not only or cluster.name in only
        }
        with serving({"clusters": clusters, **config}) as federation:
            yield federation, testbed


def resident(pid: int) -> float:
    """A process's resident memory, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
