"""20 jobs of 16 processors on two clusters that their own users keep full, against bare sbatch.

    python -m benchmarks.busy [--jobs 20] [--depth 32]

In each cluster 8 jobs of 4 processors always wait. In turn: the same jobs by sbatch to either
cluster, and through the broker. Printed: the median wait of each, the ratio to the better cluster,
what the local users' jobs have waited meanwhile, the starts of each script, and what is left.
"""

from __future__ import annotations

import argparse
import random
import statistics
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from metabroker.submission.model import Processors
from tests.testbed import Testbed
from tests.testbed.cluster import SlurmCluster

from .federation import Federation, on_slurm

CLUSTERS = ("leiden", "lab")
_WAITING = 8
_SCRIPT = "#!/bin/sh\ndate +%s.%N >> {folder}/{tag}\nsleep 5\n"


@dataclass
class LocalUsers:
    """Keep so many jobs pending in a cluster; `waits`: seconds that theirs have waited."""

    cluster: SlurmCluster
    seed: int
    waits: list[float] = field(default_factory=list)
    _end: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """From now on."""
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """No more."""
        self._end.set()
        self._thread.join()

    def _feed(self) -> None:
        rng, known = random.Random(self.seed), set[str]()
        while not self._end.wait(0.5):
            told = self.cluster.run("squeue", "-h", "-n", "local", "-o", "%i %t %V %S").stdout
            waiting = 0
            for line in told.splitlines():
                number, state, submitted, started = line.split()
                waiting += state == "PD"
                if state != "PD" and number not in known and started != "N/A":
                    known.add(number)
                    self.waits.append(float(started) - float(submitted))
            for _ in range(_WAITING - waiting):
                seconds = rng.randint(8, 16)
                self.cluster.run(
                    "sbatch", "-n4", "-t1", "-J", "local", "-o/dev/null",
                    stdin=f"#!/bin/sh\nsleep {seconds}\n", check=True,
                )  # fmt: skip


def _waits(folder: Path, tags: list[str], began: float) -> list[float]:
    deadline = time.monotonic() + 1800
    while time.monotonic() < deadline:
        found = [folder / tag for tag in tags]
        if all(file.exists() and file.stat().st_size for file in found):
            time.sleep(1.0)
            stamps = [file.read_text().split() for file in found]
            if any(len(stamp) != 1 for stamp in stamps):
                raise RuntimeError(f"scripts have started more than once: {stamps}")
            return [float(stamp[0]) - began for stamp in stamps]
        time.sleep(0.2)
    raise TimeoutError(f"{sum(not (folder / tag).exists() for tag in tags)} have not started")


def bare(testbed: Testbed, folder: Path, cluster: str, jobs: int) -> list[float]:
    """Seconds that each has waited by sbatch."""
    tags = [f"{cluster}{number}" for number in range(jobs)]
    began = time.time()
    for tag in tags:
        script = _SCRIPT.format(folder=folder, tag=tag)
        testbed[cluster].run("sbatch", "-n16", "-t1", "-o/dev/null", stdin=script, check=True)
    return _waits(folder, tags, began)


def brokered(federation: Federation, jobs: int) -> list[float]:
    """The same through the broker."""
    tags = [f"broker{number}" for number in range(jobs)]
    began = time.time()
    for tag in tags:
        script = _SCRIPT.format(folder=federation.folder, tag=tag)
        wire = federation.submission(
            script, Processors(single=16), time_limit=60, output="/dev/null"
        )
        federation.client.submit(wire)
    return _waits(federation.folder, tags, began)


def left(testbed: Testbed) -> list[str]:
    """What of the broker's is still in the clusters."""
    found = []
    for name in CLUSTERS:
        cluster = testbed[name]
        told = cluster.run("squeue", "-h", "-o", "%j").stdout
        told += cluster.run("scontrol", "-o", "show", "reservation").stdout
        found += [f"{name}: {line}" for line in told.splitlines() if "mb-" in line]
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--depth", type=int, default=32)
    given = parser.parse_args()
    with on_slurm(CLUSTERS, poll_interval="2s", line={"depth": given.depth}) as (
        federation,
        testbed,
    ):
        users = [LocalUsers(testbed[name], seed) for seed, name in enumerate(CLUSTERS)]
        for each in users:
            each.start()
        time.sleep(20)
        median, marks = statistics.median, [[len(each.waits) for each in users]]
        found: dict[str, list[float]] = {}
        for name in CLUSTERS:
            found[f"sbatch to {name}"] = bare(testbed, federation.folder, name, given.jobs)
            marks.append([len(each.waits) for each in users])
            time.sleep(10)
        found["metabroker"] = brokered(federation, given.jobs)
        marks.append([len(each.waits) for each in users])
        time.sleep(60)
        remains = left(testbed)
        for each in users:
            each.end()
        for which, waits in found.items():
            print(f"{which}: {median(waits):.1f} s (median), longest {max(waits):.1f} s")
        best = min(median(waits) for which, waits in found.items() if which != "metabroker")
        print(f"ratio to the better cluster: {median(found['metabroker']) / best:.2f}")
        for turn, which in enumerate(found):
            told = [
                w
                for user, first, last in zip(users, marks[turn], marks[turn + 1], strict=True)
                for w in user.waits[first:last]
            ]
            print(
                f"local users' jobs meanwhile ({which}): mean wait {statistics.fmean(told):.1f} s"
            )
        print(f"left 60 s after the last start: {remains or 'nothing'}")


if __name__ == "__main__":
    main()
