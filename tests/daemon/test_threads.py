"""Real clusters whose cores have two threads: where both are processors, where only one is, where
some nodes have cores of two and some have cores of one, and where nodes keep some for the system.
"""

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
        ClusterSpec("mixed", 2, 8, mixed=(1, 2), counted=True),
        ClusterSpec("keeping", 2, 8, threads=2, counted=True, node="CoreSpecCount=1"),
    ),
    NEWEST: (
        ClusterSpec("later", 2, 8, threads=2),
        ClusterSpec("mixture", 2, 8, mixed=(1, 2), counted=True),
    ),
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
        sizes["keeping"] -= 4  # no job gets them
        site = make_site(Slurm(clusters, name="threads", sizes=sizes))
        site.start_and_look()
        yield site
        site.close()


def test_as_many_processors_are_reserved_as_jobs_need_whatever_threads_cores_have(
    site: Site,
) -> None:
    assert {n: c["processors"] for n, c in site.clusters().items()} == {
        "half": 16, "full": 32, "later": 16, "mixed": 24, "mixture": 24, "keeping": 28,
    }  # fmt: skip
    script = recording(until("end"))
    number = site.submit("--on half:5,full:6,later:6,mixed:12,mixture:12,keeping:20", script)
    shaped = site.submit("--on half:2,full:4,later:2,mixed:3,mixture:3,keeping:3 -c 2", script)
    for job in (number, shaped):
        site.wait_state(job, "RUNNING")
    eventually(lambda: len(site.runs()) == 12, "all have started")
    cores = {name: sorted(site.held(name).reservations.values()) for name in site.kind.sizes}
    # Of a mixed one the eight cores of the first node and two of the second are twelve processors.
    assert cores == {
        "half": [4, 5], "full": [3, 4], "later": [4, 6], "mixed": [3, 10], "mixture": [3, 10],
        "keeping": [3, 10],
    }  # fmt: skip
    # Once a poll has shown what the reservations hold.
    idle = {"half": 7, "full": 18, "later": 6, "mixed": 6, "mixture": 6, "keeping": 2}
    eventually(lambda: {n: c["idle"] for n, c in site.clusters().items()} == idle)
    (site.work / "end").touch()
    for job in (number, shaped):
        site.wait_end(job, "COMPLETED")
    site.wait_clean()
