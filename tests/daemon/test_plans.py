"""A co-allocated job on real clusters whose users keep them full: it is given a time."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from metabroker.clusters.operation import carry_out
from metabroker.clusters.port import ClusterRefusal, ReserveRequest
from metabroker.clusters.slurm import SlurmCluster as Adapter
from metabroker.clusters.slurm import SlurmOptions
from metabroker.clusters.transports.local import LocalTransport
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


@pytest.mark.slurm
def test_no_reservation_comes_to_lie_over_another_which_slurm_itself_would_do(
    clusters: dict[str, SlurmCluster],
) -> None:
    options = SlurmOptions("root", name="lab", instance="abcdef01", partition="batch")
    lab = clusters["lab"]
    it, start = Adapter(options, LocalTransport(lab.env())), float(int(time.time()) + 300)
    carry_out(it.observe(time.time()), it.transport)
    first, second = (ReserveRequest(f"mb-abcdef01-{n}-1-0", 32, 60) for n in (1, 2))
    try:
        carry_out(it.reserve(replace(first, start=start)), it.transport)
        carry_out(it.reserve(replace(second, start=start + 60)), it.transport)
        sooner = replace(second, start=start + 30, move=True)
        with pytest.raises(ClusterRefusal, match="has its processors by then"):
            carry_out(it.reserve(sooner), it.transport)
        carry_out(it.reserve(replace(first, move=True, end=start + 30)), it.transport)
        carry_out(it.reserve(sooner), it.transport)
        assert len(lab.reservations()) == 2
    finally:
        for token in (first.token, second.token):
            lab.run("scontrol", "delete", f"ReservationName={token}")


@pytest.mark.slurm
def test_only_jobs_on_its_own_cores_keep_a_reservation_from_beginning_earlier(
    clusters: dict[str, SlurmCluster],
) -> None:
    lab, token = clusters["lab"], "mb-abcdef01-3-1-0"
    options = SlurmOptions("root", name="lab", instance="abcdef01", partition="batch")
    it, start = Adapter(options, LocalTransport(lab.env())), float(int(time.time()) + 300)
    carry_out(it.observe(time.time()), it.transport)  # it tells how many threads cores have
    request = ReserveRequest(token, 8, 60, start=start)
    sooner = replace(request, start=start - 240, move=True)
    on_them, beside = (lab.submit(f"-n{n}", "-t2", "-wlab1") for n in (8, 4))
    try:
        eventually(
            lambda: all((j := lab.job(n)) and j.state == "RUNNING" for n in (on_them, beside))
        )
        carry_out(it.reserve(request), it.transport)
        eventually(lambda: _told(lab) == "NodeName=lab1 CoreIDs=0-7")
        with pytest.raises(ClusterRefusal, match="may have its processors by then"):
            carry_out(it.reserve(sooner), it.transport)
        lab.run("scancel", on_them, check=True)
        eventually(lambda: (job := lab.job(on_them)) is None or job.state == "CANCELLED")
        carry_out(it.reserve(sooner), it.transport)
        (found,) = lab.reservations()
        assert found.start == start - 240
        assert (job := lab.job(beside)) is not None and job.state == "RUNNING"
    finally:
        lab.run("scancel", on_them, beside)
        lab.run("scontrol", "delete", f"ReservationName={token}")


def _told(lab: SlurmCluster) -> str:
    """Which cores the reservation has: that is told a moment after it was made."""
    text = lab.run("scontrol", "-o", "show", "reservation").stdout
    return " ".join(word for word in text.split() if word.startswith(("NodeName=", "CoreIDs=")))
