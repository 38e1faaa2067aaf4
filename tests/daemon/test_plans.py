"""A co-allocated job on real clusters whose users keep them full: it is given a time."""

from __future__ import annotations

import time

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import eventually, recording
from tests.daemon.kinds import Slurm
from tests.daemon.test_line import SIZES, end, local_job
from tests.testbed import SlurmCluster


@pytest.mark.slurm
def test_a_job_is_told_a_time_keeps_it_over_a_kill_and_starts_earlier_if_all_is_idle(
    clusters: dict[str, SlurmCluster], make_site: MakeSite
) -> None:
    kind = Slurm(clusters)
    site = make_site(kind, {"plan": {"ahead": "1h"}})
    full = {name: local_job(kind, name, size, 300) for name, size in SIZES.items()}
    waits = {name: local_job(kind, name, 8, 1) for name in SIZES}
    site.start_and_look()
    assert site.cli("drain", "delft").returncode == 0
    job = site.submit("--components 8,8", recording())
    told = eventually(lambda: (plan := site.job(job)["plan"]) and plan["held"] and plan)
    assert told["start"] > time.time() + 60 and set(told["clusters"]) == set(SIZES)
    assert site.job(job)["reason"].startswith("starts ")
    held = {name: clusters[name].reservations() for name in SIZES}
    assert all(len(found) == 1 for found in held.values())

    site.kill()
    site.start_and_look()
    assert site.job(job)["plan"] == told
    for name in SIZES:
        end(kind, name, waits[name])
        end(kind, name, full[name])
    ended = site.wait_end(job, "COMPLETED")
    # On a busy host a plan may have to be made anew.
    assert ended["start_time"] < told["start"] and ended["attempts"] <= 2
    assert len(site.runs(job)) == 2
    site.wait_clean()
    assert not any(clusters[name].reservations() for name in SIZES)
