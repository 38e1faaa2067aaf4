"""Real clusters whose cores have two threads: where both are processors, and where only one is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording, until
from tests.daemon.kinds import Slurm
from tests.testbed import ClusterSpec, Testbed
from tests.testbed.fixtures import RELEASES, installed

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("threads")]

OLDEST, NEWEST = min(RELEASES), max(RELEASES)
SPECS = {
    OLDEST: (
        ClusterSpec("half", 2, 8, threads=2),
        ClusterSpec("full", 2, 8, threads=2, counted=True),
    ),
    NEWEST: (ClusterSpec("later", 2, 8, threads=2),),
}


@pytest.fixture
def site(make_site: MakeSite) -> Iterator[Site]:
    with ExitStack() as stack:
        beds = [
            stack.enter_context(Testbed(specs, installation=installed(RELEASES[release])))
            for release, specs in SPECS.items()
        ]
        clusters = {name: cluster for bed in beds for name, cluster in bed.clusters.items()}
        sizes = {name: cluster.processors for name, cluster in clusters.items()}
        site = make_site(Slurm(clusters, name="threads", sizes=sizes))
        site.start_and_look()
        yield site
        site.close()


def test_as_many_processors_are_reserved_as_jobs_need_whatever_threads_cores_have(
    site: Site,
) -> None:
    assert {n: c["processors"] for n, c in site.clusters().items()} == {
        "half": 16, "full": 32, "later": 16,
    }  # fmt: skip
    number = site.submit("--on half:5,full:6,later:6", recording(until("end")))
    shaped = site.submit("--on half:2,full:4,later:2 -c 2", recording(until("end")))
    for job in (number, shaped):
        site.wait_state(job, "RUNNING")
    eventually(lambda: len(site.runs()) == 6, "all have started")
    cores = {name: sorted(site.held(name).reservations.values()) for name in site.kind.sizes}
    assert cores == {"half": [4, 5], "full": [3, 4], "later": [4, 6]}
    # Once a poll has shown what the reservations hold.
    idle = {"half": 7, "full": 18, "later": 6}
    eventually(lambda: {n: c["idle"] for n, c in site.clusters().items()} == idle)
    (site.work / "end").touch()
    for job in (number, shaped):
        site.wait_end(job, "COMPLETED")
    site.wait_clean()
