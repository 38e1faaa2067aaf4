"""Submitting: the command and its script, adopting, and what qsub answers."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.openpbs import commands, operations
from metabroker.clusters.openpbs.commands import PbsIdentity
from metabroker.clusters.openpbs.own_reservations import OwnReservations
from metabroker.clusters.port import ComponentRequest, ReserveRequest, UnknownOutcome
from metabroker.submission.shape import Shape
from tests.clusters.gate.making import order
from tests.clusters.refusals import refused
from tests.clusters.slurm.drive import TOKEN, Answer, Told, drive, failed, said

from .recorded import case
from .test_reserving import known, shown

WHO = PbsIdentity("mbsvc")
ORDER = replace(order(Path("/work"), patience=None), seconds=601)
FIND = f"qselect -x -u mbsvc -N {TOKEN}"
NO_HISTORY = said("", "qselect: PBS is not configured to maintain job history \n")


def submit(
    answers: list[Answer],
    order: ComponentRequest = ORDER,
    who: PbsIdentity = WHO,
    own: OwnReservations | None = None,
) -> tuple[Told, str]:
    told = Told()
    submitting = operations.submit(
        who, order, b"#!/bin/sh\ntrue\n", own or OwnReservations("mbsvc")
    )
    found = drive(submitting, answers, told)
    return told, found.native_id


def argv(order: ComponentRequest = ORDER, who: PbsIdentity = WHO) -> str:
    return " ".join(submit([said("7.pbsa\n")], order, who)[0].commands[-1].argv)


def test_the_command() -> None:
    assert argv() == (
        f"qsub -f -C  -m n -N {TOKEN} -S /bin/sh -r n -o /dev/null -e /dev/null "
        "-l select=16:ncpus=1 -l place=free -l walltime=601"
    )


def test_what_the_configuration_says() -> None:
    who = PbsIdentity("mbsvc", "workq", "acct", "proj", "mem=2gb")
    assert argv(who=who).endswith(
        "-l select=16:ncpus=1:mem=2gb -l place=free -l walltime=601 -A acct -P proj -q workq"
    )


@pytest.mark.parametrize(
    ("native", "shape", "unit", "words"),
    [
        ("--nodes=2", Shape(), 1, "select=2:ncpus=8:mpiprocs=8 -l place=scatter"),
        ("--nodes=1", Shape(), 1, "select=1:ncpus=16:mpiprocs=16 -l place=scatter"),
        ("--nodes=3", Shape(2), 1,
         "select=2:ncpus=6:mpiprocs=3+1:ncpus=4:mpiprocs=2 -l place=scatter"),
        ("--ntasks-per-node=6", Shape(), 1,
         "select=2:ncpus=6:mpiprocs=6+1:ncpus=4:mpiprocs=4 -l place=scatter"),
        ("--nodes=2 --gpus-per-node=3", Shape(gpus=6, memory=500), 1,
         "select=2:ncpus=8:mpiprocs=8:mem=500mb:ngpus=3 -l place=scatter"),
        ("--nodes=2 --ntasks-per-node=8", Shape(exclusive=True), 1,
         "select=2:ncpus=8:mpiprocs=8 -l place=scatter:excl"),
        ("--nodes=2", Shape(), 8, "select=2:ncpus=8:mpiprocs=8 -l place=scatter:excl"),
    ],
)  # fmt: skip
def test_on_how_many_nodes_is_told_by_chunks(
    native: str, shape: Shape, unit: int, words: str
) -> None:
    asked = replace(ORDER, native=tuple(native.split()), shape=shape)
    assert f" -l {words} -l walltime" in argv(asked, PbsIdentity("mbsvc", unit=unit))
    assert "--nodes" not in argv(asked)


@pytest.mark.parametrize(
    ("shape", "unit", "chunk", "words"),
    [
        (Shape(8), 1, None, "select=2:ncpus=8 -l place=free"),
        (Shape(8, memory=500), 1, "mem=2gb:fast=True",
         "select=2:ncpus=8:mem=500mb:fast=True -l place=free"),
        (Shape(4, memory_per_cpu=100, gpus_per_task=2, exclusive=True), 1, None,
         "select=4:ncpus=4:mem=400mb:ngpus=2 -l place=free:excl"),
        (Shape(4, gpus=6), 1, None, "select=2:ncpus=4:ngpus=2+2:ncpus=4:ngpus=1 -l place=free"),
        (Shape(8, gpus=1), 1, None, "select=1:ncpus=8:ngpus=1+1:ncpus=8 -l place=free"),
        (Shape(4, memory=500), 10, None,
         "select=2:ncpus=10:mpiprocs=2:mem=500mb -l place=scatter:excl"),
        (Shape(4, gpus=3), 12, None,
         "select=1:ncpus=12:mpiprocs=3:ngpus=2+1:ncpus=12:mpiprocs=1:ngpus=1 "
         "-l place=scatter:excl"),
    ],
)  # fmt: skip
def test_a_chunk_for_each_task_with_what_it_needs(
    shape: Shape, unit: int, chunk: str | None, words: str
) -> None:
    line = argv(replace(ORDER, shape=shape), PbsIdentity("mbsvc", chunk=chunk, unit=unit))
    assert f"-l {words} -l walltime" in line
    request = ReserveRequest(TOKEN, 16, 600, ORDER.processors // shape.cpus_per_task, shape)
    reserving = commands.reserve(PbsIdentity("mbsvc", chunk=chunk, unit=unit), request, 0.0, 8)
    assert f"-l {words}" in " ".join(reserving.argv)


def test_a_signal_is_the_wrappers_to_send() -> None:
    line = argv(replace(ORDER, native=("-p5", "--signal=B:USR2@30")), PbsIdentity("mb"))
    assert "-p5" in line and not any("signal" in word for word in line)


def test_users_own_options_come_first_and_ours_win() -> None:
    who = PbsIdentity("mbsvc", "workq", "acct")
    line = argv(replace(ORDER, native=("-qlong", "-p5", "-Ame")), who)
    assert line.startswith(f"qsub -f -C  -m n -qlong -p5 -Ame -N {TOKEN}")
    assert "workq" not in line and "acct" not in line


def test_into_a_reservation_by_its_queues_short_name() -> None:
    order = replace(ORDER, reservation=True, native=("-qlong",))
    told, _ = submit([shown(), said("7.pbsa\n")], order, PbsIdentity("mbsvc", "workq"))
    assert told.lines[0] == "pbs_rstat -F"
    assert told.lines[1].endswith("-q R112")


def test_into_a_reservation_that_is_known_without_asking_for_it() -> None:
    order, own = replace(ORDER, reservation=True), known()
    told, _ = submit([said("7.pbsa\n")], order, own=own)
    assert len(told.lines) == 1 and told.lines[0].endswith("-q R112")
    # It is another one by now.
    gone = failed("qsub: Unknown queue\n", 170)
    told, _ = submit([gone, shown(), said("7.pbsa\n")], order, own=own)
    assert told.lines[1] == "pbs_rstat -F"
    assert own.of(TOKEN) is None
    with refused(Cause.LOST):
        submit([gone, said()], order, own=known())
    with refused(Cause.BUSY):
        submit([failed("qsub: try again\n", 104)], order, own=known())


def test_a_reservation_that_is_gone() -> None:
    order = replace(ORDER, reservation=True)
    for listed in (said(), shown(owner="mallory"), shown(name="other")):
        with refused(Cause.LOST):
            submit([listed], order)


def test_the_script_writes_its_outputs_where_they_belong(tmp_path: Path) -> None:
    folder = tmp_path / "it's $(touch owned)"
    folder.mkdir()
    for error in (None, str(folder / "err")):
        order = replace(ORDER, chdir=str(folder), output=str(folder / "out;x"), error=error)
        told = Told()
        script = b"#!/bin/sh\npwd; echo $PBS_O_WORKDIR; echo wrong >&2\n"
        drive(
            operations.submit(WHO, order, script, OwnReservations("mbsvc")),
            [said("7.pbsa\n")],
            told,
        )
        subprocess.run(["/bin/sh"], input=told.commands[0].stdin, check=True, cwd="/", timeout=20)
    twice = f"{folder}\n{folder}\n"
    assert (folder / "out;x").read_text() == f"{twice}wrong\n{twice}"
    assert (folder / "err").read_text() == "wrong\n"
    assert sorted(path.name for path in folder.iterdir()) == ["err", "out;x"]


def test_adopting() -> None:
    again = replace(ORDER, again=True)
    known = said(case("20/29").stdout.replace("mb-run", TOKEN).replace("pbsal@", "mbsvc@"))
    told, native = submit([said("37.pbsa\n"), known], again)
    assert native == "37.pbsa"
    assert told.lines == [FIND, "qstat -E -x -f -F dsv 37.pbsa"]
    told, native = submit([said(), said("7.pbsa\n")], again)
    assert (native, told.lines[0]) == ("7.pbsa", FIND)


def test_without_history_live_jobs_are_looked_for_apart() -> None:
    again = replace(ORDER, again=True)
    known = said(case("20/29").stdout.replace("mb-run", TOKEN).replace("pbsal@", "mbsvc@"))
    told, native = submit([NO_HISTORY, said("37.pbsa\n"), known], again)
    assert told.lines == [FIND, f"qselect -u mbsvc -N {TOKEN}", "qstat -E -f -F dsv 37.pbsa"]
    assert native == "37.pbsa"
    assert submit([NO_HISTORY, said(), said("7.pbsa\n")], again)[1] == "7.pbsa"


def test_somebody_elses_job_of_that_name_is_not_adopted() -> None:
    other = said(case("20/29").stdout.replace("mb-run", TOKEN))
    again = replace(ORDER, again=True)
    assert submit([said("37.pbsa\n"), other, said("7.pbsa\n")], again)[1] == "7.pbsa"


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("10/08", Cause.INVALID),  # unknown resource
        ("10/15", Cause.INVALID),  # over the queue's limit
        ("10/16", Cause.INVALID),  # unknown queue
        ("10/17", Cause.UNREACHABLE),
        ("10/19", Cause.BUSY),  # queue not enabled
        ("10/20", Cause.DENIED),
        ("10/22", Cause.DENIED),
        ("10/35", Cause.INVALID),
        ("10/37", Cause.DENIED),  # root
        ("50/13", Cause.DENIED),
        ("70/06", Cause.UNREACHABLE),
        ("70/24", Cause.UNREACHABLE),
        ("70/38", Cause.UNREACHABLE),
    ],
)
def test_recorded_refusals(name: str, cause: Cause) -> None:
    with refused(cause) as caught:
        submit([case(name).completed])
    assert caught.value.detail.startswith("qsub: ")


def test_an_answer_without_a_number_is_a_doubt() -> None:
    with pytest.raises(Garbled):
        submit([said("submitted\n")])
    with pytest.raises(UnknownOutcome):
        submit([said(rc=163)])


@pytest.mark.parametrize(
    ("processors", "select"),
    [
        (48, "1:ncpus=48:mpiprocs=48:mem=2gb"),
        (96, "2:ncpus=48:mpiprocs=48:mem=2gb"),
        (60, "1:ncpus=48:mpiprocs=48:mem=2gb+1:ncpus=48:mpiprocs=12:mem=2gb"),
        (5, "1:ncpus=48:mpiprocs=5:mem=2gb"),
    ],
)
def test_whole_nodes_have_as_many_places_as_were_asked_for(processors: int, select: str) -> None:
    who = PbsIdentity("mbsvc", chunk="mem=2gb", unit=48)
    line = argv(replace(ORDER, processors=processors), who)
    assert f"-l select={select} -l place=scatter:excl " in line


def test_options_of_the_cluster_come_before_the_users_own() -> None:
    who = PbsIdentity("mbsvc", native=("-lsoftware=matlab",))
    assert argv(replace(ORDER, native=("-p5",)), who).startswith(
        "qsub -f -C  -m n -lsoftware=matlab -p5 "
    )
