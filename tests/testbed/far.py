"""Fixtures: a login host on loopback, and a way to it that can be broken.

Where the packages cannot be had, a test that needs them is skipped with the reason, or fails with
METABROKER_REQUIRE_SLURM=1, as those of Slurm do.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.testbed.apt import SlurmUnavailable, leave_out
from tests.testbed.openssh import OpenSsh, install_openssh
from tests.testbed.packages import open_prefix
from tests.testbed.proxy import Proxy
from tests.testbed.sshd import Sshd


@pytest.fixture(scope="session")
def openssh() -> Iterator[OpenSsh]:
    """The relocated OpenSSH, where other accounts can run it too."""
    folder = Path(tempfile.mkdtemp(prefix="mb-openssh-"))
    folder.chmod(0o755)
    try:
        yield OpenSsh(open_prefix(install_openssh().prefix, folder / "openssh"))
    except SlurmUnavailable as error:
        leave_out(f"it needs an SSH server, and OpenSSH cannot be had here: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def sshd(openssh: OpenSsh) -> Iterator[Sshd]:
    """A server, up to the end of the session."""
    folder = Path(tempfile.mkdtemp(prefix="mb-sshd-"))
    folder.chmod(0o755)
    server = Sshd(openssh, folder / "sshd")
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def way(sshd: Sshd) -> Iterator[Proxy]:
    """A way to it; the server is known at its end too."""
    proxy = Proxy(sshd.port)
    sshd.know(proxy.port)
    yield proxy
    proxy.close()
