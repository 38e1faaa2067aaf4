"""Two real Slurm clusters that share no files with each other or with the broker's host: it
reaches them over SSH, one by each way."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Json, Site
from tests.daemon.kinds import Slurm
from tests.testbed import ClusterSpec, Testbed
from tests.testbed.openssh import OpenSsh
from tests.testbed.packages import Installation
from tests.testbed.sshd import Sshd
from tests.testbed.testbed import SYSTEM_PATH

WAYS = {"delft": "ssh", "leiden": "openssh"}


@dataclass
class Apart:
    """The clusters, the login host, and a folder for each cluster."""

    testbed: Testbed
    sshd: Sshd
    folders: dict[str, Path]

    def site(self, make_site: MakeSite) -> Site:
        """A daemon over them; jobs run in the `jobs` folder."""
        self.testbed.reset()
        kind = Slurm(self.testbed.clusters, sizes=dict.fromkeys(WAYS, 0))
        site = make_site(kind)
        with site.changing() as text:
            text["clusters"] = {name: self._cluster(name, via) for name, via in WAYS.items()}
        return site

    def _cluster(self, name: str, via: str) -> Json:
        cluster = self.testbed[name]
        return {
            "system": "slurm",
            "partition": "batch",
            "bin": str(cluster.bin),
            "env": {"SLURM_CONF": str(cluster.slurm_conf), "PATH": SYSTEM_PATH},
            "shared_dir": str(self.folders[name]),
            "via": via,
            **self.sshd.settings(),
            **({"ssh_config": "/dev/null"} if via == "openssh" else {}),
        }

    @property
    def jobs(self) -> Path:
        """Where jobs write their output; every cluster has such a folder."""
        return self.folders["jobs"]


@pytest.fixture(scope="module")
def apart(installation: Installation, openssh: OpenSsh) -> Iterator[Apart]:
    """Started once."""
    top = Path(tempfile.mkdtemp(prefix="mb-apart-"))
    top.chmod(0o755)
    sshd = Sshd(openssh, top / "sshd")
    folders = {name: top / name for name in (*WAYS, "jobs")}
    for folder in folders.values():
        folder.mkdir(mode=0o755)
        if os.geteuid() == 0:
            os.chown(folder, sshd.account.uid, sshd.account.gid)
    extra = {"SlurmUser": sshd.account.name}
    specs = [ClusterSpec("delft", 2, 4, extra), ClusterSpec("leiden", 1, 8, extra)]
    try:
        sshd.start()
        with Testbed(specs, installation=installation) as testbed:
            yield Apart(testbed, sshd, folders)
    finally:
        sshd.stop()
        shutil.rmtree(top, ignore_errors=True)
