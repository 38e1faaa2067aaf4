"""Other times for a reservation of ours. The lines are as 22.05.8 has printed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.port import ReserveRequest, UnknownOutcome
from metabroker.clusters.slurm import moving
from metabroker.clusters.slurm.parsing import NodeLine
from metabroker.clusters.transports.base import CommandMissing, Completed
from tests.clusters.refusals import refused

from .drive import TOKEN, Answer, Told, drive, failed, said

START, END = 1795398186, 1795398286
SOONER = ReserveRequest(TOKEN, 8, 160, start=START - 60.0, move=True)
ALL = "scontrol -o show reservation"
JOBS = "squeue -h -a --local -t R,S,CG,CF -w lab1 -o %A"
UPDATE = f"scontrol update ReservationName={TOKEN}"
MOVE = f"{UPDATE} StartTime=uts{START - 60} EndTime=uts{END} Flags+=IGNORE_JOBS"
BACK = f"{UPDATE} StartTime=uts{START} EndTime=uts{END} Flags+=IGNORE_JOBS"
DONE = said("Reservation updated.\n")


def line(name: str, start: int, end: int, ids: str = "", state: str = "INACTIVE") -> str:
    cores = f"NodeName=lab1 CoreIDs={ids} " if ids else ""
    return (
        f"ReservationName={name} StartTime={start} EndTime={end} Duration=00:01:40 Nodes=lab1 "
        f"NodeCnt=1 CoreCnt=8 Features=(null) PartitionName=batch Flags=  {cores}TRES=cpu=8 "
        f"Users=root Groups=(null) Accounts=(null) Licenses=(null) State={state}\n"
    )


MINE = line(TOKEN, START, END, "0-7")


def shown(*others: str) -> Completed:
    return said(MINE + "".join(others))


def jobs(*uses: tuple[object, str]) -> Completed:
    lines = (f"{number}\x1f{end}\x1f{where}\n" for number, (end, where) in enumerate(uses, 1))
    return said("".join(lines))


def having(processors: str, name: str = "sbatch") -> Completed:
    return said(f"JobId=1 JobName={name} JOB_GRES=(null) {processors} MinCPUsNode=1 Command=(null)")


def nodes(threads: int = 1) -> list[NodeLine]:
    """With as many threads on a core, of which each is a processor or, as here, only one."""
    line = NodeLine("lab1", "idle", 0, 16, 0, 16, "batch", True, True, 1, threads=threads)
    return [line, replace(line, name="lab2"), replace(line, name="lab3")]


def move(
    answers: list[Answer],
    request: ReserveRequest = SOONER,
    of: Sequence[NodeLine] = tuple(nodes()),
) -> list[str]:
    told = Told()
    drive(moving.move(request, of), answers, told)
    return told.lines


def test_it_is_moved_over_what_is_over_by_then_or_on_other_cores_and_keeps_its_end() -> None:
    beside = line("mb-other", START - 60, END, "8-15"), line("mb-before", 0, START - 60, "0-7")
    ends = jobs((START - 60, "(null)"), (START + 1, "(null)"), ("NONE", "(null)"))
    inside = jobs((START - 1, "mb-other"))
    for held in (ends, inside):
        lines = move([shown(*beside), held, DONE, shown(*beside)])
        assert lines == [ALL, JOBS, MOVE, ALL]


@pytest.mark.parametrize("ids", ["7,12", "0-15", ""], ids=["a core", "more", "not told"])
def test_it_is_not_moved_over_another_which_slurm_itself_would_do(ids: str) -> None:
    with refused(Cause.BUSY):
        move([shown(line("mb-other", START - 90, START - 30, ids))])


@pytest.mark.parametrize("printed", ["TRES=cpu=8", "TRES=cpu=16"], ids=["one counts", "both"])
def test_a_jobs_processors_are_told_by_all_threads_of_its_cores(printed: str) -> None:
    """Processors 14 and 15 are core 7 where cores have two threads, however many of these count."""
    of_core_7 = having("  Nodes=lab1 CPU_IDs=14-15 Mem=0 GRES=")
    mine = said(MINE.replace("TRES=cpu=8", printed))
    with refused(Cause.BUSY):
        move([mine, LATER, of_core_7], of=nodes(threads=2))
    with refused(Cause.BUSY):  # the cluster has not been looked at
        move([mine, LATER, of_core_7], of=[])
    assert MOVE in move([mine, LATER, of_core_7, DONE, mine])


LATER = jobs((START - 59, "(null)"))
GONE = failed("slurm_load_jobs error: Invalid job id specified\n")


@pytest.mark.parametrize(
    "told",
    [
        having("  Nodes=lab1 CPU_IDs=7-10 Mem=0 GRES="),
        having("  Nodes=lab2 CPU_IDs=0-7 Mem=0 GRES=   Nodes=lab[1,3] CPU_IDs=0 Mem=0 GRES="),
        having("  Nodes=lab1 CPU_IDs=0-3 Mem=0 GRES=", "a Nodes=lab1 CPU_IDs=9 Mem=0"),
        having("  Nodes=lab1 CPU_IDs=0-3 Mem=0 GRES=", "Nodes=lab1 CPU_IDs=0-99999999 Mem="),
        having("  Nodes=lab2 CPU_IDs=0-3 Mem=0 GRES=", "Nodes=lab2 CPU_IDs=1 Mem=" * 32),
        having("  Nodes=lab2 CPU_IDs=0-3 Mem=0 GRES=", "Nodes=a[1-99999999] CPU_IDs=1 Mem="),
        having("NumCPUs=4"),
        failed("slurm_load_jobs error: Unable to contact slurm controller\n"),
    ],
    ids=[
        "a core",
        "of several nodes",
        "a name that lies",
        "a name that asks for all memory",
        "many lists",
        "a name with all nodes of the world",
        "not told",
        "no answer",
    ],
)
def test_it_is_not_moved_where_a_job_may_have_its_cores(told: Completed) -> None:
    with refused(Cause.BUSY):
        move([shown(), LATER, told])


@pytest.mark.parametrize(
    "told",
    [
        having("  Nodes=lab1 CPU_IDs=64-67 Mem=0 GRES="),
        having("  Nodes=lab2 CPU_IDs=0-3 Mem=0 GRES="),
        GONE,
    ],
    ids=["other cores", "other nodes", "over by now"],
)
def test_it_is_moved_where_jobs_have_other_cores(told: Completed) -> None:
    asked = "scontrol -o -d show job 1"
    assert move([shown(), LATER, told, DONE, shown()]) == [ALL, JOBS, asked, MOVE, ALL]


def test_where_too_many_jobs_would_have_to_be_asked_it_is_not_moved() -> None:
    with refused(Cause.BUSY):
        move([shown(), jobs(*[(START - 59, "(null)")] * 17)])


def test_where_two_were_moved_at_once_it_goes_back() -> None:
    told = Told()
    other = line("mb-other", START - 60, END, "4-11")
    with refused(Cause.BUSY):
        drive(moving.move(SOONER, nodes()), [shown(), jobs(), DONE, shown(other), DONE], told)
    assert told.lines == [ALL, JOBS, MOVE, ALL, BACK]
    with pytest.raises(UnknownOutcome):  # it lies over the other one now
        move([shown(), jobs(), DONE, shown(other), failed("Error updating the reservation: busy")])


def test_going_back_is_to_what_it_had() -> None:
    later = ReserveRequest(TOKEN, 8, 160, start=START + 30.0, move=True)
    assert move([shown(), DONE], later)[1].split()[3] == f"StartTime=uts{START + 30}"


def test_what_has_begun_stays_and_what_is_gone_is_lost() -> None:
    began = START - 60 - 600
    assert move([said(line(TOKEN, began, END - 30, "0-7", "ACTIVE"))]) == [ALL]
    with refused(Cause.LOST):  # it ends before what is asked for
        move([said(line(TOKEN, began, END - 31, "0-7", "ACTIVE"))])
    with refused(Cause.LOST):  # it would stand idle for long
        move([said(line(TOKEN, began - 1, END, "0-7", "ACTIVE"))])
    with refused(Cause.LOST):
        move([said("No reservations in the system\n")])
    with refused(Cause.BUSY):
        move([shown(), jobs(), failed("Error updating the reservation: Requested nodes are busy")])
    with pytest.raises(UnknownOutcome):
        move([shown(), jobs(), DONE, CommandMissing("scontrol")])


def test_its_end_alone_is_set() -> None:
    ends = ReserveRequest(TOKEN, 0, 0, move=True, end=END - 20.0)
    assert move([DONE], ends) == [f"{UPDATE} EndTime=uts{END - 20} Flags+=IGNORE_JOBS"]
