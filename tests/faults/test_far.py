"""Clusters reached over SSH: jobs run there as anywhere; and with the connection cut, or gone
silent, at any moment of a co-allocated job's life, what is promised holds."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import PATIENCE, Json, Site, eventually, merged, recording, until
from tests.faults.aftermath import PATIENT, whole
from tests.faults.far import SIZES, FarSlurm, specs
from tests.testbed import Installation, Testbed
from tests.testbed.proxy import Proxy
from tests.testbed.sshd import Sshd

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("long")]
TOGETHER = "--on delft:4,leiden:4"
MakeFarSite = Callable[[str], tuple[Site, FarSlurm]]


@pytest.fixture(scope="module")
def far_testbed(installation: Installation) -> Iterator[Testbed]:
    with Testbed(specs(), installation=installation) as started:
        yield started


@pytest.fixture
def far_site(
    far_testbed: Testbed, sshd: Sshd, make_site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeFarSite]:
    monkeypatch.setenv("PATH", f"{sshd.programs.bin}:{os.environ['PATH']}")
    far_testbed.reset()
    with ExitStack() as stack:

        def make(via: str) -> tuple[Site, FarSlurm]:
            ways = {name: Proxy(sshd.port) for name in SIZES}
            for way in ways.values():
                stack.callback(way.close)
                sshd.know(way.port)
            kind = FarSlurm(far_testbed.clusters, sizes=dict(SIZES), via=via, sshd=sshd, ways=ways)
            quick: Json = {"timeouts": {"command": "6s"}}
            site = make_site(kind, merged(PATIENT, quick))
            site.work.chmod(0o1777)  # its jobs run under another account
            return site, kind

        yield make


@pytest.mark.parametrize("via", ["ssh", "openssh"])
def test_jobs_run_on_clusters_far_away(via: str, far_site: MakeFarSite) -> None:
    site, kind = far_site(via)
    site.start()
    site.look_at_clusters()
    together = site.submit(TOGETHER, recording(f"{until('end')}; exit 3"))
    alone = site.submit("-n 2 --cluster leiden", recording('echo "$METABROKER_CLUSTER" $1'), ["$x"])
    site.wait_state(together, "RUNNING")
    assert site.wait_end(alone, "COMPLETED")["exit_code"] == 0
    assert (site.work / f"metabroker-{alone}.out").read_text() == "leiden $x\n"
    owner = kind.sshd.account.name if kind.sshd is not None else ""
    assert (site.work / "runs").owner() == owner
    eventually(lambda: len(site.runs(together)) == 2, PATIENCE, "both scripts run")
    # The daemon dies and comes back: what runs goes on, and is found again.
    site.kill()
    site.start()
    (site.work / "end").touch()
    found = site.wait_end(together, "FAILED")
    assert (found["attempts"], found["exit_code"]) == (1, 3)
    assert all(way.accepted <= 3 for way in kind.ways.values()), "one connection is kept"
    stopped = site.submit(TOGETHER, recording("sleep 600"))
    site.wait_state(stopped, "RUNNING")
    eventually(lambda: len(site.runs(stopped)) == 2, PATIENCE, "both scripts run")
    assert site.cli("cancel", str(stopped)).returncode == 0
    site.wait_end(stopped, "CANCELLED")
    whole(site)


def test_a_cluster_that_cannot_be_reached_delays_only_its_own_jobs(far_site: MakeFarSite) -> None:
    site, kind = far_site("ssh")
    site.start()
    site.look_at_clusters()
    kind.ways["delft"].refuse()
    kind.ways["delft"].cut()
    waiting = site.submit("-n 1 --cluster delft")
    site.wait_end(site.submit("-n 1 --cluster leiden"), "COMPLETED")
    eventually(lambda: not site.clusters()["delft"]["reachable"], PATIENCE, "delft is away")
    assert site.clusters()["delft"]["error"]
    kind.ways["delft"].heal()
    site.wait_end(waiting, "COMPLETED")
    whole(site)


@pytest.mark.parametrize(("via", "cuts"), [("ssh", 4), ("openssh", 2)])
def test_a_connection_cut_at_any_step(via: str, cuts: int, far_site: MakeFarSite) -> None:
    """The first job tells how much goes to and fro in a life; the others are cut along that."""
    site, kind = far_site(via)
    site.start()
    site.look_at_clusters()
    rng = random.Random(20031)
    before = {name: way.passed for name, way in kind.ways.items()}
    site.wait_end(site.submit(TOGETHER), "COMPLETED")
    lengths = {name: way.passed - before[name] for name, way in kind.ways.items()}
    for number in range(cuts):
        name = rng.choice(sorted(kind.ways))
        way = kind.ways[name]
        after = int(lengths[name] * (number + rng.random()) / cuts)
        (way.silence_after if number % 3 == 2 else way.cut_after)(after + 1)
        job = site.submit(TOGETHER)
        try:
            eventually(lambda: way.tripped, PATIENCE, "the way breaks")  # noqa: B023
        finally:
            if number % 3 == 2:
                eventually(lambda: way.open == 0, PATIENCE, "it is given up")  # noqa: B023
            way.heal()
        found = site.wait_end(job, "COMPLETED")
        assert found["attempts"] <= 2, found
    whole(site)


@pytest.mark.parametrize("via", ["ssh", "openssh"])
def test_files_go_there_and_back_over_a_way_that_breaks(via: str, far_site: MakeFarSite) -> None:
    """Cut while the files are sent, and again while the results come back."""
    site, kind = far_site(via)
    content = random.Random(2003).randbytes(20 << 20)
    (site.work / "in").mkdir()
    (site.work / "in" / "data").write_bytes(content)
    site.start()
    site.look_at_clusters()
    way = kind.ways["delft"]
    way.cut_after(9 << 20)
    script = f"#!/bin/sh\n{until(site.work / 'go')}\ncp in/data out\n"
    job = site.submit([*TOGETHER.split(), "--stage-in", "in/data", "--stage-out", "out"], script)
    eventually(lambda: way.tripped, PATIENCE, "the way breaks")
    way.heal()
    site.wait_state(job, "RUNNING")
    way.cut_after(9 << 20)
    (site.work / "go").touch()
    eventually(lambda: way.tripped, PATIENCE, "the way breaks again")
    way.heal()
    found = site.wait_end(job, "COMPLETED")
    assert found["attempts"] <= 2, found
    for number in (0, 1):
        back = site.work / f"metabroker-{job}.{number}"
        assert [file.name for file in back.iterdir()] == ["out"]
        assert (back / "out").read_bytes() == content
    whole(site)
