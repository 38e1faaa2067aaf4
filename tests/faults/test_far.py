"""Clusters reached over SSH, live OpenPBS among them where it is named: jobs run there as anywhere;
and with the connection cut, or gone silent, at any moment of a co-allocated job's life, what is
promised holds."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Json, Site, eventually, merged, recording, until
from tests.daemon.kinds import Kind
from tests.daemon.pbs import live, servers
from tests.faults.aftermath import PATIENT, whole
from tests.faults.far import SIZES, FarOpenPBS, FarSlurm, Roads, specs
from tests.testbed import Installation, Testbed
from tests.testbed.proxy import Proxy
from tests.testbed.sshd import Sshd

SLURM = (pytest.mark.slurm, pytest.mark.xdist_group("long"))
EVERYWHERE = pytest.mark.parametrize(
    ("system", "via"),
    [
        pytest.param("slurm", "ssh", marks=SLURM),
        pytest.param("slurm", "openssh", marks=SLURM),
        live("openpbs", "ssh"),
        live("openpbs", "openssh"),
    ],
)
TOGETHER = "--on delft:4,leiden:4"
MakeFarSite = Callable[[str, str], tuple[Site, Roads]]


@pytest.fixture(scope="module")
def far_testbed(installation: Installation) -> Iterator[Testbed]:
    with Testbed(specs(), installation=installation) as started:
        yield started


def far_kind(system: str, roads: Roads, request: pytest.FixtureRequest) -> Kind:
    """Two clusters of that system, without anything on them."""
    if system == "openpbs":
        named = {name: server for name, server in servers().items() if name in SIZES}
        return FarOpenPBS(named, sizes=dict(SIZES), roads=roads)
    testbed: Testbed = request.getfixturevalue("far_testbed")
    testbed.reset()
    return FarSlurm(testbed.clusters, sizes=dict(SIZES), roads=roads)


@pytest.fixture
def far_site(
    sshd: Sshd,
    make_site: MakeSite,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Iterator[MakeFarSite]:
    monkeypatch.setenv("PATH", f"{sshd.programs.bin}:{os.environ['PATH']}")
    with ExitStack() as stack:

        def make(system: str, via: str) -> tuple[Site, Roads]:
            ways = {name: Proxy(sshd.port) for name in SIZES}
            for way in ways.values():
                stack.callback(way.close)
                sshd.know(way.port)
            roads = Roads(via, sshd, ways)
            quick: Json = {"timeouts": {"command": "6s"}}
            site = make_site(far_kind(system, roads, request), merged(PATIENT, quick))
            site.work.chmod(0o1777)  # its jobs run under another account
            return site, roads

        yield make


@EVERYWHERE
def test_jobs_run_on_clusters_far_away(system: str, via: str, far_site: MakeFarSite) -> None:
    site, roads = far_site(system, via)
    site.start_and_look()
    together = site.submit(TOGETHER, recording(f"{until('end')}; exit 3"))
    alone = site.submit("-n 2 --cluster leiden", recording('echo "$METABROKER_CLUSTER" $1'), ["$x"])
    site.wait_state(together, "RUNNING")
    assert site.wait_end(alone, "COMPLETED")["exit_code"] == 0
    assert (site.work / f"metabroker-{alone}.out").read_text() == "leiden $x\n"
    assert (site.work / "runs").owner() == roads.sshd.account.name
    eventually(lambda: len(site.runs(together)) == 2, "both scripts run")
    # The daemon dies and comes back: what runs goes on, and is found again.
    site.kill()
    site.start()
    (site.work / "end").touch()
    found = site.wait_end(together, "FAILED")
    assert (found["attempts"], found["exit_code"]) == (1, 3)
    assert all(way.accepted <= 3 for way in roads.ways.values()), "one connection is kept"
    stopped = site.submit(TOGETHER, recording("sleep 600"))
    site.wait_state(stopped, "RUNNING")
    eventually(lambda: len(site.runs(stopped)) == 2, "both scripts run")
    assert site.cli("cancel", str(stopped)).returncode == 0
    site.wait_end(stopped, "CANCELLED")
    whole(site)


@pytest.mark.slurm
@pytest.mark.xdist_group("long")
def test_a_cluster_that_cannot_be_reached_delays_only_its_own_jobs(far_site: MakeFarSite) -> None:
    site, roads = far_site("slurm", "ssh")
    site.start_and_look()
    roads.ways["delft"].refuse()
    roads.ways["delft"].cut()
    waiting = site.submit("-n 1 --cluster delft")
    site.wait_end(site.submit("-n 1 --cluster leiden"), "COMPLETED")
    eventually(lambda: not site.clusters()["delft"]["reachable"], "delft is away")
    assert site.clusters()["delft"]["error"]
    roads.ways["delft"].heal()
    site.wait_end(waiting, "COMPLETED")
    whole(site)


@pytest.mark.parametrize(
    ("system", "via", "cuts"),
    [
        pytest.param("slurm", "ssh", 4, marks=SLURM),
        pytest.param("slurm", "openssh", 2, marks=SLURM),
        live("openpbs", "ssh", 4),
        live("openpbs", "openssh", 4),
    ],
)
def test_a_connection_cut_at_any_step(
    system: str, via: str, cuts: int, far_site: MakeFarSite
) -> None:
    """The first job tells how much goes to and fro in a life; the others are cut along that."""
    site, roads = far_site(system, via)
    site.start_and_look()
    rng = random.Random(20031)
    before = {name: way.passed for name, way in roads.ways.items()}
    site.wait_end(site.submit(TOGETHER), "COMPLETED")
    lengths = {name: way.passed - before[name] for name, way in roads.ways.items()}
    for number in range(cuts):
        name = rng.choice(sorted(roads.ways))
        way = roads.ways[name]
        after = int(lengths[name] * (number + rng.random()) / cuts)
        (way.silence_after if number % 3 == 2 else way.cut_after)(after + 1)
        job = site.submit(TOGETHER)
        try:
            eventually(lambda: way.tripped, "the way breaks")  # noqa: B023
        finally:
            if number % 3 == 2:
                eventually(lambda: way.open == 0, "it is given up")  # noqa: B023
            way.heal()
        found = site.wait_end(job, "COMPLETED")
        assert found["attempts"] <= 2, found
    whole(site)


@EVERYWHERE
def test_files_go_there_and_back_over_a_way_that_breaks(
    system: str, via: str, far_site: MakeFarSite
) -> None:
    """Cut while the files are sent, and again while the results come back."""
    site, roads = far_site(system, via)
    content = random.Random(2003).randbytes(20 << 20)
    (site.work / "in").mkdir()
    (site.work / "in" / "data").write_bytes(content)
    site.start_and_look()
    way = roads.ways["delft"]
    way.cut_after(9 << 20)
    script = f"#!/bin/sh\n{until(site.work / 'go')}\ncp in/data out\n"
    job = site.submit([*TOGETHER.split(), "--stage-in", "in/data", "--stage-out", "out"], script)
    eventually(lambda: way.tripped, "the way breaks")
    way.heal()
    site.wait_state(job, "RUNNING")
    way.cut_after(9 << 20)
    (site.work / "go").touch()
    eventually(lambda: way.tripped, "the way breaks again")
    way.heal()
    found = site.wait_end(job, "COMPLETED")
    assert found["attempts"] <= 2, found
    for number in (0, 1):
        back = site.work / f"metabroker-{job}.{number}"
        assert [file.name for file in back.iterdir()] == ["out"]
        assert (back / "out").read_bytes() == content
    whole(site)
