"""Jobs belong to their submitters: real Slurm, ordinary users, a service account with its sudo
rules, on this host and over both ways of SSH; and a daemon that is root."""

from __future__ import annotations

import base64
import json
import signal
import sys

import pytest

from tests.daemon.acting import MEET, WHO
from tests.daemon.acting_world import TAKES, Users, World, acting_daemon, bring, gates
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import eventually
from tests.testbed.accounts import open_code

pytestmark = [pytest.mark.slurm, pytest.mark.root, pytest.mark.xdist_group("acting")]


def test_jobs_are_their_submitters_in_every_cluster(by_sudo: Users) -> None:
    people = by_sudo.world.people
    by_sudo.run_everywhere("delft:2,leiden:2,lab:1")
    for who in ("alice", "bob"):
        assert (people.home(who) / "made").stat().st_uid == people.uid(who)
    eventually(lambda: not gates(people), "gates are gone")
    assert not list(people.shared.iterdir())
    for real in by_sudo.world.testbed.clusters.values():
        told = real.run("squeue", "-h", "-t", "all", "-o", "%u").stdout.split()
        assert set(told) == {people.name("alice"), people.name("bob")}
        assert not real.reservations()


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
    eventually(lambda: not gates(people), "gates are gone")


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
    eventually(lambda: not gates(people), "gates are gone")


def test_a_users_job_stands_in_line_in_full_clusters_with_its_files(by_sudo: Users) -> None:
    """As that user, over both ways of SSH."""
    people, site, real = by_sudo.world.people, by_sudo.site, by_sudo.world.testbed.clusters
    bring(people, "alice")
    assert site.cli("drain", "delft").returncode == 0
    full = {name: real[name].submit("-n", str(n)) for name, n in (("leiden", 8), ("lab", 4))}
    waiting = [real[name].submit("-n", "1", "-t1", script="true") for name in full]
    for name, number in full.items():
        real[name].wait_job(number, "RUNNING")
    site.look_at_clusters(anew=True)
    options = ("-n", "3", "--stage-in", "in/secret", "--stage-out", "out")
    job = by_sudo.submit("alice", *options, script=TAKES)
    eventually(lambda: {s["cluster"] for s in site.job(job)["line"] if s["native_id"]} == set(full))
    real["lab"].run("scancel", full["lab"], check=True)
    ended = site.wait_end(job, "COMPLETED", seconds=60)
    assert [part["cluster"] for part in ended["components"]] == ["lab"]
    out = people.home("alice") / f"metabroker-{job}.0" / "out"
    assert out.read_text() == f"{people.name('alice')}\nalice's own\n"
    assert out.stat().st_uid == people.uid("alice")
    real["leiden"].run("scancel", full["leiden"], waiting[0], check=True)
    assert site.cli("resume", "delft").returncode == 0
    eventually(lambda: not gates(people), "gates are gone")


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
    eventually(lambda: not gates(people), "the gates are gone")
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
    with site.changing() as left:
        left["clusters"]["delft"]["users"] = world.users("alice")
    site.signal(signal.SIGHUP)
    eventually(lambda: "users of delft" in site.log.read_text(), "the new users are read")
    assert by_sudo.ask("bob", "release", str(held)).returncode == 0
    job = site.wait_end(held, "FAILED", seconds=60)
    assert "has no account" in job["reason"], job
    assert not (people.home("bob") / "too-late").exists()
    assert by_sudo.ask("bob", "submit", "-n", "1", str(script)).returncode == 1


def test_the_doctor_says_whom_we_may_not_act_for(world: World, make_site: MakeSite) -> None:
    acting = acting_daemon(world, make_site, "sudo", {"delft": "local", "leiden": "ssh"})
    file = acting.site.config
    with acting.site.changing() as fine:
        for cluster in fine["clusters"].values():
            cluster["users"] = world.users("alice", "bob")
    done = acting.ask("svc", "doctor", "--config", str(file), "--run", "--json")
    assert done.returncode == 0, done.stdout
    alice, carol = world.people.name("alice"), world.people.name("carol")
    for cluster in json.loads(done.stdout)["clusters"]:
        said = {found["tried"]: found for found in cluster["findings"]}
        assert said[f"list / by SFTP as {alice}"]["outcome"] == "ok"
        (ran,) = (found for found in cluster["findings"] if found["check"] == "job")
        assert f"ran as {alice}," in ran["said"]
    assert not gates(world.people)

    with acting.site.changing() as wrong:
        wrong["clusters"]["delft"]["users"] = world.users("carol")
        wrong["clusters"]["leiden"]["sftp_server"] = "/usr/bin/true"
    done = acting.ask("svc", "doctor", "--config", str(file), "--json")
    assert done.returncode == 1
    delft, leiden = (c["findings"] for c in json.loads(done.stdout)["clusters"])
    missing = {found["tried"]: found for found in delft if found["outcome"] == "missing"}
    assert list(missing) == [f"sbatch --version as {carol}"]
    assert "sudoers" in missing[f"sbatch --version as {carol}"]["advice"]
    missing = {found["tried"]: found for found in leiden if found["outcome"] == "missing"}
    assert f"list / by SFTP as {alice}" in missing
