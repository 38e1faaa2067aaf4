"""Reservations for tasks of several processors: on nodes that are named, read again."""

from __future__ import annotations

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.port import ReserveRequest
from metabroker.clusters.slurm import operations
from metabroker.clusters.slurm.commands import SlurmIdentity
from metabroker.clusters.slurm.parsing import NodeLine, SlurmReservation
from metabroker.clusters.slurm.shaped import kept
from metabroker.clusters.transports.base import Completed
from metabroker.submission.shape import Shape
from tests.clusters.refusals import refused

from .drive import TOKEN, Answer, Told, drive, failed, said

LIST = "scontrol -o show reservation"
SHOW = f"scontrol -o show reservation {TOKEN}"
DELETE = f"scontrol delete ReservationName={TOKEN}"
CREATED = said(f"Reservation created: {TOKEN}\n")
NONE = said("No reservations in the system\n")


def nodes(*idle: int, total: int = 12, gpus: int = 0, threads: int = 1) -> list[NodeLine]:
    return [
        NodeLine(f"n{i}", "idle", total - n, n, 0, total, "batch", True, True, threads, 1000, gpus)
        for i, n in enumerate(idle, 1)
    ]


def shown(cores: dict[str, int], name: str = TOKEN, *, told: bool = True) -> Completed:
    total = sum(cores.values())
    each = " ".join(f"NodeName={n} CoreIDs=0-{c - 1}" for n, c in cores.items()) if told else ""
    return said(
        f"ReservationName={name} StartTime=1795244534 EndTime=1795248134 "
        f"Nodes={','.join(cores)} NodeCnt={len(cores)} CoreCnt={total} Features=(null) "
        f"PartitionName=batch Flags=SPEC_NODES {each} TRES=cpu={total} Users=mbsvc State=ACTIVE\n"
    )


def reserve(
    answers: list[Answer],
    rooms: list[NodeLine],
    tasks: int,
    shape: Shape,
    unit: int = 1,
    version: str = "22.05.8",
) -> list[str]:
    told = Told()
    who = SlurmIdentity("mbsvc", "batch", unit=unit)
    request = ReserveRequest(TOKEN, tasks * shape.cpus_per_task, 600, tasks, shape)
    drive(operations.reserve(who, request, rooms, version), answers, told)
    return told.lines


def coming(nodes: str, start: float, end: float, cores: int) -> SlurmReservation:
    count = len(nodes.split(","))
    return SlurmReservation(
        "maint", start, end, nodes, count, cores, cores, "INACTIVE", "MAINT", "root", "batch"
    )


@pytest.mark.parametrize(
    ("start", "end", "counts"),
    [(300, 900, True), (-50, 10, True), (600, 900, False), (700, 900, False), (-90, 0, False)],
)
def test_what_comes_before_a_reservation_would_end_is_kept_too(
    start: float, end: float, counts: bool
) -> None:
    rooms, there = nodes(12, 12), 1_795_244_534.0
    found = kept([coming("n1", there + start, there + end, 4)], rooms, (there, there + 600))
    assert found == ({"n1": 4} if counts else {})
    assert kept([coming("n1", there + start, there + end, 4)], rooms) == {}


def create(where: str) -> str:
    return (
        f"scontrol create reservation ReservationName={TOKEN} StartTime=now Duration=10 "
        f"Users=mbsvc {where} PartitionName=batch"
    )


def test_the_fewest_nodes_on_which_whole_tasks_fit_are_named_with_their_cores() -> None:
    made = shown({"n2": 8, "n4": 4})
    lines = reserve([NONE, CREATED, made], nodes(3, 9, 3, 6), 3, Shape(4))
    assert lines == [LIST, create("Nodes=n2,n4 CoreCnt=8,4"), SHOW]


def test_later_releases_are_told_a_sum_and_use_up_the_first_nodes() -> None:
    made = shown({"n2": 9, "n4": 4})
    rooms = nodes(3, 9, 3, 6)
    lines = reserve([NONE, CREATED, made], rooms, 3, Shape(4), version="24.11.5")
    assert lines == [LIST, create("Nodes=n2,n4 CoreCnt=13"), SHOW]


@pytest.mark.parametrize(
    ("version", "first", "said_no", "second"),
    [
        ("22.05.8", "8,4", "Core count for reservation node list is not consistent!", "13"),
        ("23.02.1", "13", "Core count for reservation node list is not consistent!", "8,4"),
        ("", "8,4", "Using a comma separated array for CoreCnt is no longer valid.", "13"),
    ],
)
def test_a_release_that_knows_the_other_form(
    version: str, first: str, said_no: str, second: str
) -> None:
    answers: list[Answer] = [NONE, failed(f"scontrol: error: {said_no}\n"), CREATED]
    rooms = nodes(3, 9, 3, 6)
    made = shown({"n2": 9, "n4": 4})
    lines = reserve([*answers, made], rooms, 3, Shape(4), version=version)
    assert lines[1:3] == [create(f"Nodes=n2,n4 CoreCnt={form}") for form in (first, second)]


def test_of_one_node_the_cores_are_all_that_there_are() -> None:
    made = shown({"n2": 8}, told=False)
    assert reserve([NONE, CREATED, made], nodes(7, 9), 1, Shape(8))[1] == create(
        "Nodes=n2 CoreCnt=8"
    )


def test_two_threads_on_each_core() -> None:
    made = shown({"n1": 4})
    assert reserve([NONE, CREATED, made], nodes(9, threads=2), 1, Shape(8))[1] == create(
        "Nodes=n1 CoreCnt=4"
    )


@pytest.mark.parametrize("shape", [Shape(4, memory=900), Shape(4, exclusive=True)])
def test_memory_and_nodes_of_ones_own_are_had_by_whole_idle_nodes(shape: Shape) -> None:
    made = shown({"n2": 12})
    lines = reserve([NONE, CREATED, made], nodes(11, 12, 11), 3, shape)
    assert lines == [LIST, create("Nodes=n2"), SHOW]


def test_so_are_gpus_on_as_many_nodes_as_have_them() -> None:
    made = shown({"n1": 12, "n2": 12})
    lines = reserve([NONE, CREATED, made], nodes(12, 12, 12, gpus=4), 1, Shape(gpus=8))
    assert lines[1] == create("Nodes=n1,n2")


def test_nodes_in_other_reservations_are_not_taken_whole_and_their_cores_not_twice() -> None:
    other = shown({"n1": 4}, "maintenance")
    lines = reserve([other, CREATED, shown({"n2": 12})], nodes(12, 12), 1, Shape(exclusive=True))
    assert lines[1] == create("Nodes=n2")  # Slurm would give it n1, silently
    lines = reserve([other, CREATED, shown({"n1": 8})], nodes(12), 1, Shape(8))
    assert lines[1] == create("Nodes=n1 CoreCnt=8")


def test_jobs_on_a_node_may_be_those_of_its_reservation_or_others() -> None:
    """Of 12 processors 4 are reserved, and 4 in use: 8 are left, or 4. Slurm knows it."""
    other, busy = shown({"n1": 4}, "r"), failed("Requested nodes are busy\n")
    rooms = nodes(8, 4)
    lines = reserve([other, CREATED, shown({"n1": 8})], rooms, 2, Shape(4))
    assert lines[1:] == [create("Nodes=n1 CoreCnt=8"), SHOW]
    lines = reserve([other, busy, CREATED, shown({"n1": 4, "n2": 4})], rooms, 2, Shape(4))
    assert lines[2:] == [create("Nodes=n1,n2 CoreCnt=4,4"), SHOW]


def test_cores_that_are_not_told_count_by_their_sum() -> None:
    rooms = nodes(8, 8)
    reserve([NONE, CREATED, shown({"n1": 8, "n2": 4}, told=False)], rooms, 3, Shape(4))
    with refused(Cause.OWN, "not the one asked for"):
        more = shown({"n1": 9, "n2": 4}, told=False)
        reserve([NONE, CREATED, more, said("")], rooms, 3, Shape(4))


@pytest.mark.parametrize(
    ("idle", "shape"),
    [((7, 7), Shape(8)), ((12, 11), Shape(8, exclusive=True)), ((12, 12), Shape(gpus=1))],
)
def test_processors_on_which_no_task_fits_are_a_no(idle: tuple[int, ...], shape: Shape) -> None:
    with refused(Cause.OWN, "no nodes are idle that have room"):
        reserve([NONE], nodes(*idle), 2, shape)


def test_what_was_made_otherwise_is_deleted() -> None:
    made = shown({"n1": 6, "n2": 6})  # twelve cores, and room for one task each
    answers: list[Answer] = [NONE, CREATED, made, said("")]
    with refused(Cause.OWN, "not the one asked for"):
        reserve(answers, nodes(8, 8), 3, Shape(4))
    busy = failed("Error creating the reservation: Requested nodes are busy\n")
    with refused(Cause.OWN, "busy"):
        reserve([NONE, busy], nodes(8, 8), 3, Shape(4))


def test_one_that_was_made_before_is_made_anew() -> None:
    mine = shown({"n1": 8})
    lines = reserve([mine, said(""), CREATED, mine], nodes(8, 8), 2, Shape(4))
    assert lines == [LIST, DELETE, create("Nodes=n1 CoreCnt=8"), SHOW]
