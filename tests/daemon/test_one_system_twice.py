"""Several entries of the configuration that name one real Slurm, and entries that are renamed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.daemon.harness import MEET, RECORD, Site, eventually, until
from tests.testbed import SlurmCluster

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("real clusters")]
PARTITIONS = {"west": ("delft1", 48), "east": ("delft[2-3]", 96)}


@pytest.fixture
def halves(clusters: dict[str, SlurmCluster]) -> Iterator[SlurmCluster]:
    """A cluster with two partitions more, which share no node."""
    delft = clusters["delft"]
    for name, (nodes, _processors) in PARTITIONS.items():
        delft.run("scontrol", "create", f"partition={name}", f"nodes={nodes}", check=True)
    yield delft
    delft.cancel_all()
    for name in PARTITIONS:
        eventually(partial(_deleted, delft, name), f"{name} is gone")


def _deleted(cluster: SlurmCluster, partition: str) -> bool:
    return not cluster.run("scontrol", "delete", f"partition={partition}").returncode


def polled(site: Site, *names: str) -> None:
    """Wait for a poll of each that has begun since."""
    began = time.monotonic()

    def seen() -> bool:
        passed = time.monotonic() - began
        shown = site.clusters()
        ages = [shown[name]["age_seconds"] for name in names]
        return all(age is not None and age < passed for age in ages)

    eventually(seen, "polls begun since")


def test_two_partitions_are_two_clusters_and_a_renamed_one_goes_on_with_its_jobs(
    slurm_site: Site, halves: SlurmCluster, tmp_path: Path
) -> None:
    site = slurm_site
    conf = site.kind.configuration(site.folder)["delft"]
    west, east = ({**conf, "partition": name} for name in PARTITIONS)
    site.configure({"clusters": {"delft": west, "east": east}})
    site.start_and_look()
    assert [site.clusters()[c]["processors"] for c in ("delft", "east")] == [48, 96]
    script = f"#!/bin/sh\n{RECORD}{until(site.work / 'end')}\n"
    both = f"#!/bin/sh\n{RECORD}{MEET}{until(site.work / 'end')}\n"
    jobs = [site.submit(f"-n 8 --cluster {name}", script) for name in ("delft", "east")]
    jobs.append(site.submit("--on delft:8,east:8", both))
    for job in jobs:
        site.wait_state(job, "RUNNING")
    polled(site, "delft", "east")
    shown = site.clusters()
    assert [shown[name]["others"] for name in ("delft", "east")] == [0, 0], "nothing of the other"
    assert [shown[name]["idle"] for name in ("delft", "east")] == [32, 80], "nothing double"
    site.kill()

    # Another path to the same cluster, which no look at the file tells apart.
    copy = tmp_path / "slurm.conf"
    shutil.copy(conf["env"]["SLURM_CONF"], copy)
    again = {**west, "env": {**conf["env"], "SLURM_CONF": str(copy)}}
    with site.changing() as text:
        text["clusters"]["ost"] = text["clusters"].pop("east")
        text["clusters"]["second"] = again
    site.start()
    jobs_of = ("delft", "ost")
    eventually(lambda: "ost" in str(site.job(jobs[1])["components"]), "the job has the new name")
    said = "it is the same cluster as delft"
    eventually(lambda: said in site.clusters()["second"]["error"], "the second entry is refused")
    polled(site, *jobs_of)
    (site.work / "end").touch()
    for job in jobs:
        assert site.wait_end(job, "COMPLETED")["attempts"] == 1, site.story()
    assert len(site.runs()) == 4, "nothing ran twice"
    assert "ost is the cluster that was east" in site.log.read_text()
    assert "cluster renamed" in str(site.show(jobs[1])["events"])
    site.wait_clean()
    assert "east" not in yaml.safe_load(site.config.read_text())["clusters"]
