"""50 clusters, 10 of which are slow: real Slurm whose every command takes seconds more."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.measures import Metrics, between, quantile
from metabroker.submission.model import Processors
from tests.testbed import ClusterSpec, SlurmCluster, Testbed
from tests.testbed.testbed import SYSTEM_PATH

from .daemons import Loaded, loaded
from .daemons import ended as all_ended

Json = dict[str, Any]
FAST, SLOW = 40, 10
DELAY = 5.0  # seconds more of a slow cluster's command
_SIZE = 8  # processors of a cluster
_AT_ONCE = 10  # clients
_TO_SLOW = 20  # jobs for slow clusters
_COMMANDS = ("sbatch", "squeue", "sinfo", "scontrol", "scancel")


def slow(jobs: int) -> Json:
    """`jobs` for the other clusters, while the 10 answer as fast as they can, and while not."""
    specs = [ClusterSpec(f"slow{number}", 1, _SIZE) for number in range(SLOW)]
    with Testbed(specs) as testbed:
        clusters = list(testbed.clusters.values())
        return {
            "delay": DELAY,
            "none_slow": _measured(clusters, 0.0, jobs, testbed.folder / "fast"),
            "ten_slow": _measured(clusters, DELAY, jobs, testbed.folder / "slow"),
        }


def _measured(clusters: list[SlurmCluster], delay: float, jobs: int, folder: Path) -> Json:
    folder.mkdir()
    configured: Json = {
        f"fast{number:02d}": {"system": "simulated", "processors": _SIZE} for number in range(FAST)
    }
    configured |= {cluster.name: _wrapped(cluster, delay, folder) for cluster in clusters}
    with loaded(configured, discipline="FPFS") as where:
        return _loaded(where, [cluster.name for cluster in clusters], jobs)


def _wrapped(cluster: SlurmCluster, delay: float, folder: Path) -> Json:
    """The cluster by commands that sleep before they do anything."""
    bin_ = folder / cluster.name
    bin_.mkdir()
    for name in _COMMANDS:
        script = bin_ / name
        script.write_text(f'#!/bin/sh\nsleep {delay}\nexec {cluster.bin / name} "$@"\n')
        script.chmod(0o755)
    return {
        "system": "slurm",
        "env": {**cluster.env(), "PATH": f"{cluster.bin}:{SYSTEM_PATH}"},
        "bin": str(bin_),
        "partition": "batch",
    }


def _loaded(where: Loaded, names: list[str], jobs: int) -> Json:
    client = where.federation.client
    before = Metrics(where.metrics)
    to_slow = [
        client.submit(
            where.wire(f"slow-{n}", Processors(single=1, cluster=names[n % SLOW]), time_limit=600)
        )["job"]
        for n in range(_TO_SLOW)
    ]

    def submit(number: int) -> tuple[float, int]:
        # Every fifth is co-allocated over four of the others.
        places = [f"fast{(number * 7 + part * 11) % FAST:02d}" for part in range(4)]
        asked = (
            Processors(on=tuple((place, 1) for place in places))
            if number % 5 == 0
            else Processors(single=1, cluster=places[0])
        )
        began = time.monotonic()
        job = client.submit(where.wire(f"fast-{number}", asked, time_limit=600))["job"]
        return time.monotonic() - began, int(job)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(submit, range(jobs)))
    where.federation.idle(600.0)
    after = Metrics(where.metrics)
    ended = {job["job"]: job for job in all_ended(client)}
    latencies = [seconds for seconds, _ in found]
    fast = [ended[job]["end_time"] - ended[job]["submit_time"] for _, job in found]
    slowly = [ended[job]["end_time"] - ended[job]["submit_time"] for job in to_slow]
    commands = between(before, after, "metabroker_command_seconds")
    return {
        "submit_median": statistics.median(latencies),
        "submit_p99": quantile(latencies, 0.99),
        "response_median": statistics.median(fast),
        "response_p99": quantile(fast, 0.99),
        "response_in_the_ten": statistics.median(slowly),
        "pass_mean": between(before, after, "metabroker_scheduling_pass_seconds").mean,
        "command_mean": commands.mean,
        "completed": sum(job["state"] == "COMPLETED" for job in ended.values()),
        "lost": len({*to_slow, *(job for _, job in found)} - ended.keys()),
    }
