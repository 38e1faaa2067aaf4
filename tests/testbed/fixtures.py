"""Real clusters for tests: `clusters` gives them clean, started once for the whole session.

Where the packages cannot be had, each test that needs them is skipped with the reason; with
METABROKER_REQUIRE_SLURM=1 that is a failure instead, so that CI cannot pass by leaving out.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.testbed.apt import SlurmUnavailable, leave_out
from tests.testbed.cluster import SlurmCluster
from tests.testbed.packages import Installation, install
from tests.testbed.ports import require_network
from tests.testbed.postgres import Postgres
from tests.testbed.postgres import install as install_postgres
from tests.testbed.proxy import Proxy
from tests.testbed.testbed import Testbed, default_suite

RELEASES = {"22.05": "bookworm", "24.11": "trixie", "26.05": "forky"}
"""The releases of Slurm that tests run against, by the suite of Debian that has them."""


@pytest.fixture(scope="session")
def installation() -> Installation:
    """The relocated Slurm of METABROKER_TESTBED_RELEASE (default bookworm)."""
    return installed(default_suite())


def installed(suite: str) -> Installation:
    """The relocated Slurm of a suite; skips, or fails, where it cannot be had."""
    try:
        require_network()
        return install(suite)
    except SlurmUnavailable as error:
        leave_out(f"it needs real Slurm clusters, and Slurm cannot be had here: {error}")


@pytest.fixture(scope="session")
def testbed(installation: Installation) -> Iterator[Testbed]:
    """Three clusters (delft 144, leiden 64, lab 32 processors), up to the end of the session."""
    with Testbed(installation=installation) as started:
        yield started


class Releases:
    """Test-beds of several releases, each with its own munged, started when first asked for."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._started: dict[str, Testbed] = {}

    def testbed(self, release: str) -> Testbed:
        """Of "22.05", say."""
        if release not in self._started:
            testbed = Testbed(installation=installed(RELEASES[release]))
            self._started[release] = self._stack.enter_context(testbed)
        return self._started[release]


@pytest.fixture(scope="session")
def releases() -> Iterator[Releases]:
    """Slurm of every release."""
    with ExitStack() as stack:
        yield Releases(stack)


@pytest.fixture
def clusters(testbed: Testbed, request: pytest.FixtureRequest) -> Iterator[dict[str, SlurmCluster]]:
    """The clusters, every daemon up, without jobs and reservations."""
    testbed.reset()
    failed_before = request.session.testsfailed
    yield testbed.clusters
    if request.session.testsfailed > failed_before:
        print(testbed.log_tail())  # in the report of the failed test


@pytest.fixture
def open_folder(testbed: Testbed) -> Iterator[Path]:
    """A folder that every user may enter and write in; pytest's tmp_path is closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="open-", dir=testbed.folder))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """A PostgreSQL server, up to the end of the session."""
    try:
        programs = install_postgres()
    except SlurmUnavailable as error:
        leave_out(f"it needs PostgreSQL, and that cannot be had here: {error}")
    server = Postgres(programs)
    try:
        server.start()
        yield server
    finally:
        server.close()


@pytest.fixture
def postgres(postgres_server: Postgres) -> Postgres:
    """The server, which serves: an earlier test may have ended it."""
    postgres_server.start()
    return postgres_server


@pytest.fixture
def database(postgres: Postgres) -> str:
    """The URL of an empty database there."""
    return postgres.url(postgres.database())


@pytest.fixture
def proxy(postgres: Postgres) -> Iterator[Proxy]:
    """A way to the server that can be cut."""
    made = Proxy(postgres.port)
    yield made
    made.close()
