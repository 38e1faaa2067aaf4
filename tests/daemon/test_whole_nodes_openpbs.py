"""A live OpenPBS that gives whole nodes to jobs (`tests/daemon/pbs.py`), beside a cluster that
does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording, until
from tests.daemon.kinds import Simulated, end_local, local_script, somebody
from tests.daemon.pbs import NODES, Mixed, OpenPBS, PbsServer, server_of_nodes

pytestmark = pytest.mark.xdist_group("openpbs")

NODE = NODES["processors"]
SIZES = {"nodes": NODE * NODES["count"], "other": 32}


@pytest.fixture
def server() -> PbsServer:
    return server_of_nodes()


@pytest.fixture
def site(server: PbsServer, make_site: MakeSite) -> Site:
    whole, other = OpenPBS({"nodes": server}), Simulated(sizes={"other": SIZES["other"]})
    site = make_site(Mixed({"nodes": whole, "other": other}, sizes=dict(SIZES)))
    site.configure({"clusters": {"nodes": {"whole_nodes": NODE}}})
    site.start_and_look()
    return site


def taken(server: PbsServer) -> list[str]:
    """Nodes that somebody has whole."""
    return [name for name, state in server.node_states().items() if "exclusive" in state]


def test_a_reservation_and_its_job_hold_whole_nodes(site: Site, server: PbsServer) -> None:
    told = 'test "$METABROKER_CLUSTER" = other || cat "$PBS_NODEFILE" > places\n'
    script = recording(f"{told}{until('end')}")
    number = site.submit(f"--on nodes:{NODE + 3},other:14", script)
    job = site.wait_state(number, "RUNNING")
    assert [part["processors"] for part in job["components"]] == [2 * NODE, 14]
    assert list(site.held("nodes").reservations.values()) == [2 * NODE]
    eventually(lambda: len(site.runs(number)) == 2, "both have started")
    assert len(taken(server)) == 2
    # As many places for processes as were asked for.
    places = (site.work / "places").read_text().split()
    assert sorted(places.count(name) for name in set(places)) == [3, NODE]
    site.look_at_clusters(anew=True)
    assert site.clusters()["nodes"]["idle"] == NODE
    (site.work / "end").touch()
    site.wait_end(number, "COMPLETED")
    rounded = [e for e in site.job(number)["events"] if e["event"] == "rounded up"]
    assert [(e["cluster"], e["asked"], e["held"]) for e in rounded] == [
        ("nodes", NODE + 3, 2 * NODE)
    ]
    site.wait_clean()
    eventually(lambda: not taken(server), "nobody has a node")


def test_each_of_many_small_jobs_takes_a_node(site: Site, server: PbsServer) -> None:
    script = recording(until("end"))
    numbers = [site.submit("-n 1 --cluster nodes", script) for _ in range(NODES["count"] + 1)]
    for number in numbers[:-1]:
        site.wait_state(number, "RUNNING")
    assert len(taken(server)) == NODES["count"]
    assert site.job(numbers[-1])["state"] == "QUEUED"
    (site.work / "end").touch()
    for number in numbers:
        assert site.wait_end(number, "COMPLETED")["attempts"] == 1
    site.wait_clean()


def test_a_node_on_which_others_have_a_processor_is_not_free(site: Site, server: PbsServer) -> None:
    """And nothing is tried there in vain."""
    server.run(
        *("qsub", "-f", "-N", "local", "-o", "/dev/null", "-e", "/dev/null", "-S", "/bin/sh"),
        *("-l", "select=1:ncpus=1", "-l", "place=free:shared", "-l", "walltime=600"),
        stdin=local_script(site.folder, "local"),
        user=somebody(),
    )
    eventually(lambda: server.jobs().get("local") == "R", "the local job runs")
    site.look_at_clusters(anew=True)
    assert not taken(server)
    assert site.clusters()["nodes"]["idle"] == SIZES["nodes"] - NODE
    number = site.submit(f"--on nodes:{SIZES['nodes']},other:1")
    site.look_at_clusters(anew=True)
    assert site.job(number)["state"] == "QUEUED"
    end_local(site.folder, "local")
    assert site.wait_end(number, "COMPLETED")["attempts"] == 1
    site.wait_clean()


def test_the_doctor_says_what_whole_nodes_need(site: Site) -> None:
    assert _doctor(site)["outcome"] == "ok"
    site.configure({})
    found = _doctor(site)
    assert found["outcome"] == "warning" and f"set `whole_nodes: {NODE}`" in found["advice"]


def _doctor(site: Site) -> dict[str, Any]:
    """What the doctor says of whole nodes."""
    told = json.loads(site.cli("doctor", "--config", str(site.config), "--json").stdout)
    findings = next(c["findings"] for c in told["clusters"] if c["name"] == "nodes")
    (found,) = (found for found in findings if found["check"] == "whole nodes")
    assert isinstance(found, dict)
    return found
