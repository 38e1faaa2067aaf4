"""Clusters that give whole nodes to jobs, real and simulated ones, and a real one whose nodes are
not all alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording, until
from tests.daemon.kinds import Simulated, Slurm
from tests.testbed import ClusterSpec, Testbed
from tests.testbed.packages import Installation

NODE = 8
SPECS = (
    ClusterSpec(
        "linear", 3, NODE, {"SelectType": "select/linear", "SelectTypeParameters": "CR_Memory"}
    ),
    ClusterSpec("sole", 2, NODE, partition="OverSubscribe=EXCLUSIVE"),
    ClusterSpec("uneven", 2, 0, uneven=(4, 12)),
)


class ByNodes(Slurm):
    """The clusters as their administrator has connected them."""

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        found = super().configuration(folder)
        for name in ("linear", "sole"):
            found[name]["whole_nodes"] = NODE
        return found


class SimulatedByNodes(Simulated):
    """The same, played."""

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        found = super().configuration(folder)
        found["uneven"]["nodes"] = 2
        for name in ("linear", "sole"):
            found[name]["whole_nodes"] = NODE
        return found


REAL = pytest.param("slurm", marks=[pytest.mark.slurm, pytest.mark.xdist_group("whole nodes")])
on_real_ones = pytest.mark.parametrize("site", [REAL], indirect=True)


@pytest.fixture(scope="module")
def by_nodes(installation: Installation) -> Iterator[Testbed]:
    with Testbed(SPECS, installation=installation) as started:
        yield started


@pytest.fixture(params=["simulated", REAL])
def site(request: pytest.FixtureRequest, make_site: MakeSite) -> Site:
    sizes = {spec.name: spec.processors for spec in SPECS}
    if request.param == "simulated":
        site = make_site(SimulatedByNodes(sizes=sizes))
    else:
        by_nodes: Testbed = request.getfixturevalue("by_nodes")
        by_nodes.reset()
        site = make_site(ByNodes(by_nodes.clusters, name="by nodes", sizes=sizes))
    site.start_and_look()
    return site


def processors(job: dict[str, Any]) -> dict[str, int]:
    return {part["cluster"]: part["processors"] for part in job["components"]}


def test_a_co_allocated_job_is_rounded_up_where_nodes_are_whole(site: Site) -> None:
    told = 'echo "$METABROKER_COMPONENT $METABROKER_PROCESSORS ${SLURM_NTASKS-}" >> told\n'
    script = recording(f"{told}{until('end')}")
    number = site.submit("--on linear:5,sole:9,uneven:14", script)
    job = site.wait_state(number, "RUNNING")
    assert processors(job) == {"linear": 8, "sole": 16, "uneven": 14}
    held = {name: site.held(name).reservations for name in site.kind.sizes}
    assert [list(found.values()) for found in held.values()] == [[8], [16], [14]]
    eventually(lambda: len(site.runs(number)) == 3, "all have started")
    idle = {"linear": 16, "sole": 0, "uneven": 2}
    # Once a poll has shown what the reservations hold.
    eventually(lambda: {name: site.clusters()[name]["idle"] for name in idle} == idle)
    (site.work / "end").touch()
    site.wait_end(number, "COMPLETED")
    seen = [line.split() for line in sorted((site.work / "told").read_text().splitlines())]
    assert [words[:2] for words in seen] == [["0", "5"], ["1", "9"], ["2", "14"]]
    assert all({*words[1:]} == {words[1]} for words in seen), "Slurm says the same"
    rounded = [e for e in site.job(number)["events"] if e["event"] == "rounded up"]
    assert [(e["cluster"], e["asked"], e["held"]) for e in rounded] == [
        ("linear", 5, 8),
        ("sole", 9, 16),
    ]
    site.wait_clean()


def test_each_of_many_small_jobs_takes_a_node(site: Site) -> None:
    """Three fit on three nodes; the fourth waits, though 21 of 24 processors do nothing."""
    script = recording(until("end"))
    numbers = [site.submit("-n 1 --cluster linear", script) for _ in range(4)]
    for number in numbers[:3]:
        site.wait_state(number, "RUNNING")
    assert site.job(numbers[3])["state"] == "QUEUED"
    words = ("submit", "--dry-run", "-n", "3", "--cluster", "sole")
    script_file = str(site.folder / "script")
    (part,) = json.loads(site.cli(*words, "--json", script_file).stdout)["components"]
    assert (part["processors"], part["held"]) == (3, 8)
    assert "HOLDS" in site.cli(*words, script_file).stdout
    (site.work / "end").touch()
    for number in numbers:
        site.wait_end(number, "COMPLETED")
    site.wait_clean()


def test_limits_count_the_nodes_that_jobs_hold(site: Site) -> None:
    site.stop()
    with site.changing() as text:
        text["limits"] = {"per_user": {"processors": 2 * NODE}}
    site.start_and_look()
    script = recording(until("end"))
    spread = site.submit("-n 2 --nodes 2 --cluster linear", script)
    site.wait_state(spread, "RUNNING")
    small = site.submit("-n 1 --cluster sole", script)
    alone = site.submit("-n 1 --exclusive --cluster uneven", script)
    eventually(lambda: "uses 16, and at most 16 are allowed" in _reason(site, small), "waits")
    assert site.job(alone)["state"] == "QUEUED"
    refused = site.cli(
        *("submit", "-n", "3", "--nodes", "3", "--cluster", "linear"), str(site.folder / "script")
    )
    assert refused.returncode == 1 and "would hold at least 24" in refused.stderr, refused.stderr
    (site.work / "end").touch()
    for number in (spread, small, alone):
        site.wait_end(number, "COMPLETED")
    site.wait_clean()


def _reason(site: Site, number: int) -> str:
    return str(site.job(number)["reason"])


def test_a_job_for_all_processors_of_whole_nodes_runs(site: Site) -> None:
    number = site.submit("--on linear:24,sole:16")
    site.wait_end(number, "COMPLETED")
    done = site.cli("submit", "-n", "25", "--cluster", "linear", str(site.folder / "script"))
    assert done.returncode != 0 and "24" in done.stderr
    site.wait_clean()


@on_real_ones
def test_a_task_of_eight_processors_never_spans_nodes(site: Site) -> None:
    """On nodes of 4 and 12, of 8 given whole; 16 of 16 idle in "uneven" are not two times eight."""
    told = 'echo "$SLURM_JOB_NUM_NODES $METABROKER_CPUS_PER_TASK $METABROKER_PROCESSORS" >> told\n'
    script = recording(f"{told}{until('end')}")
    alone = site.submit("--cluster uneven -n 1 -c 8 --mem 1G", script)
    site.wait_state(alone, "RUNNING")
    (site.work / "end").touch()
    site.wait_end(alone, "COMPLETED")
    (site.work / "end").unlink()
    together = site.submit("--on uneven:1,linear:1,sole:2 -c 8", script)
    job = site.wait_state(together, "RUNNING")
    assert processors(job) == {"uneven": 8, "linear": 8, "sole": 16}
    assert job["shape"] == {"cpus_per_task": 8}
    assert [list(site.held(c).reservations.values()) for c in ("uneven", "sole")] == [[8], [16]]
    (site.work / "end").touch()
    site.wait_end(together, "COMPLETED")
    lines = sorted((site.work / "told").read_text().splitlines())
    assert lines == ["1 8 8", "1 8 8", "1 8 8", "2 8 16"]
    for words, message in (
        ("-n 2 -c 8 --cluster uneven", "uneven has 8 processors for such tasks"),
        ("-n 1 -c 13", "the largest node has 12 processors, 64 GB in uneven"),
        ("-n 1 --mem 65G", "no node has room for a task of 1 processor and 65 GB on its node"),
        ("-n 1 --gpus 1", "no node has room for a task of 1 processor and 1 GPU"),
    ):
        done = site.cli("submit", *words.split(), str(site.folder / "script"))
        assert done.returncode == 1 and message in done.stderr, done.stderr
    site.wait_clean()


@on_real_ones
def test_the_doctor_says_what_whole_nodes_need(site: Site) -> None:
    assert {name: f["outcome"] for name, f in _findings(site).items()} == {
        "linear": "ok",
        "sole": "ok",
    }
    site.configure({"clusters": {"linear": {"whole_nodes": None}, "uneven": {"whole_nodes": 12}}})
    told = _findings(site)
    assert "set `whole_nodes: 8`" in told["linear"]["advice"]
    assert "remove `whole_nodes`" in told["uneven"]["advice"]


def _findings(site: Site) -> dict[str, dict[str, Any]]:
    """What the doctor says of whole nodes, by cluster."""
    told = json.loads(site.cli("doctor", "--config", str(site.config), "--json").stdout)
    return {
        cluster["name"]: found
        for cluster in told["clusters"]
        for found in cluster["findings"]
        if found["check"] == "whole nodes"
    }
