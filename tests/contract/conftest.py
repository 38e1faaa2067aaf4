"""The kinds of cluster that the contract holds for; and lives that take a minute by nature, begun
at once for two kinds."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.harness import Site, recording
from tests.daemon.kinds import Kind, Simulated, Slurm
from tests.daemon.pbs import OpenPBS, live, mixed, servers
from tests.daemon.pyslurm import SlurmByPyslurm
from tests.testbed import ClusterSpec, Testbed
from tests.testbed.apt import SlurmUnavailable
from tests.testbed.fixtures import RELEASES, Releases
from tests.testbed.packages import install
from tests.testbed.ports import require_network
from tests.testbed.pyslurm import interpreter, release
from tests.testbed.testbed import default_suite

CLUSTERS = (ClusterSpec("delft", 1, 8), ClusterSpec("leiden", 1, 8))
# One cluster of each release is always among the kinds; each release by itself where asked for.
ALONE = tuple(RELEASES) if os.environ.get("METABROKER_TEST_RELEASES") == "all" else ()
ENDLESS = recording("trap '' TERM; sleep 600; sleep 600")


def _of_releases(kind: str) -> Any:
    """By one worker, which alone has the clusters of all releases."""
    return pytest.param(kind, marks=[pytest.mark.slurm, pytest.mark.xdist_group("releases")])


@pytest.fixture(
    params=[
        "simulated",
        *(_of_releases(f"slurm {release}") for release in ALONE),
        _of_releases("slurm of three releases"),
        _of_releases("slurm by pyslurm"),
        live("openpbs"),
        live("mixed", marks=[pytest.mark.slurm]),
    ]
)
def kind(request: pytest.FixtureRequest) -> Iterator[Kind]:
    """Three clusters: simulated, or of Slurm, each of another release (with
    METABROKER_TEST_RELEASES=all also all three of one release); where METABROKER_TEST_PYSLURM
    names a Python that has pyslurm, asked through it; and where METABROKER_TEST_PBS names them
    (see `tests/daemon/pbs.py`) of OpenPBS, or mixed with Slurm."""
    if request.param == "simulated":
        yield Simulated()
    elif request.param == "openpbs":
        yield OpenPBS(servers())
    elif request.param == "mixed":
        yield mixed(lambda: Slurm(request.getfixturevalue("clusters")))
    elif request.param == "slurm by pyslurm":
        python = interpreter()
        found = release(python)
        bed = request.getfixturevalue("releases").testbed(found)
        bed.reset()
        yield SlurmByPyslurm(bed.clusters, python=python)
    else:
        releases: Releases = request.getfixturevalue("releases")
        asked = [release for release in RELEASES if release in request.param] or list(RELEASES)
        beds = [releases.testbed(release) for release in asked]
        names = list(beds[0].clusters)
        for first, bed in enumerate(beds):
            bed.reset(names[first :: len(beds)])
        yield Slurm({n: beds[i % len(beds)].clusters[n] for i, n in enumerate(names)})


@dataclass(frozen=True)
class Overtime:
    """A daemon with two jobs that run longer than they may."""

    site: Site
    alone: int
    together: int


@pytest.fixture(scope="session")
def overtime() -> Iterator[dict[str, Overtime]]:
    """By kind of cluster."""
    with ExitStack() as stack:
        yield _begin(stack)


def _begin(stack: ExitStack) -> dict[str, Overtime]:
    kinds: list[Kind] = [Simulated(sizes={"delft": 8, "leiden": 8})]
    try:
        require_network()
        testbed = stack.enter_context(Testbed(CLUSTERS, installation=install(default_suite())))
        kinds.append(Slurm(testbed.clusters, sizes={"delft": 8, "leiden": 8}))
    except SlurmUnavailable:
        pass  # the test that asks for it says so
    return {kind.name: _overtime(stack, kind) for kind in kinds}


def _overtime(stack: ExitStack, kind: Kind) -> Overtime:
    folder = Path(tempfile.mkdtemp(prefix="mb-"))
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    site = Site(folder, kind)
    stack.callback(site.close)
    site.start_and_look()
    alone = site.submit("-n 2 --cluster delft -t 0:00:03", ENDLESS)
    together = site.submit("--on delft:2,leiden:2 -t 0:00:03", ENDLESS)
    return Overtime(site, alone, together)
