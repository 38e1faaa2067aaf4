"""`serve --offline`: simulated twins, a store of their own; and what Prometheus sees."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from metabroker.api.client import Client, ClientError
from metabroker.store import Store
from metabroker.submission.model import Processors, Submission
from metabroker.submission.wire import to_wire
from tests.daemon.harness import eventually


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def offline(folder: Path, port: int) -> Iterator[Client]:
    """An offline daemon over two Slurm clusters that cannot be reached from here."""
    config = {
        "store": f"sqlite:///{folder}/mb.db",
        "socket": f"{folder}/mb.sock",
        "metrics": f"127.0.0.1:{port}",
        "poll_interval": "1s",
        "allow_root": True,
        "clusters": {
            "far": {"system": "slurm", "processors": 16, "bin": "/nowhere"},
            "seen": {"system": "slurm", "bin": "/nowhere"},
            "unknown": {"system": "openpbs", "bin": "/nowhere"},
        },
    }
    (folder / "mb.yaml").write_text(json.dumps(config))
    words = [sys.executable, "-m", "metabroker", "serve", "--offline", "--config"]
    with (folder / "log").open("wb") as log:
        daemon = subprocess.Popen([*words, f"{folder}/mb.yaml"], stderr=log)
    client = Client(folder / "mb.sock")
    try:
        deadline = time.monotonic() + 120
        while True:
            with contextlib.suppress(ClientError):
                if all(c["fresh"] for c in client.get("clusters")["clusters"]):
                    break
            assert time.monotonic() < deadline, "the daemon does not answer"
            time.sleep(0.05)
        yield client
    finally:
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(120) == 0


def test_twins_have_the_sizes_last_seen_and_leave_the_real_store_alone(tmp_path: Path) -> None:
    Store(f"sqlite:///{tmp_path}/mb.db").close()
    with contextlib.closing(sqlite3.connect(tmp_path / "mb.db")) as real, real:
        real.execute("insert into clusters values ('seen', 40, 'slurm', 0)")
    with offline(tmp_path, free_port()) as client:
        sizes = {c["name"]: c["processors"] for c in client.get("clusters")["clusters"]}
        assert sizes == {"far": 16, "seen": 40, "unknown": 64}
        log = (tmp_path / "log").read_text()
        assert "offline: each cluster is replaced by a simulated twin" in log
        assert "far: its twin has 16 processors, as configured" in log
        assert "seen: its twin has 40 processors, as the cluster was last seen" in log
        assert "unknown: its twin has 64 processors, a guess" in log
        submission = Submission(
            script=b"#!/bin/sh\nsleep 1\nexit 9\n",
            script_name="job",
            processors=Processors(components=(16, 16)),
            chdir=str(tmp_path),
        )
        job = client.submit(to_wire(submission))["job"]
        ended = client.wait(job, lambda _job: None)
        # The script runs: the job takes as long as it does, and ends as it does.
        assert (ended["state"], ended["exit_code"]) == ("FAILED", 9)
        assert 1 <= ended["end_time"] - ended["start_time"] < 1800
        met = ".metabroker-mb-*"
        eventually(lambda: not [*tmp_path.glob(met)], "where its components met is gone")
    with contextlib.closing(sqlite3.connect(tmp_path / "mb.db")) as real:
        assert real.execute("select count(*) from jobs").fetchone() == (0,)


def test_prometheus_sees_queues_and_clusters(tmp_path: Path) -> None:
    port = free_port()
    with (
        offline(tmp_path, port),
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer,
    ):
        text = answer.read().decode()
    assert 'metabroker_cluster_up{cluster="far"} 1.0' in text
    assert 'metabroker_cluster_processors{cluster="far",state="idle"} 16.0' in text
    assert 'metabroker_queue_length{queue="global"} 0.0' in text
    assert "metabroker_store_writable 1.0" in text
