"""20 jobs of 16 processors on two clusters that their own users keep full, against bare sbatch.

    python -m benchmarks.busy [--jobs 20] [--depth 32] [--rounds 0] [--openpbs PATH]

In each cluster 8 jobs of 4 processors always wait. In turn: the same jobs by sbatch (qsub) to
either cluster, and through the broker. Printed: the median wait of each, the ratio to the better
cluster, the starts of each script, and what is left. With `--openpbs` one of the clusters is a live
OpenPBS server of 32 processors, of which this is the pbs.conf, or a folder of its client commands.

What local users pay is told by `--rounds`: in turn the jobs come by sbatch, divided between the
clusters by their sizes, and through the broker. Printed: what the local jobs that start in the same
time from then on have waited, and the ratio.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metabroker.submission.model import Processors
from tests.daemon.pbs import server_at
from tests.testbed import Testbed
from tests.testbed.cluster import ClusterSpec
from tests.testbed.testbed import SYSTEM_PATH

from .federation import Federation, serving
from .own_users import OfOpenPBS, OfSlurm, OwnUsers

_SIZES = {"leiden": 64, "lab": 32}
_ROUND = 90.0  # seconds: more than the jobs need
_SCRIPT = "#!/bin/sh\ndate +%s.%N >> {folder}/{tag}\nsleep {seconds}\n"


@dataclass(frozen=True, slots=True)
class Busy:
    """Two full clusters, and the broker above them. `sizes`: their processors."""

    users: list[OwnUsers]
    sizes: list[int]
    federation: Federation

    def play(
        self, way: str, jobs: int, send: Callable[[int, str], None], seconds: int = 5
    ) -> list[float]:
        """Seconds that each of so many jobs has waited, which runs for so long; `send` submits one
        script."""
        folder = self.federation.folder
        tags = [f"{way}{number}" for number in range(jobs)]
        began = time.time()
        for number, tag in enumerate(tags):
            send(number, _SCRIPT.format(folder=folder, tag=tag, seconds=seconds))
        found = _waits(folder, tags, began)
        for tag in tags:
            (folder / tag).unlink()
        return found

    def bare(self, cluster: int, jobs: int, processors: int = 16, seconds: int = 5) -> list[float]:
        """By the cluster's own command."""
        own = self.users[cluster]
        return self.play(own.name, jobs, lambda _, script: own.submit(script, processors), seconds)

    def split(self, jobs: int) -> list[float]:
        """By the clusters' own commands, divided between them by their sizes."""
        turns = [n for n, size in enumerate(self.sizes) for _ in range(size // min(self.sizes))]
        return self.play(
            "split",
            jobs,
            lambda number, script: self.users[turns[number % len(turns)]].submit(script, 16),
        )

    def brokered(self, jobs: int) -> list[float]:
        """Through the broker."""

        def send(_: int, script: str) -> None:
            wire = self.federation.submission(
                script, Processors(single=16), time_limit=60, output="/dev/null"
            )
            self.federation.client.submit(wire)

        return self.play("broker", jobs, send)


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


def pay(busy: Busy, given: Any) -> None:
    """What local users' jobs wait by either way, in turn."""
    ways = {"sbatch": busy.split, "metabroker": busy.brokered}
    local: dict[str, list[float]] = {way: [] for way in ways}
    ours: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(given.rounds):
        for way, play in sorted(ways.items(), reverse=turn % 2 == 0):
            began = time.time()
            ours[way] += play(given.jobs)
            time.sleep(max(0.0, began + _ROUND - time.time()))
            for own in busy.users:
                own.look_back()
            told = [w for own in busy.users for at, w in own.waits if began <= at < began + _ROUND]
            local[way] += told
            mean = statistics.fmean(told)
            print(f"{way}: {len(told)} local jobs waited {mean:.2f} s (mean)", flush=True)
    for way in ways:
        wait = statistics.median(ours[way])
        print(f"{way}: ours waited {wait:.1f} s (median), local {statistics.fmean(local[way]):.2f}")
    ratio = statistics.fmean(local["metabroker"]) / statistics.fmean(local["sbatch"])
    print(f"ratio of what local jobs waited (mean): {ratio:.3f}")


def race(busy: Busy, given: Any) -> None:
    """What the jobs wait by the command of one cluster or the other, and through the broker."""
    median = statistics.median
    found: dict[str, list[float]] = {}
    for cluster, own in enumerate(busy.users):
        found[f"bare, {own.name}"] = busy.bare(cluster, given.jobs)
        time.sleep(10)
    found["metabroker"] = busy.brokered(given.jobs)
    time.sleep(60)
    for which, waits in found.items():
        print(f"{which}: {median(waits):.1f} s (median), longest {max(waits):.1f} s")
    best = min(median(waits) for which, waits in found.items() if which != "metabroker")
    print(f"ratio to the better cluster: {median(found['metabroker']) / best:.2f}")
    left = [f"{own.name}: {what}" for own in busy.users for what in own.left()]
    print(f"left 60 s after the last start: {left or 'nothing'}")


@contextlib.contextmanager
def _clusters(
    path: Path | None, sizes: dict[str, int]
) -> Iterator[tuple[list[OwnUsers], list[int], dict[str, Any]]]:
    names = ["lab"] if path else list(sizes)
    with Testbed([ClusterSpec(name, nodes=2, cores=sizes[name] // 2) for name in names]) as testbed:
        users: list[OwnUsers] = [OfSlurm(testbed[name], seed) for seed, name in enumerate(names)]
        config: dict[str, Any] = {
            name: {
                "system": "slurm",
                "env": {
                    k: v for k, v in testbed[name].env().items() if k in ("SLURM_CONF", "PATH")
                },
                "partition": "batch",
            }
            for name in names
        }
        if path:
            server = server_at(path)
            users.append(OfOpenPBS("pbs", server, 1))
            where = {**server.env, "PATH": f"{server.bin}:{SYSTEM_PATH}"}
            config["pbs"] = {"system": "openpbs", "env": where}
        yield users, [32, 32] if path else list(sizes.values()), config


@contextlib.contextmanager
def busy(path: Path | None, of: dict[str, int] = _SIZES, **config: Any) -> Iterator[Busy]:
    """Two clusters `of` these sizes that are full, one of them a live OpenPBS server if a path
    leads to it, and a broker that is configured so."""
    with (
        _clusters(path, of) as (users, sizes, clusters),
        serving({"clusters": clusters, "poll_interval": "2s", **config}) as federation,
    ):
        for own in users:
            own.start()
        time.sleep(20)
        yield Busy(users, sizes, federation)
        for own in users:
            own.end()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--depth", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=0, help="what local users pay, so many times")
    parser.add_argument("--openpbs", type=Path, help="a live server instead of one of the clusters")
    given = parser.parse_args()
    with busy(given.openpbs, line={"depth": given.depth}) as it:
        (pay if given.rounds else race)(it, given)


if __name__ == "__main__":
    main()
