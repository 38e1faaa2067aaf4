"""The Slurm cluster behind the port: looks, gates, and what goes wrong in the port's words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.gate import Position
from metabroker.clusters.port import CleanRequest, ClusterRefusal, ReserveRequest, UnknownOutcome
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.transports.base import CommandLost, CommandMissing
from metabroker.clusters.transports.local import LocalTransport
from tests.clusters.gate.making import order
from tests.clusters.refusals import refused

from . import recorded
from .drive import TOKEN, Answer, Told, drive, job, said

OPTIONS = SlurmOptions("root", name="delft", instance="abcdef01", partition="batch")
DONE = said(job("COMPLETED"))
NO_RESERVATIONS = said("No reservations in the system\n")


def cluster(**given: str) -> SlurmCluster:
    return SlurmCluster(replace(OPTIONS, **given), LocalTransport({}))  # type: ignore[arg-type]


def looks(release: str, state: str, jobs: str) -> list[Answer]:
    return [
        said(recorded.squeue(release, jobs)),
        said(recorded.sinfo(release, state)),
        said(recorded.text(release, state, "reservation")),
    ]


def test_the_number_of_commands_of_a_look_does_not_grow_with_jobs() -> None:
    it = cluster()
    told = Told()
    version = recorded.cases("24.11")["version"].completed
    busy = looks("24.11", "reserved-and-running", "pending")
    inside = said()
    first = drive(it.observe(5.0), [*busy, inside, version], told)
    assert (first.commands, first.version, first.taken_at) == (5, "24.11.5", 5.0)
    second = drive(it.observe(6.0), [*busy, inside], Told())
    assert second.commands == 4
    quiet = [said(), said(recorded.sinfo("24.11", "idle")), NO_RESERVATIONS]
    gone = said("Reservation several-users not found\n", rc=1)
    assert drive(it.observe(7.0), [*quiet, gone], Told()).commands == 4
    assert drive(it.observe(8.0), quiet, Told()).commands == 3
    assert [line.split()[0] for line in told.lines] == [
        "squeue", "sinfo", "scontrol", "squeue", "sinfo",
    ]  # fmt: skip


def test_a_reservation_of_others_that_a_listing_leaves_out_is_asked_for() -> None:
    it = cluster()
    busy, inside = looks("24.11", "reserved-and-running", "pending"), said()
    version = recorded.cases("24.11")["version"].completed
    drive(it.observe(5.0), [*busy, inside, version], Told())
    lines = recorded.text("24.11", "reserved-and-running", "reservation").splitlines(keepends=True)
    cut = [*busy[:2], said("".join(lines[:-1]))]
    told = Told()
    with pytest.raises(UnknownOutcome, match="leaves out"):
        drive(it.observe(6.0), [*cut, inside, said(lines[-1])], told)
    name = lines[-1].partition(" ")[0].partition("=")[2]
    assert told.lines[-1] == f"scontrol -o show reservation {name}"
    # What cannot be told is no proof that it is gone, and it is asked for again.
    with pytest.raises(UnknownOutcome):
        drive(it.observe(7.0), [*cut, inside, CommandLost("scontrol")], Told())
    with pytest.raises(UnknownOutcome, match="leaves out"):
        drive(it.observe(8.0), [*cut, inside, said(lines[-1])], Told())
    assert drive(it.observe(9.0), [*busy, inside], Told()).commands == 4


def test_all_that_is_parsed_is_asked_for_with_unix_times() -> None:
    told = Told()
    drive(
        cluster().observe(5.0),
        [*looks("24.11", "reserved-and-running", "ended"), said(), said()],
        told,
    )
    assert all(("SLURM_TIME_FORMAT", "%s") in command.env for command in told.commands)
    assert "-R two-nodes,cores-only,later,beside,several-users" in told.lines[3]


def test_an_unknown_partition() -> None:
    answers = [
        said(),
        said(recorded.sinfo("24.11", "idle")),
        NO_RESERVATIONS,
        said("slurm 24.11.5"),
    ]
    with pytest.raises(ClusterRefusal, match=r"no node belongs to the partition \(nowhere\)"):
        drive(cluster(partition="nowhere").observe(5.0), answers, Told())


@pytest.mark.parametrize("release", recorded.RELEASES)
@pytest.mark.parametrize("trouble", ["controller down", "controller frozen", "no munged"])
def test_a_look_that_fails(release: str, trouble: str) -> None:
    answer = recorded.cases(release)[f"squeue: {trouble}"].completed
    with pytest.raises((ClusterRefusal, UnknownOutcome)):
        drive(cluster().observe(5.0), [answer], Told())


def test_a_lost_a_missing_and_a_garbled_command() -> None:
    it = cluster()
    with pytest.raises(UnknownOutcome, match="no answer within 30 s"):
        drive(it.observe(5.0), [CommandLost("squeue: no answer within 30 s")], Told())
    with refused(Cause.UNREACHABLE, "set `bin` or PATH"):
        drive(it.observe(5.0), [CommandMissing("squeue: not found")], Told())
    with pytest.raises(UnknownOutcome, match="squeue: 1 columns"):
        drive(it.observe(5.0), [said("hello\n")], Told())
    with pytest.raises(UnknownOutcome):
        drive(it.reserve(ReserveRequest(TOKEN, 4, 60)), [CommandLost("scontrol: cut")], Told())


def test_the_gate_is_there_before_the_job_is(tmp_path: Path) -> None:
    it = cluster()
    told = Told()
    operation = it.submit(order(tmp_path))
    command = operation.send(None)
    told.commands.append(command)  # type: ignore[arg-type]
    gate = Path(order(tmp_path).gate)
    assert (gate / Position.WAIT.value).exists()
    assert (gate / "script").read_bytes() == b"#!/bin/sh\n"
    assert b"#!/bin/sh" in told.commands[0].stdin and str(gate).encode() in told.commands[0].stdin


def test_a_folder_that_cannot_be_used_is_a_refusal_and_nothing_is_submitted(
    tmp_path: Path,
) -> None:
    with refused(Cause.INVALID) as caught:
        drive(cluster().submit(order(tmp_path / "gone")), [], Told())
    assert "secret" not in caught.value.detail


def test_cleaning_shuts_the_gate_first_and_says_so_when_the_cluster_does_not_answer(
    tmp_path: Path,
) -> None:
    it = cluster()
    drive(it.submit(order(tmp_path)), [said("7\n")], Told())
    wanted = CleanRequest(TOKEN, order(tmp_path).gate, reservation=False)
    down = recorded.cases("24.11")["squeue: controller down"].completed
    for answer in (down, CommandLost("squeue: no answer")):
        with pytest.raises(UnknownOutcome) as caught:
            drive(it.clean(wanted), [answer], Told())
        assert caught.value.fenced
    assert (Path(wanted.gate or "") / Position.ABORT.value).exists()


def test_a_script_that_has_started_is_not_fenced(tmp_path: Path) -> None:
    it = cluster()
    drive(it.submit(replace(order(tmp_path), barrier_seconds=None)), [said("7\n")], Told())
    gate = Path(order(tmp_path).gate)
    (gate / "go").rename(gate / "run")
    (gate / "started").write_text("n1\n")
    wanted = CleanRequest(TOKEN, str(gate), reservation=False)
    with pytest.raises(UnknownOutcome) as caught:
        drive(it.clean(wanted), [CommandLost("squeue: no answer")], Told())
    assert not caught.value.fenced
    (gate / "ended").write_text("3 \n")
    left = drive(it.clean(wanted), [said(job("FAILED"))], Told())
    assert (left.started, left.exit_code, left.cause) == (True, 3, None)
    it.discard(str(gate))
    assert not gate.exists() and gate.parent.exists()


def ended(folder: Path, record: str) -> CleanRequest:
    """The clean-up of a component whose script has written down its end."""
    wanted = order(folder)
    drive(cluster().submit(replace(wanted, barrier_seconds=None)), [said("7\n")], Told())
    gate = Path(wanted.gate)
    (gate / "go").rename(gate / "run")
    (gate / "started").write_text("n1\n")
    (gate / "ended").write_text(record)
    return CleanRequest(TOKEN, str(gate), reservation=False)


def test_a_job_whose_script_has_just_ended_is_left_to_end_by_itself(tmp_path: Path) -> None:
    told = Told()
    answers: list[Answer] = [said(job(s)) for s in ("RUNNING", "RUNNING", "COMPLETING")]
    left = drive(cluster().clean(ended(tmp_path, "0 signalled\n")), [*answers, DONE], told)
    assert (left.exit_code, left.cause) == (0, None)
    assert [line.split()[0] for line in told.lines] == ["squeue"] * 4


def test_a_job_that_is_cancelled_since_its_script_has_ended_was_not_killed(tmp_path: Path) -> None:
    """Its controller has not heard of that, and says CANCELLED then; also if that is seen by a
    later try only."""
    wanted, late = ended(tmp_path, "0 signalled\n"), [said(job("RUNNING"))] * 6
    left = drive(cluster().clean(wanted), [*late, said(), said(job("CANCELLED"))], Told())
    assert (left.exit_code, left.cause) == (0, None)
    it = cluster()
    for again in range(2):
        with pytest.raises(UnknownOutcome):
            answers = late if not again else []
            drive(it.clean(wanted), [*answers, CommandLost("no answer")], Told())
    assert drive(it.clean(wanted), [said(job("CANCELLED"))], Told()).cause is None


@pytest.mark.parametrize(
    ("state", "said_why"),
    [("OUT_OF_MEMORY", "OUT_OF_MEMORY: OutOfMemory"), ("CANCELLED", "CANCELLED"), ("FAILED", "")],
)
def test_why_it_was_killed_is_told_by_its_cluster(
    tmp_path: Path, state: str, said_why: str
) -> None:
    line = job(state).replace("None", "OutOfMemory" if state == "OUT_OF_MEMORY" else "None")
    left = drive(cluster().clean(ended(tmp_path, "137 signalled\n")), [said(line)], Told())
    assert (left.cause, left.detail) == (Cause.KILLED, said_why)


def test_of_one_that_the_broker_has_ended_its_cluster_tells_nothing_more(tmp_path: Path) -> None:
    """Also if that is seen by a later try only."""
    wanted, it = ended(tmp_path, "0\n"), cluster()
    (Path(wanted.gate or "") / "ended").unlink()
    with pytest.raises(UnknownOutcome):
        drive(it.clean(wanted), [said(job("RUNNING")), CommandLost("no answer")], Told())
    left = drive(it.clean(wanted), [said(job("CANCELLED"))], Told())
    assert (left.cause, left.detail) == (Cause.KILLED, "")


@pytest.mark.parametrize("seen", ["COMPLETING", "CANCELLED"])
def test_a_job_that_somebody_else_has_cancelled_before_was_killed(
    tmp_path: Path, seen: str
) -> None:
    """Its controller knows of that from when it is asked for it."""
    answers: list[Answer] = [said(job("CANCELLED"))]
    if seen == "COMPLETING":  # for so long that it is cancelled once more
        answers = [*[said(job(seen))] * 6, said(), *answers]
    left = drive(cluster().clean(ended(tmp_path, "0 signalled\n")), answers, Told())
    assert left.cause is Cause.KILLED
