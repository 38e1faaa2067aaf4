"""One user's mistakes on real clusters: told as they are, and nobody else's matter."""

from __future__ import annotations

import json

import pytest

from tests.daemon.harness import Site, eventually

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("real clusters")]


def test_jobs_that_a_cluster_will_never_take_close_it_to_nobody(slurm_site: Site) -> None:
    site = slurm_site
    site.start_and_look()
    wrong = [
        site.submit("-n 1 --cluster delft --native delft:--partition=nope", "#!/bin/sh\ntrue\n")
        for _ in range(20)
    ]
    for job in wrong:
        ended = site.wait_end(job, "FAILED")
        assert ended["attempts"] == 1
        assert "nvalid partition" in ended["reason"], ended["reason"]
        assert "sbatch" in ended["reason"]
    shown = site.clusters()["delft"]
    assert (shown["avoided"], shown["available"]) == (None, shown["idle"])
    job = site.submit("-n 1 --cluster delft", "#!/bin/sh\ntrue\n")
    assert site.wait_end(job, "COMPLETED")["attempts"] == 1
    # Where the broker chooses, another cluster takes it: each was asked once at most.
    anywhere = site.submit("-n 1 --native delft:--partition=nope", "#!/bin/sh\ntrue\n")
    assert site.wait_end(anywhere, "COMPLETED")["components"][0]["cluster"] != "delft"


def test_an_output_that_cannot_be_opened_is_the_jobs_reason(slurm_site: Site) -> None:
    site = slurm_site
    site.start_and_look()
    job = site.submit("-n 1 --cluster delft -o /proc/metabroker.out", "#!/bin/sh\ntrue\n")
    reason = site.wait_end(job, "FAILED")["reason"]
    assert "JobLaunchFailure" in reason and "-o" in reason, reason
    done = site.cli("submit", "-n", "1", "-o", "nowhere/%j.out", str(site.folder / "script"))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"there is no folder {site.work}/nowhere" in done.stderr


def test_what_a_wait_says_of_the_end(slurm_site: Site) -> None:
    site = slurm_site
    site.start_and_look()
    job = site.submit("-n 1 --cluster delft --native delft:--partition=nope", "#!/bin/sh\ntrue\n")
    done = site.cli("wait", "--json", str(job))
    assert (done.returncode, json.loads(done.stdout)["jobs"][0]["state"]) == (1, "FAILED")
    assert f"job {job} FAILED: component 0 in delft: sbatch" in done.stderr


def test_the_users_folder_and_name_are_seen_natively(slurm_site: Site) -> None:
    site = slurm_site
    site.start_and_look()
    script = "#!/bin/sh\necho $SLURM_SUBMIT_DIR $SLURM_JOB_NAME $(pwd) > seen\n"
    script += 'squeue -h -j "$SLURM_JOB_ID" -o "%j %k %Z" > shown\n'
    job = site.submit(["-n", "1", "--cluster", "delft", "-J", "my run"], script)
    site.wait_end(job, "COMPLETED")
    work = str(site.work)
    assert (site.work / "seen").read_text().split() == [work, "my", "run", work]
    name, comment, folder = (site.work / "shown").read_text().split()
    assert name.startswith("mb-") and f"-{job}-1-0-" in name
    assert (comment, folder) == (f"metabroker:{job}:my_run", work)


def test_a_script_that_ends_well_when_it_is_cancelled_is_cancelled_as_in_slurm(
    slurm_site: Site,
) -> None:
    site = slurm_site
    site.start_and_look()
    script = "#!/bin/sh\ntrap 'exit 0' TERM\necho up > up\nwhile :; do sleep 0.05; done\n"
    job = site.submit("-n 1 --cluster delft", script)
    eventually((site.work / "up").exists, "its script is up")
    assert site.cli("cancel", str(job)).returncode == 0
    site.wait_end(job, "CANCELLED")
    site.wait_clean()


def test_a_job_that_renames_itself_is_run_once_and_can_be_cancelled(slurm_site: Site) -> None:
    site = slurm_site
    site.start_and_look()
    rename = 'scontrol update JobId="$SLURM_JOB_ID" JobName=mine\necho $SLURM_JOB_ID >> ids\n'
    short = site.submit("-n 1 --cluster delft", f"#!/bin/sh\n{rename}sleep 12\n")
    long = site.submit("-n 1 --cluster delft", f"#!/bin/sh\n{rename}sleep 600\n")
    ended = site.wait_end(short, "COMPLETED")
    assert ended["attempts"] == 1
    assert site.show(long)["state"] == "RUNNING"
    assert site.cli("cancel", str(long)).returncode == 0
    site.wait_end(long, "CANCELLED")
    assert len((site.work / "ids").read_text().split()) == 2
    site.wait_clean()
