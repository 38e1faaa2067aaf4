"""Clusters whose commands are missing, hang, answer garbage, or do what they are told and then
say nothing: a clear word, nobody else delayed, nothing leaked, nothing twice."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording, until
from tests.daemon.kinds import Slurm
from tests.testbed import SlurmCluster
from tests.testbed.testbed import SYSTEM_PATH

pytestmark = pytest.mark.slurm
Clusters = dict[str, SlurmCluster]
COMMANDS = ("sbatch", "scancel", "scontrol", "sinfo", "squeue")

# Beside the real commands: what the file COMMAND.mode says is done, and once only for `-once`.
FAKE = """#!/bin/sh
real='{real}'
mode=$(cat '{folder}/{command}.mode' 2>/dev/null)
case $mode in *-once) rm '{folder}/{command}.mode' ;; esac
case $mode in
    hang*) exec sleep 300 ;;
    fail*) echo 'fatal: the moon is in the wrong phase' >&2; exit 1 ;;
    garbage*) printf '%s\\n' 'no\\037such' '{{"json": [' ;;
    deaf*) "$real" "$@" >/dev/null 2>&1; exec sleep 300 ;;
    held*)
        cat > '{folder}/{command}.input'; : > '{folder}/{command}.held'
        naps=0
        until [ -e '{folder}/{command}.let' ]; do
            naps=$((naps + 1)); [ $naps -lt 3000 ] || exit 1; sleep 0.05
        done
        "$real" "$@" < '{folder}/{command}.input' > '{folder}/{command}.done' 2>&1 ;;
    mumble*) "$real" "$@" >/dev/null 2>&1; echo 'Hm?' ;;
    strange*) "$real" "$@" | sed 's/RUNNING/TRANSCENDING/; s/PENDING/PONDERING/' ;;
    *) exec "$real" "$@" ;;
esac
"""


class Fakes:
    """The commands of cluster lab, as the broker finds them."""

    def __init__(self, folder: Path, real: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for command in COMMANDS:
            text = FAKE.format(real=real / command, folder=folder, command=command)
            (folder / command).write_text(text)
            (folder / command).chmod(0o755)

    def set(self, command: str, mode: str) -> None:
        (self.folder / f"{command}.mode").write_text(mode)

    def used(self, command: str) -> bool:
        """Whether what was to be done once was done."""
        return not (self.folder / f"{command}.mode").exists()

    def held(self, command: str) -> bool:
        """Whether one is under way and waits."""
        return (self.folder / f"{command}.held").exists()

    def let(self, command: str) -> str:
        """It goes on, to its end; what it said."""
        (self.folder / f"{command}.let").touch()
        said = self.folder / f"{command}.done"
        return eventually(lambda: said.read_text() if said.exists() else "", f"{command} ends")

    def clear(self) -> None:
        for path in self.folder.glob("*.mode"):
            path.unlink()


@pytest.fixture
def faked(clusters: Clusters, make_site: MakeSite) -> tuple[Site, Fakes]:
    site = make_site(Slurm(clusters))
    fakes = Fakes(site.folder / "bin", clusters["lab"].bin)
    path = f"{fakes.folder}:{SYSTEM_PATH}"
    # Some never answer: each of them costs a test so long.
    timeouts = {"command": "4s"}
    site.configure({"timeouts": timeouts, "clusters": {"lab": {"env": {"PATH": path}}}})
    return site, fakes


@pytest.mark.parametrize(
    ("mode", "word"),
    [("missing", "not found"), ("hang", "no answer"), ("garbage", ""), ("fail", "moon")],
)
def test_a_cluster_that_cannot_be_looked_at(
    mode: str, word: str, faked: tuple[Site, Fakes], clusters: Clusters
) -> None:
    site, fakes = faked
    for command in COMMANDS:
        fakes.set(command, mode)
    if mode == "missing":
        shutil.move(fakes.folder, site.folder / "elsewhere")
    site.start()
    eventually(lambda: site.clusters()["delft"]["reachable"], "delft is seen")
    eventually(lambda: site.clusters()["leiden"]["reachable"], "leiden is seen")
    waiting = [site.submit("-n 4 --cluster lab"), site.submit("--on delft:4,lab:4")]
    site.wait_end(site.submit("--on delft:4,leiden:4"), "COMPLETED")
    eventually(lambda: "polled yet" not in site.clusters()["lab"]["error"], "it is looked at")
    eventually(lambda: word in site.clusters()["lab"]["error"], f"the error says {word!r}")
    shown = site.clusters()["lab"]
    assert (shown["reachable"], shown["idle"]) == (False, None)
    assert shown["error"] and "\n" not in shown["error"]
    assert "polled yet" not in shown["error"]
    assert shown["error"][:40] in site.cli("clusters").stdout
    for job in waiting:
        found = site.job(job)
        assert found["state"] == "QUEUED" and "lab" in found["reason"], found["reason"]
    if mode == "missing":
        shutil.move(site.folder / "elsewhere", fakes.folder)
    fakes.clear()
    for job in waiting:
        assert site.wait_end(job, "COMPLETED")["attempts"] == 1
    site.wait_clean()
    assert "Traceback" not in site.log.read_text()


@pytest.mark.parametrize("options", ["--on delft:4,lab:4", "-n 4 --cluster lab"])
@pytest.mark.parametrize("mode", ["deaf-once", "mumble-once", "hang-once", "garbage-once"])
def test_a_submission_whose_answer_is_lost(
    mode: str, options: str, faked: tuple[Site, Fakes]
) -> None:
    """The broker looks for the job before it submits again: there is one, and it runs once."""
    site, fakes = faked
    site.start_and_look()
    fakes.set("sbatch", mode)
    job = site.submit(options)
    found = site.wait_end(job, "COMPLETED")
    assert fakes.used("sbatch")
    assert found["attempts"] == 1
    assert len(site.runs(job)) == len(found["components"])
    site.wait_clean()


@pytest.mark.parametrize("options", ["--on delft:4,lab:4", "-n 4 --cluster lab"])
def test_a_submission_that_outlives_the_daemon(
    options: str, faked: tuple[Site, Fakes], clusters: Clusters
) -> None:
    """The next daemon finds no job and submits; the late one comes too: it must do no harm."""
    site, fakes = faked
    site.start_and_look()
    fakes.set("sbatch", "held-once")
    job = site.submit(f"{options} -o out.%c", recording(f"echo begin; {until('end')}; echo end"))
    eventually(lambda: fakes.held("sbatch"), "sbatch is under way")
    site.kill()
    site.start()
    parts = len(site.job(job)["components"])
    eventually(lambda: len(site.runs(job)) == parts, "the job runs")
    late = int(fakes.let("sbatch").partition(";")[0])
    if parts == 1:  # else it waits in the reservation, which is full
        clusters["lab"].wait_job(str(late))
    (site.work / "end").touch()
    found = site.wait_end(job, "COMPLETED")
    assert found["attempts"] == 1
    assert len(site.runs(job)) == len(found["components"])
    site.wait_clean()
    for component in range(len(found["components"])):
        assert (site.work / f"out.{component}").read_text() == "begin\nend\n"


@pytest.mark.parametrize("mode", ["deaf-once", "fail-once"])
def test_a_reservation_whose_answer_is_lost(mode: str, faked: tuple[Site, Fakes]) -> None:
    """No answer is a refusal; what was reserved all the same is removed."""
    site, fakes = faked
    site.start_and_look("--pause", "before:reserve:lab")
    job = site.submit("--on delft:4,lab:4")
    site.wait_pause()
    # Looks use scontrol too: one of them must not take the fault.
    fakes.set("sinfo", "hang")
    fakes.set("squeue", "hang")
    eventually(lambda: not site.clusters()["lab"]["reachable"], "no look is under way")
    fakes.set("scontrol", mode)
    site.go_on()
    eventually(lambda: fakes.used("scontrol"), "the reservation is asked for")
    fakes.clear()
    found = site.wait_end(job, "COMPLETED")
    assert found["attempts"] == 2
    assert len(site.runs(job)) == 2
    site.wait_clean()


@pytest.mark.parametrize("mode", ["deaf-once", "hang-once", "fail-once"])
def test_a_cancellation_whose_answer_is_lost(mode: str, faked: tuple[Site, Fakes]) -> None:
    site, fakes = faked
    site.start_and_look()
    job = site.submit("--on delft:4,lab:4", recording("exec sleep 600"))
    site.wait_state(job, "RUNNING")
    fakes.set("scancel", mode)
    assert site.cli("cancel", str(job)).returncode == 0
    site.wait_end(job, "CANCELLED")
    site.wait_clean()
    assert fakes.used("scancel")


def test_states_that_nobody_knows_are_shown_and_not_guessed(faked: tuple[Site, Fakes]) -> None:
    site, fakes = faked
    fakes.set("squeue", "strange")
    site.start_and_look()
    job = site.submit("-n 4 --cluster lab", recording(until("end")))
    eventually(
        lambda: "TRANSCENDING" in site.job(job)["components"][0]["detail"],
        "the component shows its cluster's own word",
    )
    (site.work / "end").touch()
    together = site.submit("--on delft:4,lab:4")
    for number in (job, together):
        assert site.wait_end(number, "COMPLETED")["attempts"] == 1
    site.wait_clean()
