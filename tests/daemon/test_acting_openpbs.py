"""Jobs belong to their submitters on live OpenPBS too: ordinary users, a service account with its
sudo rules, on this host and over SSH."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.acting import MEET, Acting, people_and_login_host
from tests.daemon.acting_world import gates
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Json, Site, eventually
from tests.daemon.pbs import OpenPBS, PbsServer, servers
from tests.testbed.accounts import People, require_programs, require_root
from tests.testbed.sshd import Sshd

pytestmark = [pytest.mark.root, pytest.mark.xdist_group("openpbs")]

WAYS = {"delft": "local", "leiden": "ssh"}


@dataclass
class World:
    """People, live servers, and a login host of the service account."""

    people: People
    servers: dict[str, PbsServer]
    sshd: Sshd

    def clusters(self, folder: Path) -> dict[str, dict[str, Any]]:
        """The configuration of the clusters, by how they are reached."""
        found = OpenPBS(self.servers).configuration(folder)
        for name, cluster in found.items():
            cluster |= {
                "bin": str(self.servers[name].bin),
                "run_as": "sudo",
                "users": {self.people.name(who): self.people.name(who) for who in ("alice", "bob")},
            }
            if WAYS[name] == "ssh":
                cluster |= {"via": "ssh", **self.sshd.settings()}
        return found


Users = Acting[World]


@pytest.fixture(scope="module")
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """Started once."""
    named = {name: server for name, server in servers().items() if name in WAYS}
    require_root()
    require_programs()
    with people_and_login_host(request.getfixturevalue("openssh")) as (people, sshd):
        folders = [server.bin for server in named.values()]
        people.allow([bin / program for bin in folders for program in ("qsub", "qdel")])
        yield World(people, named, sshd)


@pytest.fixture
def acting(world: World, make_site: MakeSite) -> Iterator[Users]:
    for server in world.servers.values():
        server.reset()
    for who in ("alice", "bob"):
        (world.people.home(who) / "end").unlink(missing_ok=True)
    site = make_site(OpenPBS(world.servers, sizes=dict.fromkeys(WAYS, 0)))
    site.configure({"allow_root": False})
    with site.changing() as text:
        text["clusters"] = world.clusters(site.folder)
    site.config.chmod(0o644)
    made = Acting(world, site)
    made.as_service()
    yield made
    if site.process is not None:
        site.stop()


def started(acting: Users) -> Site:
    acting.site.start_and_look()
    return acting.site


def owners(server: PbsServer, instance: str) -> set[str]:
    """Whose the broker's jobs are, by the server's word."""
    shown = json.loads(server.run("qstat", "-f", "-F", "json")).get("Jobs", {}).values()
    ours = [job for job in shown if job["Job_Name"].startswith(f"mb-{instance}-")]
    return {job["Job_Owner"].partition("@")[0] for job in ours}


def test_jobs_are_their_submitters_in_every_cluster(acting: Users) -> None:
    people, site = acting.world.people, started(acting)
    acting.run_everywhere("delft:2,leiden:2")
    eventually(lambda: not gates(people), "gates are gone")
    site.wait_clean()


def test_nobody_touches_another_users_job_and_a_killed_daemon_finds_it(
    acting: Users,
) -> None:
    people, site = acting.world.people, started(acting)
    job = acting.submit("alice", "--on", "delft:1,leiden:1", script=MEET)
    found = site.wait_state(job, "RUNNING")
    component: Json = found["components"][0]
    delft = acting.world.servers["delft"]
    for server in acting.world.servers.values():
        assert owners(server, site.instance) == {people.name("alice")}

    # Bob asks the broker, then the cluster, for what is not his.
    done = acting.ask("bob", "cancel", str(job))
    assert done.returncode == 1 and "belongs to" in done.stderr, done.stderr
    known = [f"{name}={value}" for name, value in delft.env.items()]  # which server is meant
    for words in (["qdel", component["native_id"]], ["qsub", "-q", queue_of(delft)]):
        refused = people.run("bob", *known, str(delft.bin / words[0]), *words[1:])
        assert refused.returncode != 0, words
        assert "Unauthorized" in refused.stderr or "denied" in refused.stderr, refused.stderr
    # A job of the same name, which anybody can guess who sees the queue, is not the broker's.
    forged = people.run(
        *("bob", *known, str(delft.bin / "qsub"), "-N", component["reservation"]),
        *("-l", "walltime=60"),
        *("-o", "/dev/null", "-e", "/dev/null", "--", "/bin/sleep", "50"),
    )
    assert forged.returncode == 0, forged.stderr

    site.kill()
    site.start()
    site.look_at_clusters(anew=True)
    assert site.job(job)["state"] == "RUNNING"
    done = acting.ask("alice", "cancel", str(job))
    assert done.returncode == 0, done.stderr
    assert site.wait_end(job, "CANCELLED")["attempts"] == 1
    eventually(lambda: not gates(people), "the gates are gone")
    assert owners(delft, site.instance) == {people.name("bob")}
    eventually(lambda: not delft.reservations(), "the reservation is gone")


def queue_of(server: PbsServer) -> str:
    """The queue of the only reservation."""
    (line,) = [x for x in server.run("pbs_rstat", "-F").splitlines() if x.startswith("queue = ")]
    return line.removeprefix("queue = ")


def test_the_doctor_tries_the_accounts(acting: Users) -> None:
    people = acting.world.people
    words = ("doctor", "--config", str(acting.site.config), "--run", "--json")
    done = acting.ask("svc", *words)
    assert done.returncode == 0, done.stdout
    for cluster in json.loads(done.stdout)["clusters"]:
        (ran,) = (found for found in cluster["findings"] if found["check"] == "job")
        assert f"ran as {people.name('alice')}," in ran["said"]
    assert not gates(people)
