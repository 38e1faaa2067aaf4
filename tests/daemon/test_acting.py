"""Jobs belong to their submitters: real Slurm, ordinary users, a service account with its sudo
rules, on this host and over both ways of SSH; and a daemon that is root."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.daemon.acting import MEET, WHO, Acting
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import REPOSITORY, eventually
from tests.daemon.kinds import Simulated, Slurm
from tests.testbed import ClusterSpec
from tests.testbed.accounts import (
    RULES,
    SFTP_SERVER,
    People,
    open_code,
    require_programs,
    require_root,
)
from tests.testbed.openssh import OpenSsh
from tests.testbed.packages import Installation
from tests.testbed.sshd import Account, Sshd
from tests.testbed.testbed import SYSTEM_PATH, Testbed

SIZES = {"delft": 8, "leiden": 8, "lab": 4}

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


@pytest.fixture
def by_sudo(world: World, make_site: MakeSite) -> Iterator[Users]:
    """A daemon under the service account: one cluster on this host, one by each way of SSH."""
    ways = {"delft": "local", "leiden": "ssh", "lab": "openssh"}
    acting = _acting(world, make_site, "sudo", ways)
    site = acting.site
    os.chown(site.folder, world.people.uid("svc"), -1)
    site.prefix = world.people.words("svc", reading=True)
    yield from _served(acting)


@pytest.fixture
def by_ids(world: World, make_site: MakeSite) -> Iterator[Users]:
    """A daemon that is root."""
    yield from _served(_acting(world, make_site, "root-uid", {"delft": "local", "leiden": "local"}))


def _acting(world: World, make_site: MakeSite, run_as: str, ways: dict[str, str]) -> Users:
    world.testbed.reset()
    for left in (*gates(world.people), world.people.home("alice") / "end"):
        if left.is_dir():  # of a test that has failed
            shutil.rmtree(left)
        left.unlink(missing_ok=True)
    site = make_site(Slurm(world.testbed.clusters))
    site.configure({"allow_root": False})
    text = yaml.safe_load(site.config.read_text())
    text["clusters"] = world.clusters(run_as, ways)
    site.config.write_text(yaml.safe_dump(text))
    return Acting(world, site)


def _served(acting: Users) -> Iterator[Users]:
    acting.site.start()
    acting.site.look_at_clusters()
    yield acting
    acting.site.stop()


def test_jobs_are_their_submitters_in_every_cluster(by_sudo: Users) -> None:
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
    assert not list(people.shared.iterdir())
    for real in by_sudo.world.testbed.clusters.values():
        told = real.run("squeue", "-h", "-t", "all", "-o", "%u").stdout.split()
        assert set(told) == {people.name("alice"), people.name("bob")}
        assert not real.reservations()


def gates(people: People) -> list[Path]:
    """What is left of meeting places."""
    places = (people.home("alice"), people.home("bob"), people.shared)
    return [path for place in places for path in place.glob(".metabroker*")]


def test_a_daemon_that_was_killed_finds_its_users_jobs_again(by_sudo: Users) -> None:
    people, site = by_sudo.world.people, by_sudo.site
    job = by_sudo.submit("alice", "--on", "delft:1,leiden:1,lab:1", script=MEET)
    site.wait_state(job, "RUNNING", seconds=60)
    (met,) = people.shared.iterdir()
    assert (met.stat().st_uid, met.stat().st_mode & 0o777) == (people.uid("alice"), 0o700)
    site.kill()
    site.start()
    assert site.job(job)["state"] == "RUNNING"
    assert people.run("alice", "touch", people.home("alice") / "end").returncode == 0
    ended = site.wait_end(job, "COMPLETED", seconds=60)
    assert ended["attempts"] == 1
    eventually(lambda: not gates(people), 60, "gates are gone")


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


def test_users_files_go_and_come_as_their_own(by_sudo: Users) -> None:
    people, site = by_sudo.world.people, by_sudo.site
    bring(people, "alice")
    options = ("--on", "delft:1,leiden:1,lab:1", "--stage-in", "in/secret", "--stage-out", "out")
    job = by_sudo.submit("alice", *options, script=TAKES)
    site.wait_end(job, "COMPLETED", seconds=90)
    for component in range(3):
        out = people.home("alice") / f"metabroker-{job}.{component}" / "out"
        assert out.read_text() == f"{people.name('alice')}\nalice's own\n"
        for made in (out, out.parent):
            assert made.stat().st_uid == people.uid("alice")
    eventually(lambda: not gates(people), 60, "gates are gone")


def test_nobody_has_another_users_files_sent_or_results_put_there(by_sudo: Users) -> None:
    """Asked of the daemon itself: the command line would not find the files."""
    people, site = by_sudo.world.people, by_sudo.site
    file = bring(people, "alice")
    before = set(people.home("alice").iterdir())
    wire = {
        "script": base64.b64encode(b"#!/bin/sh\necho mine > out\n").decode(),
        "script_name": "thief",
        "processors": {"single": 1},
        "chdir": str(people.home("bob")),
        "submit_dir": str(people.home("alice")),
    }
    asks = "import sys, json; from metabroker.api.client import Client; "
    asks += "print(Client(sys.argv[1]).submit(json.loads(sys.argv[2]))['job'])"

    def submitted(**more: object) -> int:
        words = (sys.executable, "-c", asks, site.socket, json.dumps({**wire, **more}))
        done = people.run("bob", f"PYTHONPATH={open_code()}", *words, reading=True)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    taken = site.wait_end(submitted(stage_in=["in/secret"]), "FAILED", seconds=60)
    assert "cannot be sent: Permission denied" in taken["reason"]
    given = site.wait_end(submitted(stage_out=["out"]), "FAILED", seconds=60)
    assert "could not be brought back" in given["reason"]
    assert {path.name for path in file.parent.iterdir()} == {"secret"}
    assert set(people.home("alice").iterdir()) == before


def test_nobody_touches_another_users_job(by_sudo: Users) -> None:
    people, site = by_sudo.world.people, by_sudo.site
    job = by_sudo.submit("alice", "--on", "delft:1,leiden:1", script=MEET)
    waiting = by_sudo.submit("alice", "-n", "1", "--hold")
    site.wait_state(job, "RUNNING", seconds=60)
    component = site.job(job)["components"][0]
    for verb in ("cancel", "hold", "release"):
        for number in (job, waiting):
            done = by_sudo.ask("bob", verb, str(number))
            assert done.returncode == 1 and "belongs to" in done.stderr, done.stderr
    assert site.job(waiting)["state"] == "HELD"

    delft = by_sudo.world.testbed["delft"]
    delft.run("scancel", component["native_id"], user=people.name("bob"))
    gate = gates(people)[0]
    for words in (("ls", gate), ("touch", gate / "abort"), ("cat", people.home("alice") / "end")):
        refused = people.run("bob", *words)
        assert refused.returncode != 0 and "Permission denied" in refused.stderr

    # Nor does a job of the same name, which anybody can guess who sees a cluster's queue.
    forged = delft.submit(
        *("-n", "1", "-J", component["reservation"]),
        user=people.name("bob"),
        cwd=people.home("bob"),
    )
    site.look_at_clusters(anew=True)
    assert site.job(job)["state"] == "RUNNING"
    done = by_sudo.ask("alice", "cancel", str(job))
    assert done.returncode == 0, done.stderr
    site.wait_end(job, "CANCELLED", seconds=60)
    eventually(lambda: not gates(people), 60, "the gates are gone")
    known = {j.id: j.state for j in delft.jobs(component["reservation"])}
    assert known.pop(forged) == "RUNNING" and set(known.values()) == {"CANCELLED"}


def test_who_has_no_account_is_refused_and_root_always(by_sudo: Users, world: World) -> None:
    people, site = world.people, by_sudo.site
    script = site.folder / "script"
    script.write_text(WHO)
    script.chmod(0o644)
    done = by_sudo.ask("carol", "submit", "-n", "1", "--cluster", "delft", str(script))
    assert done.returncode == 1 and f"delft: {people.name('carol')} has no account" in done.stderr
    assert "`users` of delft" in done.stderr
    done = site.cli("submit", "-n", "1", str(script))
    assert done.returncode == 1 and "root may not submit" in done.stderr
    assert by_sudo.ask("svc", "submit", "-n", "1", str(script)).returncode == 1

    # One who loses the account keeps no right that was given before.
    touch = "#!/bin/sh\ntouch too-late\n"
    held = by_sudo.submit("bob", "--hold", "-n", "1", "--cluster", "delft", script=touch)
    left = yaml.safe_load(site.config.read_text())
    left["clusters"]["delft"]["users"] = world.users("alice")
    site.config.write_text(yaml.safe_dump(left))
    assert site.process is not None
    site.process.send_signal(signal.SIGHUP)
    eventually(lambda: "users of delft" in site.log.read_text(), 60, "the new users are read")
    assert by_sudo.ask("bob", "release", str(held)).returncode == 0
    job = site.wait_end(held, "FAILED", seconds=60)
    assert "has no account" in job["reason"], job
    assert not (people.home("bob") / "too-late").exists()
    assert by_sudo.ask("bob", "submit", "-n", "1", str(script)).returncode == 1


def test_sudo_allows_what_the_rules_say_and_nothing_else(world: World) -> None:
    people = world.people
    sbatch = world.testbed["delft"].bin / "sbatch"
    alice, carol = people.name("alice"), people.name("carol")

    def sudo(*words: str | Path) -> int:
        conf = f"SLURM_CONF={world.testbed['delft'].slurm_conf}"
        return people.run("svc", conf, "sudo", "-n", *words).returncode

    assert sudo("-u", alice, "--", sbatch, "--version") == 0
    assert people.run("svc", "sudo", "-n", "-u", alice, SFTP_SERVER).returncode == 0
    for words in (
        ("-u", "root", "--", sbatch, "--version"),
        ("--", sbatch, "--version"),
        ("-u", "#0", "--", sbatch, "--version"),
        ("-u", carol, "--", sbatch, "--version"),
        ("-u", carol, "--", SFTP_SERVER),
        ("-u", "root", "--", SFTP_SERVER),
        ("-u", alice, "--", SFTP_SERVER, "-d", "/"),
        ("-u", alice, "--", "/bin/sh", "-c", "true"),
        ("-u", alice, "-s"),
        ("-u", alice, "-i"),
        ("-u", alice, "--", world.testbed["delft"].bin / "scontrol", "--version"),
        ("-u", alice, "-g", "root", "--", sbatch, "--version"),
        ("-u", alice, "LD_PRELOAD=/tmp/x.so", sbatch, "--version"),
    ):
        assert sudo(*words) == 1, words
    for who in ("alice", "bob", "carol"):
        assert people.run(who, "sudo", "-n", "-u", alice, sbatch, "--version").returncode == 1


def test_the_shipped_units_leave_sudo_what_it_needs(world: World) -> None:
    text = (REPOSITORY / "systemd" / "run-as-sudo.conf").read_text()
    kept = re.findall(r"CAP_([A-Z_]+)", text)
    assert kept
    people = world.people
    bounds = f"--bounding-set=-all,{','.join(f'+{name.lower()}' for name in kept)}"
    asked = ("sudo", "-n", "-u", people.name("alice"), SFTP_SERVER)
    done = subprocess.run(
        ["setpriv", bounds, *people.words("svc"), *asked], check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    bounds = bounds.replace("+setuid,", "")
    done = subprocess.run(
        ["setpriv", bounds, *people.words("svc"), *asked], check=False, capture_output=True
    )
    assert done.returncode != 0


def test_the_shipped_rules_name_users_and_commands_alone() -> None:
    lines = RULES.read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    (granted,) = (line for line in rules if "NOPASSWD" in line)
    assert granted == "MB_DAEMON ALL = (MB_USERS) NOPASSWD: MB_JOBS, MB_FILES"
    assert not any("ALL" in line for line in rules if line != granted)
    (users,) = (line for line in rules if line.startswith("Runas_Alias"))
    assert users.endswith(", !root")
    (commands,) = (line for line in rules if line.startswith("Cmnd_Alias MB_JOBS"))
    assert all(word.startswith("/") for word in commands.partition(" = ")[2].split(", "))


def test_a_root_daemon_becomes_its_users(by_ids: Users) -> None:
    people, site = by_ids.world.people, by_ids.site
    script = '#!/bin/sh\nid -un; id -Gn; cat "$METABROKER_PEERS_FILE" > peers\n'
    # Only the team may go into its folder, and alice is in it by a supplementary group.
    single = by_ids.submit("alice", "-n", "1", "-D", str(people.team), "-o", "one", script=script)
    both = by_ids.submit("bob", "--on", "delft:1,leiden:1", "-o", "%c.out", script=script)
    for job in (single, both):
        site.wait_end(job, "COMPLETED", seconds=60)
    name = people.name("alice")
    told = (people.team / "one").read_text().splitlines()
    assert told == [name, f"{name} {people.name('team')}"]
    assert (people.team / "one").stat().st_uid == people.uid("alice")
    for file in ("0.out", "1.out", "peers"):
        assert (people.home("bob") / file).stat().st_uid == people.uid("bob")
    assert (people.home("bob") / "1.out").read_text().startswith(people.name("bob"))
    eventually(lambda: not gates(people), 60, "the gates are gone")
    bring(people, "bob")
    files = ("--stage-in", "in/secret", "--stage-out", "out")
    brought = by_ids.submit("bob", "--on", "delft:1,leiden:1", *files, script=TAKES)
    site.wait_end(brought, "COMPLETED", seconds=60)
    out = people.home("bob") / f"metabroker-{brought}.1" / "out"
    assert out.read_text() == f"{people.name('bob')}\nbob's own\n"
    assert out.stat().st_uid == out.parent.stat().st_uid == people.uid("bob")
    assert by_ids.site.cli("submit", "-n", "1", str(site.folder / "script")).returncode == 1
    assert by_ids.ask("carol", "submit", "-n", "1", str(site.folder / "script")).returncode == 1
    # What acting for users does not need, it has not, and no child of it can get.
    assert site.process is not None
    status = Path(f"/proc/{site.process.pid}/status").read_text()
    assert "NoNewPrivs:\t1" in status
    assert f"CapBnd:\t{0b11100111:016x}" in status.lower().replace("capbnd", "CapBnd")


def test_the_daemon_is_root_only_where_that_is_asked_for(world: World, make_site: MakeSite) -> None:
    site = make_site(Simulated())
    site.configure({"allow_root": False})
    done = site.cli("serve", "--config", str(site.config), seconds=60)
    assert done.returncode == 1 and "`allow_root: true`" in done.stderr
    acting = _acting(world, make_site, "root-uid", {"delft": "local"})
    acting.site.config.chmod(0o644)
    done = acting.ask("svc", "serve", "--config", str(acting.site.config))
    assert done.returncode == 1 and "needs a daemon that is root" in done.stderr


def test_the_doctor_says_whom_we_may_not_act_for(world: World, make_site: MakeSite) -> None:
    acting = _acting(world, make_site, "sudo", {"delft": "local", "leiden": "ssh"})
    file = acting.site.config
    fine = yaml.safe_load(file.read_text())
    for cluster in fine["clusters"].values():
        cluster["users"] = world.users("alice", "bob")
    file.write_text(yaml.safe_dump(fine))
    done = acting.ask("svc", "doctor", "--config", str(file), "--run", "--json")
    assert done.returncode == 0, done.stdout
    alice, carol = world.people.name("alice"), world.people.name("carol")
    for cluster in json.loads(done.stdout)["clusters"]:
        said = {found["tried"]: found for found in cluster["findings"]}
        assert said[f"list / by SFTP as {alice}"]["outcome"] == "ok"
        (ran,) = (found for found in cluster["findings"] if found["check"] == "job")
        assert f"ran as {alice}," in ran["said"]
    assert not gates(world.people)

    wrong = yaml.safe_load(file.read_text())
    wrong["clusters"]["delft"]["users"] = world.users("carol")
    wrong["clusters"]["leiden"]["sftp_server"] = "/usr/bin/true"
    file.write_text(yaml.safe_dump(wrong))
    done = acting.ask("svc", "doctor", "--config", str(file), "--json")
    assert done.returncode == 1
    delft, leiden = (c["findings"] for c in json.loads(done.stdout)["clusters"])
    missing = {found["tried"]: found for found in delft if found["outcome"] == "missing"}
    assert list(missing) == [f"sbatch --version as {carol}"]
    assert "sudoers" in missing[f"sbatch --version as {carol}"]["advice"]
    missing = {found["tried"]: found for found in leiden if found["outcome"] == "missing"}
    assert f"list / by SFTP as {alice}" in missing
