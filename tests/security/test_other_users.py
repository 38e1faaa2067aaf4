"""What one local user tries with another's jobs: real Slurm, real users, this host and SSH.

The attacker, bob, makes what he can where all may write, exchanges whatever he is let to, and
leaves scripts that would tell of it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.hostile.kinds import FILES, KINDS
from benchmarks.hostile.users import asks
from tests.daemon.acting import Acting
from tests.daemon.acting_world import (
    SIZES,
    TAKES,
    World,
    acting_daemon,
    bring,
    gates,
    while_it_serves,
)
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import eventually
from tests.testbed.accounts import People

pytestmark = [pytest.mark.slurm, pytest.mark.root, pytest.mark.xdist_group("acting")]

WAYS = {"delft": "local", "leiden": "ssh", "lab": "openssh"}
NEAR = {"delft": "local", "leiden": "local"}
# $1: the folder where all may write, $2: where scripts of his would tell that they have run.
_ATTACK = """
umask 0; cd "$1" || exit 1
trap_in() {
    mkdir -p "$1/work" 2>/dev/null || return
    printf '#!/bin/sh\\nid -un >> %s/owned\\n' "$2" > "$1/script"; chmod 777 "$1/script"
    : > "$1/go"; ln -s "$3" "$1/unfinished-1" 2>/dev/null
}
while :; do
    for gate in .metabroker* .metabroker*/mb-*; do
        case $gate in *.away) continue ;; esac
        test -e "$gate" && test ! -O "$gate" || continue
        mv -T "$gate" "$gate.away" 2>/dev/null && { trap_in "$gate" "$2" "$3"; : > "$2/moved"; }
        mv "$gate/work" "$gate/gone" 2>/dev/null && ln -s "$3" "$gate/work"
        for part in "$gate"/unfinished-*; do
            mv "$part" "$gate/gone" 2>/dev/null && ln -s "$3" "$part"
        done
    done
done
"""
User = tuple[Acting[World], str]


@contextlib.contextmanager
def attacking(people: People, folder: Path, victim: str) -> Iterator[Path]:
    """bob at work; yields the folder where it shows what he has reached."""
    loot = people.folder / "loot"
    loot.mkdir(exist_ok=True)
    loot.chmod(0o777)
    for name in (".metabroker", f".metabroker-{people.name(victim)}"):
        made = people.run("bob", "mkdir", "-m", "777", folder / name)
        assert made.returncode == 0, made.stderr
    words = (*people.words("bob"), "sh", "-c", _ATTACK, "sh", str(folder), str(loot))
    target = str(people.home(victim) / "bin")
    process = subprocess.Popen([*words, target], start_new_session=True)
    try:
        yield loot
        assert process.poll() is None, "bob was at work all the time"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        subprocess.run(["rm", "-rf", loot, *folder.glob(".metabroker*")])


@pytest.fixture(params=["self", "sudo", "root-uid"])
def served(world: World, make_site: MakeSite, request: pytest.FixtureRequest) -> Iterator[User]:
    """A daemon whose users' components meet it in a folder for all; and who the victim is."""
    how = request.param
    acting = acting_daemon(world, make_site, how, NEAR if how == "root-uid" else WAYS)
    with acting.site.changing() as text:
        for cluster in text["clusters"].values():
            cluster["shared_dir"] = str(world.people.shared)
            if how == "self":
                del cluster["users"]
    if how != "root-uid":
        acting.as_service()
    for _ in while_it_serves(acting):
        yield acting, "svc" if how == "self" else "alice"


def attack_a_folder_for_all(acting: Acting[Any], victim: str, clusters: Sequence[str]) -> None:
    """bob is at work where the victim's components meet, and gets nowhere."""
    people, site = acting.world.people, acting.site
    bring(people, victim)
    (people.home(victim) / "bin").mkdir(exist_ok=True)
    with attacking(people, people.shared, victim) as loot:
        on = ",".join(f"{name}:1" for name in clusters)
        files = ("--stage-in", "in/secret", "--stage-out", "out")
        job = acting.submit(victim, "--on", on, *files, script=TAKES)
        single = acting.submit(victim, "-n", "1", "--cluster", clusters[0], script="#!/bin/sh\n")
        for each in (job, single):
            site.wait_end(each, "COMPLETED", seconds=90)
        for component in range(len(clusters)):
            out = people.home(victim) / f"metabroker-{job}.{component}" / "out"
            assert out.read_text() == f"{people.name(victim)}\n{victim}'s own\n"
        assert list(loot.iterdir()) == [], "nothing of bob's has run, and nothing was moved"
        assert list((people.home(victim) / "bin").iterdir()) == []
        mine = list(people.shared.glob(".metabroker-mb-*"))
        eventually(lambda: not any(path.exists() for path in mine), "gates are removed")


def test_nobody_runs_code_or_moves_files_as_another_by_a_folder_for_all(served: User) -> None:
    acting, victim = served
    clusters = list(yaml.safe_load(acting.site.config.read_text())["clusters"])
    attack_a_folder_for_all(acting, victim, clusters)


@pytest.fixture
def by_self(world: World, make_site: MakeSite) -> Iterator[Acting[World]]:
    """A daemon whose jobs are its own, and meet it in their own folders; the wrapper is slow
    between its two steps of a start."""
    acting = acting_daemon(world, make_site, "self", {"delft": "local", "leiden": "ssh"})
    site = acting.site
    slow = site.folder / "slow"
    slow.mkdir()
    (slow / "mv").write_text(
        '#!/bin/sh\n/bin/mv "$@"; code=$?\ncase $* in */run) sleep 1 ;; esac\nexit $code\n'
    )
    (slow / "mv").chmod(0o755)
    with site.changing() as text:
        text["poll_interval"] = "30s"
        for cluster in text["clusters"].values():
            del cluster["users"]
            cluster["env"]["PATH"] = f"{slow}:{cluster['env']['PATH']}"
            cluster["claim"] = "placeholder"
    acting.as_service()
    yield from while_it_serves(acting)


def nothing_runs_where_others_may_write(acting: Acting[Any]) -> None:
    """The service account's own jobs are refused there."""
    people, site = acting.world.people, acting.site
    place = people.folder / "open"
    place.mkdir()
    os.chown(place, people.uid("svc"), -1)
    place.chmod(0o777)
    with attacking(people, place, "svc") as loot:
        for cluster in ("delft", "leiden"):
            options = ("-n", "1", "--cluster", cluster, "-D", str(place))
            job = acting.submit("svc", *options, script="#!/bin/sh\n: > ran\n")
            ended = site.wait_end(job, "FAILED", seconds=60)
            assert f"others may write in {place}" in ended["reason"], ended["reason"]
            assert "shared_dir" in ended["reason"]
        assert list(loot.iterdir()) == [] and not (place / "ran").exists()


def test_in_a_folder_that_others_may_write_to_nothing_runs(by_self: Acting[World]) -> None:
    nothing_runs_where_others_may_write(by_self)


def test_a_start_is_told_when_it_was_and_where(by_self: Acting[World]) -> None:
    """The job waits in its cluster's own queue, and its gate was made before that."""
    people, site = by_self.world.people, by_self.site
    delft = by_self.world.testbed["delft"]
    taken = delft.submit("-n", "8", script="#!/bin/sh\nsleep 600\n")
    eventually(lambda: [j.state for j in delft.jobs() if j.id == taken] == ["RUNNING"], "runs")
    script = "#!/bin/sh\ndate +%s.%N > began\n"
    job = by_self.submit("svc", "-n", "8", "--cluster", "delft", script=script)
    submitted = site.job(job)["submit_time"]
    eventually(lambda: site.job(job)["components"][0]["native_id"], "it is in its queue")
    time.sleep(10)
    delft.run("scancel", taken)
    ended = site.wait_end(job, "COMPLETED", seconds=90)
    began = float((people.home("svc") / "began").read_text())
    (component,) = ended["components"]
    assert began - submitted > 9
    for told in (ended["start_time"], component["start_time"]):
        assert abs(told - began) < 5, (told - submitted, began - submitted)
    assert component["hosts"]


def test_what_one_user_does_keeps_nobody_waiting(world: World, make_site: MakeSite) -> None:
    """A small share of `make hostile`, by whose script bob submits."""
    acting = acting_daemon(world, make_site, "sudo", {"delft": "local", "leiden": "ssh"})
    site, people = acting.site, world.people
    with site.changing() as text:
        text["limits"] = {"per_user": {"processors": 6}}
    acting.as_service()
    for _ in while_it_serves(acting):
        jobs = [make() for _share, make in KINDS.values()]
        for job in jobs:
            job["script"] = job["script"].replace(str(FILES), "1000")
        bob = asks(people, "bob", site.socket, jobs)
        numbers = [int(line) for line in bob.communicate(timeout=120)[0].splitlines()]
        assert len(numbers) == len(KINDS)
        hers = acting.submit("alice", "-n", "2", script="#!/bin/sh\nsleep 0.5\n")
        site.wait_end(hers, "COMPLETED", seconds=60)
        for number, job in zip(numbers, jobs, strict=True):
            if "mkfifo" in job["script"]:  # only its time limit ends it
                assert acting.ask("bob", "cancel", str(number)).returncode == 0
                site.wait_end(number, "CANCELLED", seconds=90)
            else:
                site.wait_end(number, "FAILED" if "native" in job else "COMPLETED", seconds=90)


HOSTILE = """#!/bin/sh
gate=$(dirname "$METABROKER_PEERS_FILE")
touch -d 2105-01-01 "$gate/started"
: > "$gate/$(printf 'bad\\377')"
rm -f "$gate/arrived"; mkfifo "$gate/arrived" "$gate/peers"
"""


def test_what_a_job_writes_down_harms_no_other(by_self: Acting[World]) -> None:
    site = by_self.site
    for cluster in ("delft", "leiden"):
        where = ("-n", "1", "--cluster", cluster)
        before = time.time()
        hostile = by_self.submit("svc", *where, script=HOSTILE + "mkfifo $gate/ended\n")
        many = by_self.submit("svc", *where, script=HOSTILE)
        late = site.wait_end(many, "COMPLETED", seconds=60)
        assert before - 2 < late["start_time"] <= late["end_time"] <= time.time() + 2
        site.wait_state(hostile, "RUNNING")
        assert by_self.ask("svc", "cancel", str(hostile)).returncode == 0
        site.wait_end(hostile, "CANCELLED", seconds=60)
    eventually(lambda: not gates(by_self.world.people), "gates are gone")
    assert set(SIZES) >= {"delft", "leiden"}
