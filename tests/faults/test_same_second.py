"""Siblings that come up in two real clusters in the same second, while the broker is killed and a
controller stands still: one start. METABROKER_TEST_TURNS=50 (`make same-second`); none by itself.
"""

from __future__ import annotations

import os
import random
import threading
import time

import pytest

from tests.daemon.fixtures import MakeSite, clusters_of
from tests.daemon.harness import eventually, recording
from tests.daemon.kinds import Slurm
from tests.daemon.test_line import SIZES, end, local_job

TURNS = int(os.environ.get("METABROKER_TEST_TURNS", "0"))
SEED = int(os.environ.get("METABROKER_TEST_SEED", "1"))
_PER_TURN = 120.0  # seconds, at most

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(not TURNS, reason="METABROKER_TEST_TURNS is not set"),
    pytest.mark.timeout(60 + TURNS * _PER_TURN),
]


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> Slurm:
    found = clusters_of("slurm", request)
    assert isinstance(found, Slurm)
    return found


def natively(kind: Slurm, job: int) -> list[float]:
    """When the clusters have started siblings of a job, Unix seconds."""
    found = []
    for name in SIZES:
        told = kind.clusters[name].run("squeue", "-h", "-t", "all", "-o", "%j %S", check=True)
        for line in told.stdout.splitlines():
            token, _, started = line.partition(" ")
            if f"-{job}-" in token and started.isdigit():
                found.append(float(started))
    return found


def freeze_for(kind: Slurm, name: str, after: float, seconds: float) -> threading.Thread:
    """A controller stands still for a while, from so many seconds on."""

    def work() -> None:
        time.sleep(after)
        kind.clusters[name].freeze_controller()
        time.sleep(seconds)
        kind.clusters[name].thaw_controller()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_of_siblings_that_come_up_in_the_same_second_one_starts(
    kind: Slurm, make_site: MakeSite
) -> None:
    rng, site, played, both = random.Random(SEED), make_site(kind), 0, 0
    site.start_and_look()
    assert site.cli("drain", "delft").returncode == 0
    tried = 0
    while played < TURNS:
        tried += 1
        assert tried < 2 * TURNS + 5, "most jobs start before they are in line"
        full = {name: local_job(kind, name, size, 300) for name, size in SIZES.items()}
        waits = {name: local_job(kind, name, 8, 1) for name in SIZES}
        for name, job_id in full.items():
            kind.clusters[name].wait_job(job_id, "RUNNING")
        site.look_at_clusters(anew=True)
        job = site.submit("-n 16", recording("sleep 1"))

        def in_line(job: int = job) -> bool:
            told = site.job(job)
            there = [s for s in told["line"] if s["native_id"] is not None]
            return told["state"] != "QUEUED" or len(there) == len(SIZES)

        eventually(in_line)
        stands = site.job(job)["state"] == "QUEUED"
        ends = [threading.Thread(target=end, args=(kind, n, full[n])) for n in SIZES]
        frozen = [
            freeze_for(kind, rng.choice(list(SIZES)), rng.uniform(0, 1.5), rng.uniform(1, 8))
            for _ in range(rng.randint(0, 1))
        ]
        for thread in ends:
            thread.start()
        time.sleep(rng.uniform(0, 2.5))
        site.kill()
        time.sleep(rng.choice((0.0, 0.0, rng.uniform(0, 4))))
        site.start()
        for thread in (*ends, *frozen):
            thread.join()
        site.wait_end(job, "COMPLETED", seconds=_PER_TURN)
        for name in SIZES:
            kind.clusters[name].wait_job(waits[name], "COMPLETED", "CANCELLED")
        site.wait_clean()
        assert len(site.runs(job)) == 1, f"turn {played}"
        starts = natively(kind, job)
        played += stands
        both += stands and len(starts) > 1 and max(starts) - min(starts) <= 1
        print(f"turn {played}: starts in clusters {len(starts)}, both so far {both}", flush=True)
    assert both, "no two siblings came up in the same second"
