"""`metabroker demo`: a daemon, three simulated clusters, and jobs that really run."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from metabroker.api.client import ENDED, Client, ClientError
from metabroker.cli.errors import CliError
from metabroker.cli.views import print_clusters, print_history, print_queue

_CLUSTERS = {"delft": 16, "leiden": 8, "lab": 4}
_PATIENCE = 90.0  # seconds until the demonstration gives up
_SCRIPT = """\
#!/bin/sh
echo "$METABROKER_JOB_NAME, component $METABROKER_COMPONENT of $METABROKER_COMPONENTS:" \\
     "$METABROKER_PROCESSORS processors in $METABROKER_CLUSTER, started at" \\
     "$(date +%T.%N | cut -c1-12)"
if [ "$METABROKER_COMPONENTS" -gt 1 ]; then
    echo "who is there: $(tr -d ' \\n' < "$METABROKER_PEERS_FILE")"
fi
sleep "${1:-2}"
"""
_JOBS: tuple[tuple[str, list[str], str], ...] = (
    ("single", ["-n", "4"], "one component of 4 processors, any cluster"),
    ("local", ["-n", "8", "--cluster", "leiden"], "8 processors in leiden"),
    ("trio", ["--components", "8,6,4"], "co-allocated: 8, 6 and 4 processors at the same moment"),
    ("ordered", ["--on", "delft:6,lab:4"], "co-allocated, in clusters that its user chose"),
    ("flexible", ["--total", "26"], "26 processors; the broker splits them"),
)


@click.command()
def demo() -> int:
    """Run three simulated clusters, the daemon and a few jobs, co-allocated ones among them.

    The jobs are shown live, and the demo ends by itself. It needs nothing but this package.
    """
    folder = Path(tempfile.mkdtemp(prefix="metabroker-demo-"))
    try:
        with _daemon(folder) as client:
            _say("Three simulated clusters (their jobs really run, as processes of this host):")
            print_clusters(client.get("clusters")["clusters"])
            jobs = _submit_all(folder, client)
            _follow(client, len(jobs))
            _report(folder, client)
            ended = client.get("history")["jobs"]
            well = len(ended) == len(jobs) and all(j["state"] == "COMPLETED" for j in ended)
            _say("All jobs ended well." if well else "Not all jobs ended well.")
            return 0 if well else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _daemon(folder: Path) -> Iterator[Client]:
    """A daemon of its own, ended when the demonstration ends, however it ends."""
    config = {
        "store": f"sqlite:///{folder}/metabroker.db",
        "socket": f"{folder}/metabroker.sock",
        "metrics": None,
        "poll_interval": "1s",
        "allow_root": True,  # whoever runs it; it lasts a minute, and runs what stands here
        "clusters": {n: {"system": "simulated", "processors": p} for n, p in _CLUSTERS.items()},
    }
    (folder / "metabroker.yaml").write_text(json.dumps(config, indent=1))
    with (folder / "daemon.log").open("wb") as log:
        daemon = subprocess.Popen(
            [sys.executable, "-m", "metabroker", "serve", "--config", f"{folder}/metabroker.yaml"],
            stdin=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
    client = Client(folder / "metabroker.sock")
    try:
        _await_clusters(client, daemon, folder)
        yield client
    finally:
        daemon.send_signal(signal.SIGTERM)
        try:
            daemon.wait(15)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def _await_clusters(client: Client, daemon: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and daemon.poll() is None:
        with contextlib.suppress(ClientError):
            if all(cluster["fresh"] for cluster in client.get("clusters")["clusters"]):
                return
        time.sleep(0.1)
    log = (folder / "daemon.log").read_text(errors="replace").strip()
    raise CliError("the daemon did not start", log.splitlines()[-1] if log else "")


def _submit_all(folder: Path, client: Client) -> list[int]:
    script = folder / "job.sh"
    script.write_text(_SCRIPT)
    _say("Submitting:")
    numbers = []
    for name, options, meaning in _JOBS:
        words = ["submit", "--json", "-J", name, *options, str(script), "2"]
        shown = " ".join(["metabroker submit", *options, "job.sh 2"])
        done = subprocess.run(
            [sys.executable, "-m", "metabroker", *words],
            cwd=folder,
            env={"METABROKER_SOCKET": f"{folder}/metabroker.sock"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise CliError(f"`{shown}` failed", done.stderr.strip())
        number = json.loads(done.stdout)["job"]
        print(f"  job {number}: {shown:<48} {meaning}", flush=True)
        numbers.append(number)
    return numbers


def _follow(client: Client, count: int) -> None:
    """The queue each time it has changed, until all jobs have ended."""
    deadline = time.monotonic() + _PATIENCE
    shown: Any = None
    while time.monotonic() < deadline:
        jobs = client.get("jobs")["jobs"]
        state = [(job["job"], job["state"]) for job in jobs]
        if state and state != shown:
            _say("metabroker queue")
            print_queue(jobs)
            sys.stdout.flush()
        shown = state
        if not jobs and len(client.get("history")["jobs"]) >= count:
            return
        time.sleep(0.25)
    raise CliError(f"not all jobs ended within {_PATIENCE:.0f} seconds")


def _report(folder: Path, client: Client) -> None:
    _say("metabroker history")
    print_history([client.get("history")["jobs"]])
    _say("What the scripts wrote:")
    for output in sorted(folder.glob("metabroker-*.out"), key=_natural):
        print(f"{output.name}:")
        for line in output.read_text(errors="replace").splitlines():
            print(f"    {line}")
    for job in client.get("history")["jobs"]:
        starts = [c["start_time"] for c in job["components"] if c["start_time"] is not None]
        if len(starts) > 1 and job["state"] in ENDED:
            skew = (max(starts) - min(starts)) * 1000
            print(f"job {job['job']} ({job['name']}): its components started within {skew:.0f} ms")


def _natural(path: Path) -> list[int]:
    return [int(part) for part in path.name.replace("-", ".").split(".") if part.isdigit()]


def _say(text: str) -> None:
    print(f"\n{text}", flush=True)
