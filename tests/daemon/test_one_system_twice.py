"""Two entries of the configuration that name one real Slurm (for a partition each, say)."""

from __future__ import annotations

import pytest

from tests.daemon.harness import Site, eventually

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("real clusters")]


def polled_after(site: Site, name: str) -> None:
    """Wait for the cluster's next poll."""
    age = site.clusters()[name]["age_seconds"]
    eventually(lambda: site.clusters()[name]["age_seconds"] < age, f"a poll of {name}")


def test_they_do_not_end_each_others_jobs(slurm_site: Site) -> None:
    site = slurm_site
    again = site.kind.configuration(site.folder)["delft"]
    site.configure({"clusters": {"again": again}})
    site.start_and_look()
    script = f"#!/bin/sh\nwhile [ ! -e '{site.folder}/end' ]; do sleep 0.05; done\n"
    jobs = [site.submit(f"-n 1 --cluster {name}", script) for name in ("delft", "again")]
    for job in jobs:
        site.wait_state(job, "RUNNING")
    for name in ("delft", "again") * 2:  # each has shown the other's job
        polled_after(site, name)
    (site.folder / "end").touch()
    for job in jobs:
        assert site.wait_end(job, "COMPLETED")["attempts"] == 1
