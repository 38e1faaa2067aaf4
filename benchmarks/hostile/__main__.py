"""How much longer does one user wait beside another who is hostile?

    python -m benchmarks.hostile [--hostile 1000] [--jobs 100] [--via ssh] [--seconds 1]

Real Slurm clusters, real users, a daemon under a service account with its sudo rules. alice's jobs
are submitted all at once, alone, and again while bob's are there: first ordinary ones (whom she
shares the clusters with), then hostile ones. Both are held to the same `limits.per_user`. Printed:
her median wait each time, and the ratios. It needs root, for accounts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.federation import Federation, await_clusters, start_as
from metabroker.api.client import Client
from tests.testbed import ClusterSpec
from tests.testbed.accounts import People, open_code
from tests.testbed.openssh import install_openssh
from tests.testbed.sshd import Account, Sshd
from tests.testbed.testbed import SYSTEM_PATH, Testbed

from .kinds import hostile
from .users import asks

Json = dict[str, Any]
SIZES = {"delft": 8, "leiden": 8}
SHARE = 6  # processors of one user
WAITING = 100  # jobs of one user


@dataclass
class Served:
    """A daemon that acts for people."""

    people: People
    federation: Federation

    def asks(self, who: str, jobs: Sequence[Json], *more: str) -> subprocess.Popen[str]:
        """That user at work."""
        return asks(self.people, who, self.federation.folder / "metabroker.sock", jobs, *more)

    def told(self, process: subprocess.Popen[str]) -> list[Any]:
        """What became of each submission."""
        out, _ = process.communicate(timeout=1800)
        return [json.loads(line) for line in out.splitlines()]

    def waits(self, jobs: int, seconds: float) -> list[float]:
        """How long each of alice's jobs waits, from its submission to its script's start."""
        script = f"#!/bin/sh\nsleep {seconds:g}\n"
        numbers = self.told(self.asks("alice", [{"script": script}] * jobs))
        ended = [self.federation.client.wait(n, lambda _state: None) for n in numbers]
        bad = [job for job in ended if job["state"] != "COMPLETED"]
        if bad:
            raise SystemExit(f"{len(bad)} of alice's jobs have not completed: {bad[0]}")
        shown = [self.federation.client.get(f"jobs/{n}") for n in numbers]
        return [job["start_time"] - job["submit_time"] for job in shown]

    def empty(self, who: str) -> None:
        """Cancel what is left of a user's, and wait until that is done."""
        name = self.people.name(who)
        for job in self.federation.client.get("jobs")["jobs"]:
            if job["user"] == name:
                with contextlib.suppress(Exception):
                    self.federation.client.change(job["job"], "cancel")
        self.federation.idle(600)


@contextlib.contextmanager
def served(via: str) -> Iterator[Served]:
    """Clusters, people, a daemon."""
    with tempfile.TemporaryDirectory(prefix="mb-hostile-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        people = People(folder)
        svc = Account(people.name("svc"), people.uid("svc"), people.uid("svc"))
        sshd = Sshd(install_openssh(), folder / "sshd", who=svc)
        extra = {"SlurmUser": people.name("svc")}
        try:
            with Testbed([ClusterSpec(n, 1, cores, extra) for n, cores in SIZES.items()]) as real:
                _prepare(people, real, sshd)
                try:
                    with _daemon(folder, people, real, sshd, via) as federation:
                        yield Served(people, federation)
                finally:
                    sshd.stop()
        finally:
            people.remove()


def _prepare(people: People, real: Testbed, sshd: Sshd) -> None:
    people.allow([real["delft"].bin / "sbatch", real["delft"].bin / "scancel"])
    sshd.start()
    os.chown(sshd.key, people.uid("svc"), people.uid("svc"))
    for cluster in real.clusters.values():
        words = ("PartitionName=private", "Nodes=ALL", "AllowGroups=root")
        cluster.run("scontrol", "create", *words, check=True)


@contextlib.contextmanager
def _daemon(
    folder: Path, people: People, real: Testbed, sshd: Sshd, via: str
) -> Iterator[Federation]:
    place = folder / "daemon"
    place.mkdir()
    os.chown(place, people.uid("svc"), -1)
    far = {} if via == "local" else {"via": via, **sshd.settings()}
    if via == "openssh":
        far["ssh_config"] = "/dev/null"
    users = {people.name(who): people.name(who) for who in ("alice", "bob")}
    share = {"processors": SHARE, "waiting": WAITING}
    config = {
        "store": f"sqlite:///{place}/metabroker.db",
        "socket": f"{place}/metabroker.sock",
        "metrics": None,
        "limits": {"per_user": share},
        "clusters": {
            name: {
                "system": "slurm",
                "partition": "batch",
                "bin": str(cluster.bin),
                "env": {"SLURM_CONF": str(cluster.slurm_conf), "PATH": SYSTEM_PATH},
                "run_as": "sudo",
                "users": users,
                "shared_dir": str(people.shared),
                **far,
            }
            for name, cluster in real.clusters.items()
        },
    }
    file = place / "metabroker.yaml"
    file.write_text(json.dumps(config))
    process = start_as(people.words("svc", reading=True), file, place, open_code())
    client = Client(place / "metabroker.sock")
    try:
        await_clusters(client)
        yield Federation(place, client, process)
    finally:
        process.terminate()
        process.wait(120)


def beside(where: Served, jobs: Sequence[Json], options: argparse.Namespace) -> list[float]:
    """alice's waits while bob's jobs are there: 100 jobs again and again, until he has no more."""
    bob = where.asks("bob", jobs)
    cancels = where.asks("bob", [{"script": "#!/bin/sh\nsleep 1\n"}], "cancels")
    found: list[float] = []
    try:
        time.sleep(options.head_start)
        deadline = time.monotonic() + options.longest
        while not found or (bob.poll() is None and time.monotonic() < deadline):
            found += where.waits(options.jobs, options.seconds)
        if bob.poll() is None:
            print("  some of bob's jobs were not submitted in that time", flush=True)
        return found
    finally:
        for process in (bob, cancels):
            process.kill()
            process.wait()
        where.empty("bob")


def ends(where: Served) -> Iterator[str]:
    """How bob's jobs have ended, by their kind."""
    bob = where.people.name("bob")
    found: dict[str, Counter[str]] = {}
    jobs = where.federation.client.get("history", limit=10_000, user=bob)["jobs"]
    for job in jobs:
        found.setdefault(job["name"], Counter())[job["state"]] += 1
    for name, states in sorted(found.items()):
        yield f"  {name[:40]}: {', '.join(f'{n} {state}' for state, n in states.items())}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--hostile", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each of alice's jobs")
    parser.add_argument("--head-start", type=float, default=10.0, help="seconds of bob's")
    parser.add_argument("--longest", type=float, default=900.0, help="seconds for all of bob's")
    parser.add_argument("--via", choices=("local", "ssh", "openssh"), default="local")
    options = parser.parse_args()
    median = statistics.median
    with served(options.via) as where:
        alone = where.waits(options.jobs, options.seconds)
        print(f"alone: {median(alone):.2f} s (median of {options.jobs} jobs)", flush=True)
        sleep = f"#!/bin/sh\nsleep {options.seconds:g}\n"
        sleeps = [{"script": sleep, "name": "ordinary"}] * (options.hostile // 5)
        trouble = [{"name": kind, **job} for kind, job in hostile(options.hostile)]
        for what, jobs in (("ordinary", sleeps), ("hostile", trouble)):
            waits = beside(where, jobs, options)
            ratio = median(waits) / median(alone)
            told = f"{median(waits):.2f} s (median of {len(waits)} jobs), ratio {ratio:.2f}"
            print(f"beside {len(jobs)} {what} jobs: {told}", flush=True)
        print("bob's jobs, those that were cancelled over and over included:")
        print("\n".join(ends(where)))


if __name__ == "__main__":
    main()
