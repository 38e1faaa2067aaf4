"""Two real Slurm clusters that share no files with each other or with the broker's host: it
reaches them over SSH, one by each way. A live OpenPBS may be the third."""

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
from tests.daemon.kinds import Kind, Slurm
from tests.daemon.pbs import Mixed, OpenPBS, PbsServer
from tests.testbed import ClusterSpec, Testbed
from tests.testbed.openssh import OpenSsh
from tests.testbed.packages import Installation
from tests.testbed.sshd import Sshd
from tests.testbed.testbed import SYSTEM_PATH

WAYS = {"delft": "ssh", "leiden": "openssh"}
THIRD = "third"


@dataclass
class Apart:
    """The clusters, the login host, and a folder for each cluster."""

    testbed: Testbed
    sshd: Sshd
    folders: dict[str, Path]

    def site(self, make_site: MakeSite, third: PbsServer | None = None) -> Site:
        """A daemon over them, and a `third`; jobs run in the `jobs` folder."""
        self.testbed.reset()
        kind: Kind = Slurm(self.testbed.clusters, sizes=dict.fromkeys(WAYS, 0))
        clusters = {name: self._slurm(name, via) for name, via in WAYS.items()}
        if third is not None:
            pbs = OpenPBS({THIRD: third})
            sizes = dict.fromkeys((*WAYS, THIRD), 0)
            kind = Mixed({**dict.fromkeys(WAYS, kind), THIRD: pbs}, sizes=sizes)
            clusters[THIRD] = {
                "system": "openpbs",
                "bin": str(third.bin),
                "env": {**third.env, "PATH": SYSTEM_PATH},
                **self._apart(THIRD, "ssh"),
            }
        site = make_site(kind)
        site.gates_in += self.folders.values()
        for folder in self.folders.values():  # what a test has left whose daemon was ended first
            for gate in folder.glob(".metabroker*"):
                shutil.rmtree(gate)
        with site.changing() as text:
            text["clusters"] = clusters
        return site

    def _slurm(self, name: str, via: str) -> Json:
        cluster = self.testbed[name]
        return {
            "system": "slurm",
            "partition": "batch",
            "bin": str(cluster.bin),
            "env": {"SLURM_CONF": str(cluster.slurm_conf), "PATH": SYSTEM_PATH},
            **self._apart(name, via),
        }

    def _apart(self, name: str, via: str) -> Json:
        return {
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
    folders = {name: top / name for name in (*WAYS, THIRD, "jobs")}
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
