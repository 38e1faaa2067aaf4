"""Jobs that the policy splits over real clusters, as it starts them."""

from __future__ import annotations

import pytest

from metabroker.submission.times import parse_time
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import MEET, eventually, recording, until
from tests.daemon.kinds import SIZES, Slurm
from tests.daemon.test_line import end, local_job
from tests.testbed import SlurmCluster

pytestmark = pytest.mark.slurm
TOTAL = 170  # more than any one cluster has, and than all have while delft is full
LIMIT = 3600  # seconds
STRETCHED = 5400.0  # with the overhead of one half
MAY = {"parts": len(SIZES), "component": None}


def native_limits(cluster: SlurmCluster, instance: str) -> list[float]:
    """The time limits of the broker's jobs there, in seconds, as Slurm itself tells them."""
    lines = cluster.run("squeue", "-h", "-t", "R", "-o", "%j %l", check=True).stdout.splitlines()
    found = [line.split() for line in lines]
    return [parse_time(limit) for name, limit in found if name.startswith(f"mb-{instance}-")]


def test_a_job_larger_than_any_cluster_is_split_as_it_starts_and_runs_once(
    clusters: dict[str, SlurmCluster], make_site: MakeSite
) -> None:
    kind = Slurm(clusters)
    site = make_site(kind, {"policy": "MULTI-SITE", "overhead": 0.5})
    full = local_job(kind, "delft", SIZES["delft"], 300)
    site.start_and_look()
    eventually(lambda: site.clusters()["delft"]["idle"] == 0)
    script = recording(f"{MEET}{until('over')}")
    job = site.submit(f"--total {TOTAL} -t {LIMIT // 60}", script)
    waits = site.show(job)
    assert waits["state"] == "QUEUED" and waits["split"] == {**MAY, "extra_time": 0}

    site.kill()
    site.start_and_look()
    waits = site.show(job)
    assert waits["state"] == "QUEUED" and waits["split"] == {**MAY, "extra_time": 0}
    assert [part["processors"] for part in waits["components"]] == [TOTAL]
    end(kind, "delft", full)
    site.wait_state(job, "RUNNING")
    eventually(lambda: len(site.met(job)) == 2, "both scripts have met each other")
    runs = site.show(job)
    assert runs["split"] == {**MAY, "extra_time": STRETCHED - LIMIT}
    assert runs["time_limit"] == LIMIT
    split = {part["cluster"]: part["processors"] for part in runs["components"]}
    assert split == {"delft": SIZES["delft"], "leiden": TOTAL - SIZES["delft"]}
    for name in split:
        (limit,) = native_limits(clusters[name], site.instance)
        # Beyond that it is left the way to the barrier, which takes minutes at most.
        assert STRETCHED <= limit < STRETCHED + 600

    (site.work / "over").touch()
    ended = site.wait_end(job, "COMPLETED")
    assert ended["attempts"] == 1 and len(site.runs(job)) == len(site.met(job)) == 2
    (placed,) = [entry for entry in site.show(job)["events"] if entry["event"] == "placed"]
    assert placed["time_limit"] == STRETCHED
    site.wait_clean()
    assert not any(cluster.reservations() for cluster in clusters.values())


def test_a_job_that_one_cluster_has_room_for_is_not_split_and_keeps_its_limit(
    clusters: dict[str, SlurmCluster], make_site: MakeSite
) -> None:
    site = make_site(Slurm(clusters), {"policy": "MULTI-SITE", "overhead": 0.5})
    site.start_and_look()
    script = recording(until("over"))
    job = site.submit(f"--total 50 -t {LIMIT // 60}", script)
    site.wait_state(job, "RUNNING")
    runs = site.show(job)
    assert [part["cluster"] for part in runs["components"]] == ["leiden"], "by Best Fit"
    assert runs["split"] == {**MAY, "extra_time": 0}
    (limit,) = native_limits(clusters["leiden"], site.instance)
    assert limit == LIMIT
    (site.work / "over").touch()
    site.wait_end(job, "COMPLETED")
    assert len(site.runs(job)) == 1
    site.wait_clean()
