"""Daemons that act for their users, with real accounts, for tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.acting import Acting, people_and_login_host
from tests.daemon.fixtures import MakeSite
from tests.daemon.kinds import Slurm
from tests.testbed import ClusterSpec
from tests.testbed.accounts import People, require_programs, require_root
from tests.testbed.openssh import OpenSsh
from tests.testbed.packages import Installation
from tests.testbed.sshd import Sshd
from tests.testbed.testbed import SYSTEM_PATH, Testbed

SIZES = {"delft": 8, "leiden": 8, "lab": 4}


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
                # One that this host does not know must be nobody else's trouble.
                "users": self.users("alice", "bob") | {"ghost": self.people.name("ghost")},
                **({"shared_dir": str(self.people.shared)} if via == "openssh" else {}),
                **far,
                **ssh,
            }
        return found


Users = Acting[World]


@pytest.fixture(scope="module")
def world(installation: Installation, openssh: OpenSsh) -> Iterator[World]:
    """Started once."""
    require_root()
    require_programs()
    with people_and_login_host(openssh) as (people, sshd):
        extra = {"SlurmUser": people.name("svc")}
        specs = [ClusterSpec(each, 1, cores, extra) for each, cores in SIZES.items()]
        with Testbed(specs, installation=installation) as testbed:
            commands = testbed["delft"].bin
            people.allow([commands / "sbatch", commands / "scancel"])
            yield World(people, testbed, sshd)


@pytest.fixture
def by_sudo(world: World, make_site: MakeSite) -> Iterator[Users]:
    """A daemon under the service account: one cluster on this host, one by each way of SSH."""
    ways = {"delft": "local", "leiden": "ssh", "lab": "openssh"}
    acting = acting_daemon(world, make_site, "sudo", ways)
    acting.as_service()
    yield from while_it_serves(acting)


@pytest.fixture
def by_ids(world: World, make_site: MakeSite) -> Iterator[Users]:
    """A daemon that is root."""
    yield from while_it_serves(
        acting_daemon(world, make_site, "root-uid", {"delft": "local", "leiden": "local"})
    )


def acting_daemon(world: World, make_site: MakeSite, run_as: str, ways: dict[str, str]) -> Users:
    world.testbed.reset()
    for left in (*gates(world.people), world.people.home("alice") / "end"):
        if left.is_dir():  # of a test that has failed
            shutil.rmtree(left)
        left.unlink(missing_ok=True)
    site = make_site(Slurm(world.testbed.clusters))
    site.configure({"allow_root": False})
    with site.changing() as text:
        text["clusters"] = world.clusters(run_as, ways)
    return Acting(world, site)


def while_it_serves(acting: Users) -> Iterator[Users]:
    acting.site.start_and_look()
    yield acting
    acting.site.stop()


def gates(people: People) -> list[Path]:
    """What is left of meeting places."""
    places = (people.home("alice"), people.home("bob"), people.shared)
    return [path for place in places for path in place.glob(".metabroker*")]


TAKES = "#!/bin/sh\nid -un > out; cat in/secret >> out\n"


def bring(people: People, who: str) -> Path:
    """A file that only its user may read."""
    file = people.home(who) / "in" / "secret"
    for words in (("mkdir", "-p", file.parent), ("chmod", "700", people.home(who))):
        assert people.run(who, *words).returncode == 0
    file.write_text(f"{who}'s own\n")
    file.chmod(0o600)
    for path in (file.parent, file):
        os.chown(path, people.uid(who), -1)
    return file
