"""Jobs that stand in line in the own queues of real clusters whose users keep them full."""

from __future__ import annotations

import time

import pytest

from tests.daemon.fixtures import MakeSite, clusters_of
from tests.daemon.harness import eventually, recording
from tests.daemon.kinds import Kind, Slurm
from tests.daemon.pbs import OpenPBS, live

SIZES = {"leiden": 64, "lab": 32}


@pytest.fixture(params=[pytest.param("slurm", marks=pytest.mark.slurm), live("openpbs")])
def kind(request: pytest.FixtureRequest) -> Kind:
    return clusters_of(request.param, request)


def local_job(kind: Kind, cluster: str, processors: int, seconds: int) -> str:
    """A job of a local user; its id."""
    script = f"#!/bin/sh\nexec sleep {seconds}\n"
    if isinstance(kind, Slurm):
        words = ("--parsable", "-t5", f"-n{processors}", "-o/dev/null")
        done = kind.clusters[cluster].run("sbatch", *words, stdin=script, check=True)
        return str(done.stdout.strip())
    assert isinstance(kind, OpenPBS)
    what = f"select={processors}:ncpus=1"
    given = ("-l", what, "-l", "walltime=300", "-o", "/dev/null", "-e", "/dev/null")
    return kind.servers[cluster].run("qsub", *given, stdin=script).strip()


def end(kind: Kind, cluster: str, job: str) -> None:
    if isinstance(kind, Slurm):
        kind.clusters[cluster].run("scancel", job, check=True)
    elif isinstance(kind, OpenPBS):
        kind.servers[cluster].run("qdel", job)


def test_a_job_stands_in_line_in_full_clusters_and_starts_once_where_it_comes_up(
    kind: Kind, make_site: MakeSite
) -> None:
    site = make_site(kind)
    full = {name: local_job(kind, name, size, 300) for name, size in SIZES.items()}
    waits = {name: local_job(kind, name, 8, 1) for name in SIZES}
    site.start_and_look()
    assert site.cli("drain", "delft").returncode == 0
    job = site.submit("-n 16", recording("sleep 1"))
    eventually(lambda: len(site.job(job)["line"]) == len(SIZES))
    told = site.job(job)
    assert told["state"] == "QUEUED" and {s["cluster"] for s in told["line"]} == set(SIZES)
    eventually(lambda: "(2nd, since" in site.job(job)["reason"])
    assert site.job(job)["reason"].startswith("in line at ")

    site.kill()
    site.start()
    end(kind, "leiden", full["leiden"])
    ended = site.wait_end(job, "COMPLETED")
    assert [part["cluster"] for part in ended["components"]] == ["leiden"]
    assert len(site.runs(job)) == 1
    end(kind, "lab", full["lab"])
    end(kind, "lab", waits["lab"])
    site.wait_clean()
    assert len(site.runs(job)) == 1


def test_somebody_whose_jobs_come_and_go_keeps_no_cluster_from_a_job(
    kind: Kind, make_site: MakeSite
) -> None:
    """They are too large to start, and each is cancelled before it has waited long."""
    site = make_site(kind)
    stays = local_job(kind, "lab", 1, 300)
    site.start_and_look()
    for other in ("delft", "leiden"):
        assert site.cli("drain", other).returncode == 0
    goes, job = local_job(kind, "lab", SIZES["lab"], 1), 0
    for turn in range(40):
        if turn == 4:  # they have been seen
            job = site.submit("-n 16", recording("true"))
        time.sleep(1.5)
        before, goes = goes, local_job(kind, "lab", SIZES["lab"], 1)
        end(kind, "lab", before)
        if job and site.job(job)["state"] == "COMPLETED":
            break
    else:
        pytest.fail(f"kept waiting: {site.job(job)}")
    assert len(site.runs(job)) == 1
    end(kind, "lab", goes)
    end(kind, "lab", stays)
    site.wait_clean()
