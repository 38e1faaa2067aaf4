"""The kinds of clusters that the same tests run against, each with its own users and its truth.

What a cluster holds is read past metabroker: real ones are asked with Slurm's own commands,
simulated ones are read from their state files.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tests.testbed import SlurmCluster
from tests.testbed.testbed import SYSTEM_PATH

SIZES = {"delft": 144, "leiden": 64, "lab": 32}


@dataclass(frozen=True)
class Held:
    """What a cluster holds for somebody: names of jobs that are not over, and reservations with
    their processors."""

    jobs: tuple[str, ...]
    reservations: Mapping[str, int]

    def of(self, instance: str) -> Held:
        """Only what one broker has."""
        ours = f"mb-{instance}-"
        return Held(
            tuple(name for name in self.jobs if name.startswith(ours)),
            {name: n for name, n in self.reservations.items() if name.startswith(ours)},
        )


class Kind(Protocol):
    """Three clusters of one kind, in the hands of one test."""

    name: str
    sizes: dict[str, int]

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        """The `clusters` section for a daemon whose state is in `folder`."""

    def local_job(self, folder: Path, name: str, cluster: str, processors: int) -> None:
        """A local user submits a job past the broker; it runs until `end_local`."""

    def reservation(self, folder: Path, name: str, cluster: str, processors: int) -> None:
        """The cluster's operator reserves processors for others."""

    def running(self, folder: Path, name: str, cluster: str) -> bool:
        """Whether a local user's job runs."""

    def held(self, folder: Path, cluster: str) -> Held:
        """What the cluster holds now."""


def end_local(folder: Path, name: str) -> None:
    """A local user's job ends."""
    (folder / f"{name}.end").touch()


def local_script(folder: Path, name: str) -> str:
    """What a local user's job runs."""
    return f"#!/bin/sh\nwhile [ ! -e '{folder}/{name}.end' ]; do sleep 0.05; done\n"


@dataclass
class Slurm:
    """Real clusters."""

    clusters: dict[str, SlurmCluster]
    name: str = "slurm"
    sizes: dict[str, int] = field(default_factory=lambda: dict(SIZES))

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        return {
            name: {
                "system": "slurm",
                "env": {**cluster.env(), "PATH": f"{cluster.bin}:{SYSTEM_PATH}"},
                "partition": "batch",
            }
            for name, cluster in self.clusters.items()
        }

    def local_job(self, folder: Path, name: str, cluster: str, processors: int) -> None:
        self.clusters[cluster].submit(
            *("-n", str(processors), "-t", "10", "-J", name),
            script=local_script(folder, name),
            user=somebody(),
            cwd=Path("/tmp"),
        )

    def reservation(self, folder: Path, name: str, cluster: str, processors: int) -> None:
        self.clusters[cluster].run(
            *("scontrol", "create", "reservation", f"ReservationName={name}", "StartTime=now"),
            *("Duration=60", f"Users={somebody() or 'root'}", f"CoreCnt={processors}"),
            "PartitionName=batch",
            check=True,
        )

    def running(self, folder: Path, name: str, cluster: str) -> bool:
        return any(job.state == "RUNNING" for job in self.clusters[cluster].jobs(name))

    def held(self, folder: Path, cluster: str) -> Held:
        real = self.clusters[cluster]
        # Jobs first: a reservation outlives the job that uses it.
        jobs = tuple(job.name for job in real.active_jobs())
        return Held(jobs, {r.name: r.processors for r in real.reservations()})


def somebody() -> str | None:
    """A user other than the broker's account, where we may act as one."""
    return "daemon" if os.geteuid() == 0 else None


@dataclass
class Simulated:
    """Clusters that the daemon plays, with real scripts as local processes. Their other users
    can only come before the daemon starts: nobody but the daemon writes to its clusters."""

    name: str = "simulated"
    sizes: dict[str, int] = field(default_factory=lambda: dict(SIZES))

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        return {
            name: {"system": "simulated", "processors": processors, "run": True}
            for name, processors in self.sizes.items()
        }

    def local_job(self, folder: Path, name: str, cluster: str, processors: int) -> None:
        state = self._state(folder, cluster)
        number = state["next_id"]
        script = folder / f"{cluster}.jobs" / f"{number}.sh"
        script.parent.mkdir(exist_ok=True)
        script.write_text(local_script(folder, name))
        job = {
            "id": number,
            "name": name,
            "processors": processors,
            "limit": 600.0,
            "submit_time": time.time(),
            "reservation": None,
            "state": "PENDING",
            "start_time": None,
            "end_time": None,
            "exit_code": None,
            "extra": {
                "gate": str(folder / "no-gate"),
                "chdir": "/tmp",
                "output": "/dev/null",
                "error": None,
            },
        }
        self._write(folder, cluster, state | {"next_id": number + 1, "jobs": [*state["jobs"], job]})

    def reservation(self, folder: Path, name: str, cluster: str, processors: int) -> None:
        state = self._state(folder, cluster)
        now = time.time()
        made = {"name": name, "processors": processors, "start": now, "end": now + 3600}
        reservations = [*state["reservations"], made]
        self._write(folder, cluster, state | {"reservations": reservations})

    def running(self, folder: Path, name: str, cluster: str) -> bool:
        jobs = self._state(folder, cluster)["jobs"]
        return any(job["name"] == name and job["state"] == "RUNNING" for job in jobs)

    def held(self, folder: Path, cluster: str) -> Held:
        state = self._state(folder, cluster)
        active = ("PENDING", "RUNNING")
        return Held(
            tuple(job["name"] for job in state["jobs"] if job["state"] in active),
            {r["name"]: r["processors"] for r in state["reservations"]},
        )

    def _state(self, folder: Path, cluster: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((folder / f"{cluster}.simulated").read_text())
        except FileNotFoundError:
            return {"next_id": 1, "jobs": [], "reservations": []}
        return found

    def _write(self, folder: Path, cluster: str, state: dict[str, Any]) -> None:
        (folder / f"{cluster}.simulated").write_text(json.dumps(state))
