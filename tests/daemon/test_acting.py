"""Jobs belong to their submitters: real Slurm, ordinary users, a service account with its sudo
rules, on this host and over both ways of SSH; and a daemon that is root."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import REPOSITORY, Site, eventually, until
from tests.daemon.kinds import Slurm
from tests.testbed import ClusterSpec
from tests.testbed.openssh import OpenSsh
from tests.testbed.packages import Installation
from tests.testbed.people import Done, People, require_programs, require_root
from tests.testbed.sshd import Account, Sshd
from tests.testbed.testbed import SYSTEM_PATH, Testbed

SIZES = {"delft": 8, "leiden": 8, "lab": 4}
WHO = '#!/bin/sh\nid -un; touch made; echo "$HOME ${SUDO_USER:-none}"\n'
MEET = f"#!/bin/sh\nid -un > who.$METABROKER_CLUSTER\n{until('end')}\n"

pytestmark = [pytest.mark.slurm, pytest.mark.root, pytest.mark.xdist_group("acting")]


@dataclass
class World:
    """People, clusters that the service account operates, and a login host."""

    people: People
    testbed: Testbed
    sshd: Sshd

    def users(self, *who: str) -> dict[str, str]:
        """The table of users."""
        return {self.people.name(each): self.people.name(each) for each in who}

    def clusters(self, run_as: str, ways: dict[str, str]) -> dict[str, dict[str, Any]]:
        """The configuration of those clusters, by how they are reached."""
        found: dict[str, dict[str, Any]] = {}
        for name, via in ways.items():
            cluster = self.testbed[name]
            far = {} if via == "local" else {"via": via, **self.sshd.settings()}
            ssh = {"ssh_config": "/dev/null"} if via == "openssh" else {}
            found[name] = {
                "system": "slurm",
                "partition": "batch",
                "bin": str(cluster.bin),
                "env": {"SLURM_CONF": str(cluster.slurm_conf), "PATH": SYSTEM_PATH},
                "run_as": run_as,
                "users": self.users("alice", "bob"),
                **far,
                **ssh,
            }
        return found


@pytest.fixture(scope="module")
def world(installation: Installation, openssh: OpenSsh) -> Iterator[World]:
    """Started once."""
    require_root()
    require_programs()
    with tempfile.TemporaryDirectory(prefix="mb-acting-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        people = People(folder)
        try:
            extra = {"SlurmUser": people.name("svc")}
            specs = [ClusterSpec(each, 1, cores, extra) for each, cores in SIZES.items()]
            svc = Account(people.name("svc"), people.uid("svc"), people.uid("svc"))
            sshd = Sshd(openssh, folder / "sshd", who=svc)
            with Testbed(specs, installation=installation) as testbed:
                folder_of_commands = testbed["delft"].bin
                people.allow([folder_of_commands / "sbatch", folder_of_commands / "scancel"])
                sshd.start()
                try:
                    os.chown(sshd.key, svc.uid, svc.gid)
                    yield World(people, testbed, sshd)
                finally:
                    sshd.stop()
        finally:
            people.remove()


@dataclass
class Acting:
    """A daemon, and users who ask it things."""

    world: World
    site: Site

    def ask(self, who: str, *words: str) -> Done:
        """The command line, as that user, at home."""
        people = self.world.people
        words = (sys.executable, "-m", "metabroker", *words)
        env = (f"PYTHONPATH={REPOSITORY}", f"METABROKER_SOCKET={self.site.socket}")
        return people.run(who, *env, *words, cwd=people.home(who), reading=True)

    def submit(self, who: str, *options: str, script: str = WHO) -> int:
        file = self.site.folder / "script"
        file.write_text(script)
        file.chmod(0o644)
        done = self.ask(who, "submit", *options, str(file))
        assert done.returncode == 0, f"{done.stderr}\n{self.site.story()}"
        return int(done.stdout)


@pytest.fixture
def by_sudo(world: World, make_site: MakeSite) -> Iterator[Acting]:
    """A daemon under the service account: one cluster on this host, one by each way of SSH."""
    ways = {"delft": "local", "leiden": "ssh", "lab": "openssh"}
    acting = _acting(world, make_site, "sudo", ways)
    site = acting.site
    os.chown(site.folder, world.people.uid("svc"), -1)
    site.prefix = world.people.words("svc", reading=True)
    yield from _served(acting)


@pytest.fixture
def by_ids(world: World, make_site: MakeSite) -> Iterator[Acting]:
    """A daemon that is root."""
    yield from _served(_acting(world, make_site, "root-uid", {"delft": "local", "leiden": "local"}))


def _acting(world: World, make_site: MakeSite, run_as: str, ways: dict[str, str]) -> Acting:
    world.testbed.reset()
    site = make_site(Slurm(world.testbed.clusters))
    site.configure({"allow_root": False})
    text = yaml.safe_load(site.config.read_text())
    text["clusters"] = world.clusters(run_as, ways)
    site.config.write_text(yaml.safe_dump(text))
    return Acting(world, site)


def _served(acting: Acting) -> Iterator[Acting]:
    acting.site.start()
    acting.site.look_at_clusters()
    yield acting
    acting.site.stop()


def test_jobs_are_their_submitters_in_every_cluster(by_sudo: Acting) -> None:
    people, site = by_sudo.world.people, by_sudo.site
    files: list[tuple[str, str]] = []
    jobs = []
    for who in ("alice", "bob"):
        for cluster in SIZES:
            files.append((who, f"{cluster}.out"))
            jobs.append(by_sudo.submit(who, "-n", "1", "--cluster", cluster, "-o", files[-1][1]))
    jobs.append(by_sudo.submit("bob", "--on", "delft:2,leiden:2,lab:1", "-o", "both.%c.out"))
    files += [("bob", f"both.{component}.out") for component in range(3)]
    for job in jobs:
        site.wait_end(job, "COMPLETED", seconds=60)
    for who, file in files:
        home = people.home(who)
        assert (home / file).read_text() == f"{people.name(who)}\n{home} none\n"
        assert (home / file).stat().st_uid == people.uid(who)
    for who in ("alice", "bob"):
        assert (people.home(who) / "made").stat().st_uid == people.uid(who)
    eventually(lambda: not gates(people), 60, "gates are gone")
    for cluster in by_sudo.world.testbed.clusters.values():
        told = cluster.run("squeue", "-h", "-t", "all", "-o", "%u").stdout.split()
        assert set(told) == {people.name("alice"), people.name("bob")}
        assert not cluster.reservations()


def gates(people: People) -> list[Path]:
    """What is left of meeting places."""
    return [path for who in ("alice", "bob") for path in people.home(who).glob(".metabroker*")]
