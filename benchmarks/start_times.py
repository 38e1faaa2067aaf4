"""Start times as users are told them, on a real Slurm cluster under a part of a log.

    python -m benchmarks.start_times LOG.swf.gz [--first 14000] [--jobs 1000] [--past 300]
        [--machine 338] [--faster 300] [--policy EASY]

64 processors stand for the `machine` of the log; its jobs come and run `faster`. All are of one
user, and a job's name stands for the user in the log. Of each that waits, what `queue` tells first
is held against its start; so is what `sbatch --test-only` says at the same moment. Printed: how
many were told an interval, the part that was kept, its median width, and the median errors. The
first jobs, `past`, are not counted: the broker knows nothing yet, and its cluster is empty.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from metabroker.submission.model import Processors
from metabroker.traces.swf import SwfJob, read
from tests.testbed.cluster import SlurmCluster

from .federation import Federation, on_slurm

_CLUSTER, _SIZE = "leiden", 64
_TOLD = re.compile(r"to start at (\S+)")
_SOON = 1.0  # seconds between two looks


@dataclass(slots=True)
class Waiting:
    """A job that waited. Unix seconds: what was told first, and what `sbatch` said then."""

    told: dict[str, float] | None = None
    told_at: float = 0.0
    sbatch: float | None = None


def replay(federation: Federation, cluster: SlurmCluster, jobs: list[SwfJob], given: Any) -> None:
    """Submit them at their times, and look at what is told."""
    began, numbers, waiting = time.time(), [], dict[int, Waiting]()
    looked = 0.0
    for job in jobs:
        due = began + (job.submit - jobs[0].submit) / given.faster
        while time.time() < due:
            if time.time() - looked >= _SOON:
                looked = time.time()
                look(federation, cluster, waiting)
            time.sleep(max(0.0, min(0.1, due - time.time())))
        seconds, limit = job.run / given.faster, max(1, round(job.estimate / given.faster / 60))
        size = min(_SIZE, max(1, round(job.size * _SIZE / given.machine)))
        wire = federation.submission(
            f"#!/bin/sh\nsleep {seconds:.2f}\n",
            Processors(single=size),
            time_limit=60 * limit,
            name="user " + "".join(chr(ord("a") + int(digit)) for digit in str(abs(job.user))),
            output="/dev/null",
        )
        numbers.append(federation.client.submit(wire)["job"])
    while federation.client.get("status")["jobs"].get("QUEUED"):
        look(federation, cluster, waiting)
        time.sleep(_SOON)
    federation.idle(600)
    report(federation, numbers[given.past :], waiting)


def look(federation: Federation, cluster: SlurmCluster, waiting: dict[int, Waiting]) -> None:
    """What is told now of those that wait."""
    for row in federation.client.get("jobs")["jobs"]:
        if row["state"] != "QUEUED":
            continue
        known = waiting.get(row["job"])
        if known is None:
            known = waiting[row["job"]] = Waiting(sbatch=_test_only(cluster, row))
        if known.told is None and row["expected_start"] is not None:
            known.told, known.told_at = row["expected_start"], time.time()


def _test_only(cluster: SlurmCluster, row: dict[str, Any]) -> float | None:
    words = ("--test-only", f"-n{row['processors']}", f"-t{row['time_limit'] // 60}")
    found = _TOLD.search(cluster.run("sbatch", *words, stdin="#!/bin/sh\n").stderr)
    if found is None:
        return None
    text = found[1]
    return float(text) if text.isdigit() else datetime.fromisoformat(text).timestamp()


def report(federation: Federation, numbers: list[int], waiting: dict[int, Waiting]) -> None:
    """Print what came of it."""
    ended = federation.client.history(limit="all", page=10_000)
    starts = {job["job"]: job["start_time"] for page in ended for job in page["jobs"]}
    counted = set(numbers)
    waiting = {job: known for job, known in waiting.items() if job in counted}
    told = [(w.told, starts[n]) for n, w in waiting.items() if w.told and starts.get(n)]
    kept = [told["earliest"] <= start <= told["latest"] for told, start in told]
    median = statistics.median
    print(
        f"{len(numbers)} jobs, {len(waiting)} seen waiting, {len(told)} of these told an interval"
    )
    print(f"kept: {sum(kept) / len(kept):.3f}")
    print(f"median width: {median(t['latest'] - t['earliest'] for t, _ in told):.1f} s")
    print(f"median error: {median(abs(t['likely'] - start) for t, start in told):.1f} s")
    others = [
        abs(w.sbatch - starts[n])
        for n, w in waiting.items()
        if w.told and w.sbatch and starts.get(n)
    ]
    print(f"median error of sbatch --test-only: {median(others):.1f} s ({len(others)} jobs)")
    print(f"by the daemon itself: {federation.client.get('status')['start_times']}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--first", type=int, default=14000)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--past", type=int, default=300)
    parser.add_argument("--machine", type=int, default=338)
    parser.add_argument("--faster", type=float, default=300.0)
    parser.add_argument("--policy", default="EASY")
    given = parser.parse_args()
    jobs = read(given.log).jobs[given.first : given.first + given.jobs]
    with on_slurm([_CLUSTER], policy=given.policy, poll_interval="1s") as (federation, testbed):
        replay(federation, testbed[_CLUSTER], jobs, given)


if __name__ == "__main__":
    main()
