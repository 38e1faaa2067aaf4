"""Somebody takes what was idle, and the broker does not know yet."""

from __future__ import annotations

from typing import Any

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually
from tests.daemon.kinds import SIZES, Slurm, end_local


def refusals(site: Site, job: int) -> int:
    """How often a cluster has refused it."""
    return sum(event["event"] == "refused" for event in site.job(job)["events"])


@pytest.mark.slurm
def test_a_cluster_that_is_full_costs_one_try_until_it_is_polled(
    clusters: Any, make_site: MakeSite
) -> None:
    kind = Slurm(clusters)
    site = make_site(kind, {"poll_interval": "5m", "retries": {"submission": 2}})
    site.start_and_look()
    kind.local_job(site.folder, "local", "delft", SIZES["delft"])
    eventually(lambda: kind.running(site.folder, "local", "delft"))

    job = site.submit(f"--on delft:{SIZES['delft']},lab:2")
    eventually(lambda: refusals(site, job) >= 3)
    found = site.job(job)
    assert not found["end_time"] and found["submission_failures"] == 1

    end_local(site.folder, "local")
    site.wait_end(job, "COMPLETED")
    site.wait_clean()
