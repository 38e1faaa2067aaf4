"""What does it cost to reach clusters over SSH?

    python -m benchmarks.over_ssh [--runs 200] [--seconds 60]

Printed: the median of a real `squeue` and of `true` over each transport, in turn, in one run, with
their ratios to the local one; and a daemon over 8 clusters by 8 connections, looked at every 10 s:
its share of one core and its memory.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from metabroker.api.client import Client, ClientError
from metabroker.clusters.transports.base import Command, Transport
from metabroker.clusters.transports.local import LocalTransport
from metabroker.clusters.transports.openssh import OpenSshTransport
from metabroker.clusters.transports.ssh import SshTransport
from metabroker.clusters.transports.ssh_target import Hop, SshTarget
from tests.testbed import SlurmCluster, Testbed
from tests.testbed.openssh import install_openssh
from tests.testbed.sshd import Sshd

CLUSTERS = 8


def milliseconds(transport: Transport, command: Command) -> float:
    began = time.perf_counter()
    transport.run(command)
    return 1000 * (time.perf_counter() - began)


def commands(sshd: Sshd, cluster: SlurmCluster, runs: int) -> None:
    """One command over each transport."""
    who = Hop("127.0.0.1", sshd.port, sshd.account.name)
    reach = SshTarget(who, str(sshd.key), agent=False, known_hosts=str(sshd.known_hosts))
    env = cluster.env()
    transports: dict[str, Transport] = {
        "local": LocalTransport(env),
        "ssh": SshTransport(reach, env),
        "openssh": OpenSshTransport(reach, env, program=str(sshd.programs.bin / "ssh")),
    }
    for argv in (("squeue", "-h", "-t", "all", "-o", "%i|%T|%j"), ("true",)):
        times: dict[str, list[float]] = {name: [] for name in transports}
        for _ in range(runs):
            for name, transport in transports.items():
                times[name].append(milliseconds(transport, Command(argv)))
        found = {name: statistics.median(t) for name, t in times.items()}
        told = ", ".join(
            f"{name} {ms:.1f} ms ({ms / found['local']:.2f} x)" for name, ms in found.items()
        )
        print(f"{argv[0]}: {told}")
    for transport in transports.values():
        transport.close()


def processor_seconds(pid: int) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int) -> float:
    """The memory it holds now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def polling(sshd: Sshd, cluster: SlurmCluster, seconds: float) -> None:
    """A daemon that has nothing to do but look at its clusters."""
    folder = Path(tempfile.mkdtemp(prefix="mb-"))
    one = {"system": "slurm", "via": "ssh", "env": cluster.env(), **sshd.settings()}
    config = {
        "store": f"sqlite:///{folder}/mb.db",
        "socket": f"{folder}/mb.sock",
        "metrics": None,
        "poll_interval": "10s",
        "allow_root": True,
        "clusters": {f"c{number}": one for number in range(CLUSTERS)},
    }
    (folder / "mb.yaml").write_text(yaml.safe_dump(config))
    words = [sys.executable, "-m", "metabroker", "serve", "--config", str(folder / "mb.yaml")]
    daemon = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        client = Client(folder / "mb.sock", timeout=5.0, patience=0.0)
        while True:
            with contextlib.suppress(ClientError):
                if all(c["reachable"] for c in client.get("clusters")["clusters"]):
                    break
            time.sleep(0.1)
        before, began = processor_seconds(daemon.pid), time.monotonic()
        time.sleep(seconds)
        share = (processor_seconds(daemon.pid) - before) / (time.monotonic() - began)
        memory = megabytes(daemon.pid)
        print(f"{CLUSTERS} clusters over ssh, every 10 s: {share:.1%} of a core, {memory:.0f} MB")
    finally:
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="mb-sshd-"))
    folder.chmod(0o755)
    with Testbed() as testbed:
        sshd = Sshd(install_openssh(), folder / "sshd")
        sshd.start()
        try:
            print(f"load {os.getloadavg()[0]:.1f}")
            commands(sshd, testbed["lab"], options.runs)
            polling(sshd, testbed["lab"], options.seconds)
        finally:
            sshd.stop()
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
