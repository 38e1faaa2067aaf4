"""Start times as users are told them, on real Slurm clusters under a part of a log.

    python -m benchmarks.start_times LOG.swf.gz [--first 14000] [--jobs 1000] [--past 300]
        [--machine 338] [--faster 300] [--policy EASY]

64 processors stand for the `machine` of the log; its jobs come and run `faster`. All are of one
user, and a job's name stands for the user in the log. Each is submitted to the broker, and by
`sbatch` to a cluster as large that is Slurm's own (backfilling). Of each that waits, what `queue`
tells first is held against its start. So is, in Slurm's own cluster, what `sbatch --test-only` says
just before the job is submitted. Printed: how many were told an interval, the part that was kept,
its median width, and the median errors; also that of `--test-only` in the broker's cluster, which
knows nothing of the broker's queue. The first jobs, `past`, are not counted: the broker knows
nothing yet, and the clusters are empty.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from metabroker.submission.model import Processors
from metabroker.traces.swf import SwfJob, read
from tests.testbed.cluster import ClusterSpec, SlurmCluster
from tests.testbed.reading import parse_estimate

from .federation import Federation, on_slurm

_BROKERS, _OWN, _SIZE = "leiden", "delft", 64
_CLUSTERS = [ClusterSpec(name, nodes=2, cores=_SIZE // 2) for name in (_BROKERS, _OWN)]
_SOON = 1.0  # seconds between two looks
_WAITS = 5.0  # seconds: a job that starts earlier has not waited in Slurm's own cluster


@dataclass(slots=True)
class Waiting:
    """A job that waited. Unix seconds: what was told first, and what `sbatch` said then."""

    told: dict[str, float] | None = None
    told_at: float = 0.0
    sbatch: float | None = None


@dataclass
class SlurmAlone:
    """The same jobs in a cluster of Slurm's own. By job, Unix seconds: when they were submitted,
    what was told before that, and their starts."""

    cluster: SlurmCluster
    numbers: list[str] = field(default_factory=list)
    submitted: list[float] = field(default_factory=list)
    told: list[float | None] = field(default_factory=list)
    starts: dict[str, float] = field(default_factory=dict)

    def submit(self, script: str, size: int, minutes: int, name: str) -> None:
        """Ask when such a job would start, and submit it."""
        self.told.append(test_only(self.cluster, size, minutes))
        self.submitted.append(time.time())
        words = (f"-n{size}", f"-t{minutes}", "-J", name)
        self.numbers.append(self.cluster.submit(*words, script=script))

    def look(self) -> bool:
        """See who has started. Whether somebody waits or runs."""
        jobs = self.cluster.jobs()
        for job in jobs:
            if job.state != "PENDING" and job.started is not None:
                self.starts[job.id] = job.started
        return any(job.active for job in jobs)

    def errors(self, past: int) -> list[float]:
        """How far what was told of those that waited was from their starts, in seconds."""
        jobs = list(zip(self.numbers, self.submitted, self.told, strict=True))[past:]
        return [
            abs(told - self.starts[number])
            for number, submitted, told in jobs
            if told is not None and self.starts.get(number, 0.0) - submitted >= _WAITS
        ]


def replay(
    federation: Federation, cluster: SlurmCluster, own: SlurmAlone, jobs: list[SwfJob], given: Any
) -> None:
    """Submit them at their times, and look at what is told."""
    began, numbers, waiting = time.time(), [], dict[int, Waiting]()
    looked = 0.0
    for job in jobs:
        due = began + (job.submit - jobs[0].submit) / given.faster
        while time.time() < due:
            if time.time() - looked >= _SOON:
                looked = time.time()
                look(federation, cluster, waiting)
                own.look()
            time.sleep(max(0.0, min(0.1, due - time.time())))
        seconds, limit = job.run / given.faster, max(1, round(job.estimate / given.faster / 60))
        size = min(_SIZE, max(1, round(job.size * _SIZE / given.machine)))
        script = f"#!/bin/sh\nsleep {seconds:.2f}\n"
        name = "user " + "".join(chr(ord("a") + int(digit)) for digit in str(abs(job.user)))
        wire = federation.submission(
            script,
            Processors(single=size),
            time_limit=60 * limit,
            name=name,
            output="/dev/null",
        )
        numbers.append(federation.client.submit(wire)["job"])
        own.submit(script, size, limit, name)
    while own.look() or federation.client.get("status")["jobs"].get("QUEUED"):
        look(federation, cluster, waiting)
        time.sleep(_SOON)
    federation.idle(600)
    report(federation, numbers[given.past :], waiting, own.errors(given.past))


def look(federation: Federation, cluster: SlurmCluster, waiting: dict[int, Waiting]) -> None:
    """What is told now of those that wait."""
    for row in federation.client.get("jobs")["jobs"]:
        if row["state"] != "QUEUED":
            continue
        known = waiting.get(row["job"])
        if known is None:
            told = test_only(cluster, row["processors"], row["time_limit"] // 60)
            known = waiting[row["job"]] = Waiting(sbatch=told)
        if known.told is None and row["expected_start"] is not None:
            known.told, known.told_at = row["expected_start"], time.time()


def test_only(cluster: SlurmCluster, size: int, minutes: int) -> float | None:
    """When such a job would start, as `sbatch --test-only` has it (Unix seconds)."""
    words = ("--test-only", f"-n{size}", f"-t{minutes}")
    return parse_estimate(cluster.run("sbatch", *words, stdin="#!/bin/sh\n").stderr)


def report(
    federation: Federation,
    numbers: list[int],
    waiting: dict[int, Waiting],
    by_slurm: Sequence[float],
) -> None:
    """Print what came of it."""
    ended = federation.client.history(limit="all", page=10_000)
    starts = {job["job"]: job["start_time"] for page in ended for job in page["jobs"]}
    counted = set(numbers)
    waiting = {job: known for job, known in waiting.items() if job in counted}
    told = [(w.told, starts[n]) for n, w in waiting.items() if w.told and starts.get(n)]
    kept = [told["earliest"] <= start <= told["latest"] for told, start in told]
    median = statistics.median
    if not told or not by_slurm:
        raise SystemExit(f"of {len(numbers)} jobs {len(told)} were told an interval: take more")
    print(
        f"{len(numbers)} jobs, {len(waiting)} seen waiting, {len(told)} of these told an interval"
    )
    print(f"kept: {sum(kept) / len(kept):.3f}")
    print(f"median width: {median(t['latest'] - t['earliest'] for t, _ in told):.1f} s")
    error, slurms = median(abs(t["likely"] - start) for t, start in told), median(by_slurm)
    print(f"median error: {error:.1f} s")
    print(f"of sbatch --test-only in Slurm's own cluster: {slurms:.1f} s ({len(by_slurm)} jobs)")
    print(f"ratio: {error / slurms:.2f}")
    others = [
        abs(w.sbatch - starts[n])
        for n, w in waiting.items()
        if w.told and w.sbatch and starts.get(n)
    ]
    print(f"of sbatch --test-only in the broker's: {median(others):.1f} s ({len(others)} jobs)")
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
    more = {"policy": given.policy, "poll_interval": "1s"}
    with on_slurm([_BROKERS], specs=_CLUSTERS, **more) as (federation, testbed):
        replay(federation, testbed[_BROKERS], SlurmAlone(testbed[_OWN]), jobs, given)


if __name__ == "__main__":
    main()
