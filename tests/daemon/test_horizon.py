"""Real clusters whose administrators have reserved them for later."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording, until
from tests.daemon.kinds import Slurm
from tests.testbed import SlurmCluster

pytestmark = pytest.mark.slurm


def maintenance(delft: SlurmCluster, name: str, minutes: int) -> None:
    """All nodes are reserved, so many minutes from now on."""
    delft.run(
        *("scontrol", "create", "reservation", f"ReservationName={name}", "Duration=60"),
        *(f"StartTime=now+{minutes}minutes", "Nodes=ALL", "Users=root", "Flags=MAINT,IGNORE_JOBS"),
        check=True,
    )


def test_a_job_looks_as_far_ahead_as_it_may_take(
    clusters: dict[str, SlurmCluster], make_site: MakeSite
) -> None:
    site, delft = make_site(Slurm(clusters)), clusters["delft"]
    site.start_and_look()
    assert site.cli("drain", "lab", "--reason", "another matter").returncode == 0
    maintenance(delft, "cables", 90)
    eventually(lambda: dry(site, "-t", "2:00:00")["components"][0]["cluster"] == "leiden")
    assert dry(site, "-t", "1:00:00")["components"][0]["cluster"] == "delft"
    long = site.submit("-n 16 -t 2:00:00")
    assert site.wait_end(long, "COMPLETED")["components"][0]["cluster"] == "leiden"

    there = site.submit("-n 16 -t 2:00:00 --cluster delft", recording(until("end")))
    told = "maintenance (reservation cables) in delft begins in 1:2"
    reason = eventually(lambda: site.job(there)["reason"])
    assert told in reason and reason.endswith("before this job's 2:00:00 would end")
    assert told in dry(site, "-t", "2:00:00", "--cluster", "delft")["reason"]

    maintenance(delft, "soon", 20)
    eventually(lambda: "reservation soon" in site.job(there)["reason"])
    short = site.submit("-n 16 -t 5 --cluster delft")
    site.wait_end(short, "COMPLETED")
    assert site.job(there)["state"] == "QUEUED"
    assert not [job for job in delft.active_jobs() if job.state == "PENDING"]
    for name in ("cables", "soon"):
        delft.run("scontrol", "delete", f"ReservationName={name}", check=True)
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
