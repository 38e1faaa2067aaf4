"""Plans of co-allocated jobs on real clusters that others keep full, while the broker is killed as
they are made, moved and started, and an administrator deletes reservations at random: nothing is
left, and no job is lost. METABROKER_TEST_TURNS=20 (`make plans-killed`); none by itself.
"""

from __future__ import annotations

import random
import time
from functools import partial

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording
from tests.daemon.kinds import Slurm
from tests.daemon.test_line import SIZES, end, local_job
from tests.testbed import SlurmCluster

from .test_same_second import SEED, TURNS

_PER_TURN = 240.0  # seconds, at most

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(not TURNS, reason="METABROKER_TEST_TURNS is not set"),
    pytest.mark.timeout(60 + TURNS * _PER_TURN),
]


def kill_within(site: Site, rng: random.Random, seconds: float) -> None:
    """The broker dies at some moment, and comes back."""
    time.sleep(rng.uniform(0, seconds))
    site.kill()
    time.sleep(rng.choice((0.0, rng.uniform(0, 2))))
    site.start()


def is_held(site: Site, job: int) -> bool:
    plan = site.job(job)["plan"]
    return plan is not None and bool(plan["held"])


def delete_one(clusters: dict[str, SlurmCluster], rng: random.Random) -> None:
    """An administrator deletes a reservation of ours, if there is one that may be deleted."""
    lab = clusters[rng.choice(list(SIZES))]
    for found in lab.reservations()[:1]:
        lab.run("scontrol", "delete", f"ReservationName={found.name}")


def test_a_plan_survives_kills_at_any_moment_and_the_loss_of_its_reservations(
    clusters: dict[str, SlurmCluster], make_site: MakeSite
) -> None:
    kind, rng = Slurm(clusters), random.Random(SEED)
    site = make_site(kind, {"plan": {"ahead": "1h"}})
    site.start_and_look()
    assert site.cli("drain", "delft").returncode == 0
    for turn in range(TURNS):
        full = {name: local_job(kind, name, size, 300) for name, size in SIZES.items()}
        waits = {name: local_job(kind, name, 8, 1) for name in SIZES}
        for name, job_id in full.items():
            clusters[name].wait_job(job_id, "RUNNING")
        site.look_at_clusters(anew=True)
        job = site.submit("--components 8,8", recording("sleep 1"))
        kill_within(site, rng, 1.5)  # it is made
        eventually(partial(is_held, site, job))
        if rng.random() < 0.5:
            delete_one(clusters, rng)
        for name in SIZES:
            end(kind, name, waits[name])
            end(kind, name, full[name])
        kill_within(site, rng, 6.0)  # it is moved, and submitted
        kill_within(site, rng, 3.0)  # it is at the barrier, and starts
        ended = site.wait_end(job, "COMPLETED", seconds=_PER_TURN)
        site.wait_clean()
        assert len(site.runs(job)) == 2, f"turn {turn}"
        assert not any(clusters[name].reservations() for name in SIZES), f"turn {turn}"
        print(f"turn {turn}: {ended['attempts']} attempts", flush=True)
