"""What the shipped sudo rules and units allow, and whom the daemon becomes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.daemon.acting_world import TAKES, Users, World, acting_daemon, bring, gates
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import REPOSITORY, eventually
from tests.daemon.kinds import Simulated
from tests.testbed.accounts import RULES, SFTP_SERVER

pytestmark = [pytest.mark.slurm, pytest.mark.root, pytest.mark.xdist_group("acting")]


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


@pytest.mark.root
@pytest.mark.parametrize("name", ["run-as-sudo.conf", "run-openpbs.conf"])
def test_the_shipped_units_leave_pbs_iff_what_it_needs(name: str) -> None:
    """It is root, and takes a port below 1024."""
    if os.geteuid() != 0:
        pytest.skip("becoming root with few capabilities needs root")
    text = (REPOSITORY / "systemd" / name).read_text()
    kept = re.findall(r"CAP_([A-Z_]+)", text)
    assert "NoNewPrivileges=no" in text and {"SETUID", "SETGID"} <= set(kept)
    bind = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 1023))"
    for without, works in (("", True), ("NET_BIND_SERVICE", False)):
        caps = ",".join(f"+{cap.lower()}" for cap in kept if cap != without)
        words = ("setpriv", f"--bounding-set=-all,{caps}", sys.executable, "-c", bind)
        assert (subprocess.run(words, check=False, capture_output=True).returncode == 0) is works


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
    eventually(lambda: not gates(people), "the gates are gone")
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
    status = Path(f"/proc/{site.pid}/status").read_text()
    assert "NoNewPrivs:\t1" in status
    assert f"CapBnd:\t{0b11100111:016x}" in status.lower().replace("capbnd", "CapBnd")


def test_the_daemon_is_root_only_where_that_is_asked_for(world: World, make_site: MakeSite) -> None:
    site = make_site(Simulated())
    site.configure({"allow_root": False})
    done = site.cli("serve", "--config", str(site.config), seconds=60)
    assert done.returncode == 1 and "`allow_root: true`" in done.stderr
    acting = acting_daemon(world, make_site, "root-uid", {"delft": "local"})
    acting.site.config.chmod(0o644)
    done = acting.ask("svc", "serve", "--config", str(acting.site.config))
    assert done.returncode == 1 and "needs a daemon that is root" in done.stderr
