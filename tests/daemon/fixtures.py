"""Fixtures of the tests that run a whole daemon."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.brokers import Brokers
from tests.daemon.harness import Site
from tests.daemon.kinds import Kind, Simulated, Slurm
from tests.daemon.pbs import OpenPBS, servers

MakeSite = Callable[..., Site]
LONGEST = 900  # seconds: several of the waits of the harness, which tell what went wrong


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that run a daemon may take long on a busy machine."""
    for item in items:
        if "make_site" in getattr(item, "fixturenames", ()):  # not ours
            item.add_marker(pytest.mark.timeout(LONGEST))


@pytest.fixture(params=["simulated", pytest.param("slurm", marks=pytest.mark.slurm)])
def kind(request: pytest.FixtureRequest) -> Kind:
    """Three clusters of each kind, one after the other."""
    return clusters_of(request.param, request)


def clusters_of(name: str, request: pytest.FixtureRequest) -> Kind:
    """Three clusters of that kind, with nothing on them."""
    if name == "openpbs":
        return OpenPBS(servers())
    return Slurm(request.getfixturevalue("clusters")) if name == "slurm" else Simulated()


@pytest.fixture
def make_site() -> Iterator[MakeSite]:
    """Makes folders for daemons, with short paths, that every user may enter."""
    made: list[Site] = []

    def make(kind: Kind, configuration: Mapping[str, Any] | None = None) -> Site:
        folder = Path(tempfile.mkdtemp(prefix="mb-"))
        folder.chmod(0o755)
        made.append(Site(folder, kind, configuration))
        return made[-1]

    yield make
    for site in made:
        site.close()
        shutil.rmtree(site.folder, ignore_errors=True)


@pytest.fixture
def site(kind: Kind, make_site: MakeSite) -> Site:
    """A folder for a daemon over clusters of either kind; the test starts it."""
    return make_site(kind)


@pytest.fixture
def slurm_site(clusters: Any, make_site: MakeSite) -> Site:
    """A folder for a daemon over real clusters."""
    return make_site(Slurm(clusters))


@pytest.fixture
def group(clusters: Any) -> Iterator[Brokers]:
    """Brokers over real clusters, made one by one."""
    made = Brokers(Slurm(clusters))
    yield made
    made.close()
