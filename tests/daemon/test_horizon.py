"""Real clusters whose administrators have reserved them for later."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.daemon.fixtures import MakeSite, clusters_of
from tests.daemon.harness import Site, eventually, recording, until
from tests.daemon.kinds import Kind, Slurm
from tests.daemon.pbs import OpenPBS, live


@pytest.fixture(params=[pytest.param("slurm", marks=pytest.mark.slurm), live("openpbs")])
def kind(request: pytest.FixtureRequest) -> Kind:
    return clusters_of(request.param, request)


def maintain(kind: Kind, name: str, minutes: int) -> str:
    """All of delft is reserved, so many minutes from now on; what the reservation is told by."""
    if isinstance(kind, Slurm):
        kind.clusters["delft"].run(
            *("scontrol", "create", "reservation", f"ReservationName={name}", "Duration=60"),
            *(f"StartTime=now+{minutes}minutes", "Nodes=ALL", "Users=root"),
            "Flags=MAINT,IGNORE_JOBS",
            check=True,
        )
        return name
    assert isinstance(kind, OpenPBS)
    server = kind.servers["delft"]
    start = time.strftime("%Y%m%d%H%M.%S", time.gmtime(time.time() + 60 * minutes))
    told = server.run(
        *("pbs_rsub", "--hosts", *server.nodes(), "-N", name, "-R", start, "-D", "3600"),
    )
    return told.split()[0]


def end(kind: Kind, told: str) -> None:
    """It is deleted."""
    if isinstance(kind, Slurm):
        kind.clusters["delft"].run("scontrol", "delete", f"ReservationName={told}", check=True)
    elif isinstance(kind, OpenPBS):
        kind.servers["delft"].run("pbs_rdel", told)


def test_a_job_looks_as_far_ahead_as_it_may_take(kind: Kind, make_site: MakeSite) -> None:
    site = make_site(kind)
    site.start_and_look()
    assert site.cli("drain", "lab", "--reason", "another matter").returncode == 0
    cables = maintain(kind, "cables", 90)
    eventually(lambda: dry(site, "-t", "2:00:00")["components"][0]["cluster"] == "leiden")
    assert dry(site, "-t", "1:00:00")["components"][0]["cluster"] == "delft"
    long = site.submit("-n 16 -t 2:00:00")
    assert site.wait_end(long, "COMPLETED")["components"][0]["cluster"] == "leiden"

    there = site.submit("-n 16 -t 2:00:00 --cluster delft", recording(until("end")))
    told = f"maintenance (reservation {cables}) in delft begins in 1:2"
    reason = eventually(lambda: site.job(there)["reason"])
    assert told in reason and reason.endswith("before this job's 2:00:00 would end")
    assert told in dry(site, "-t", "2:00:00", "--cluster", "delft")["reason"]

    soon = maintain(kind, "soon", 20)
    eventually(lambda: f"reservation {soon})" in site.job(there)["reason"])
    short = site.submit("-n 16 -t 5 --cluster delft")
    site.wait_end(short, "COMPLETED")
    assert site.job(there)["state"] == "QUEUED"
    for reservation in (cables, soon):
        end(kind, reservation)
    site.wait_state(there, "RUNNING")
    (site.work / "end").touch()
    site.wait_end(there, "COMPLETED")
    site.wait_clean()


def dry(site: Site, *options: str) -> Any:
    """Where a job of 16 processors would run."""
    script = site.folder / "tried"
    script.write_text("#!/bin/sh\n")
    words = ("submit", "--dry-run", "-n", "16", *options, "--json", str(script))
    return json.loads(site.cli(*words).stdout)
