"""Nodes whose cores have two threads, of which both are processors, or only one (`CPUs` in
slurm.conf is then the number of cores). Lines as 22.05.8, 24.11.5 and 26.05.2 have printed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.port import ReserveRequest
from metabroker.clusters.slurm import operations, parsing
from metabroker.clusters.slurm.commands import SlurmIdentity
from metabroker.clusters.slurm.cores import counted
from metabroker.clusters.slurm.parsing import NodeLine
from metabroker.clusters.slurm.snapshot import SlurmPoll, snapshot
from metabroker.clusters.transports.base import Completed
from metabroker.submission.shape import Shape
from tests.clusters.refusals import refused

from .drive import TOKEN, Answer, Told, drive, failed, said

WHO = SlurmIdentity("mbsvc", "batch")
NODES = """\
half1|idle|0/4/0/4|batch*|up|4|1|4|2|65536|(null)
half2|idle|0/4/0/4|batch*|up|4|1|4|2|65536|(null)
full1|idle|0/8/0/8|batch*|up|8|1|4|2|65536|(null)
full2|idle|0/8/0/8|batch*|up|8|1|4|2|65536|(null)
"""
HALF, FULL = "half", "full"


def nodes(kind: str) -> list[NodeLine]:
    found = parsing.nodes(NODES.replace("|", "\x1f"))
    return [node for node in found if node.name.startswith(kind)]


def shown(cores: int, processors: int, where: str, each: str = "") -> str:
    return (
        f"ReservationName={TOKEN} StartTime=1795244534 EndTime=1795248134 Duration=01:00:00 "
        f"Nodes={where} NodeCnt=1 CoreCnt={cores} Features=(null) PartitionName=batch Flags= "
        f"{each} TRES=cpu={processors} Users=mbsvc Groups=(null) State=ACTIVE\n"
    )


def test_how_many_processors_a_core_is() -> None:
    assert [(n.processors_per_core, n.threads) for n in nodes("")] == [(1, 2)] * 2 + [(2, 2)] * 2
    large = "big1|idle|0/2048/0/2048|batch*|up|2K|1|1K|2|65536|(null)\n"
    (node,) = parsing.nodes(large.replace("|", "\x1f"))
    assert (node.total, node.processors_per_core) == (2048, 2)
    odd = "n1|idle|0/4/0/4|batch*|up|4|0|0|2|65536|(null)\n"  # tells of no cores
    (node,) = parsing.nodes(odd.replace("|", "\x1f"))
    assert node.processors_per_core == 2


@pytest.mark.parametrize(
    ("kind", "version", "processors", "cores", "told"),
    [
        (HALF, "22.05.8", 4, 4, 8),  # 22.05 counts all threads
        (HALF, "24.11.5", 4, 4, 4),
        (HALF, "26.05.2", 3, 3, 3),
        (FULL, "22.05.8", 8, 4, 8),
        (FULL, "26.05.2", 5, 3, 6),
    ],
)
def test_as_many_cores_are_reserved_as_the_processors_need(
    kind: str, version: str, processors: int, cores: int, told: int
) -> None:
    order = ReserveRequest(TOKEN, processors, 600)
    asked = Told()
    answers = [said(f"Reservation created: {TOKEN}\n"), said(shown(cores, told, f"{kind}1"))]
    drive(operations.reserve(WHO, order, nodes(kind), version), answers, asked)
    assert f"CoreCnt={cores}" in asked.lines[0]


@pytest.mark.parametrize(
    ("kind", "idle", "tasks", "of_each", "cores"),
    [(HALF, 4, 3, 2, (4, 2)), (FULL, 5, 2, 4, (2, 2))],
)
def test_shapes_are_laid_out_by_what_cores_are(
    kind: str, idle: int, tasks: int, of_each: int, cores: tuple[int, int]
) -> None:
    order = ReserveRequest(TOKEN, tasks * of_each, 600, tasks, Shape(of_each))
    rooms = [replace(node, idle=idle, allocated=node.total - idle) for node in nodes(kind)]
    ids = " ".join(f"NodeName={kind}{n} CoreIDs=0-{count - 1}" for n, count in enumerate(cores, 1))
    made = shown(sum(cores), 2 * sum(cores), f"{kind}[1-2]", ids)
    asked = Told()
    answers = [said("No reservations in the system\n"), said("Reservation created\n"), said(made)]
    drive(operations.reserve(WHO, order, rooms, "22.05.8"), answers, asked)
    assert asked.lines[1].endswith(
        f"Nodes={kind}1,{kind}2 CoreCnt={cores[0]},{cores[1]} PartitionName=batch"
    )


@pytest.mark.parametrize(
    ("kind", "told", "processors"),
    [(HALF, 4, 2), (HALF, 2, 2), (FULL, 4, 4)],
    ids=["half, 22.05", "half, since 24.11", "full"],
)
@pytest.mark.parametrize("each", [True, False], ids=["cores told", "cores not told"])
def test_what_a_reservation_keeps_is_counted_in_processors(
    kind: str, told: int, processors: int, each: bool
) -> None:
    ids = f"NodeName={kind}1 CoreIDs=0-1" if each else ""
    rooms = nodes(kind)
    (made,) = parsing.reservations(shown(2, told, f"{kind}1", ids).replace(TOKEN, "others"))
    made = counted(made, rooms)
    assert made.processors == processors
    seen = snapshot(SlurmPoll(1795244600.0, rooms, [], [made]), None, "mb-abcdef01-")
    assert seen.usable - seen.busy == sum(node.total for node in rooms) - processors


def test_of_nodes_of_several_kinds_each_core_counts_as_its_nodes_do() -> None:
    each = "NodeName=half1 CoreIDs=0-1 NodeName=full1 CoreIDs=0-2"
    (told,) = parsing.reservations(shown(5, 10, "half1,full1", each))
    assert counted(told, nodes("")).processors == 2 + 6
    assert counted(replace(told, cores={}), nodes("")).processors == 5
    assert counted(told, []).processors == 10  # of nodes that nobody knows


# A partition of one1 (a core is one processor) and full1 (two), as Slurm fills them in that order.
MIXED = NODES.replace("half1", "one1").replace("|4|1|4|2|", "|4|1|4|1|", 1)
DELETED, CREATED = said(), said("Reservation created\n")
BUSY = failed("Error creating the reservation: Requested nodes are busy\n")


def mixed() -> list[NodeLine]:
    found = parsing.nodes(MIXED.replace("|", "\x1f"))
    return [node for node in found if node.name in ("one1", "full1")]


def made(of_one: int, of_full: int, state: str = "ACTIVE") -> Completed:
    """So many cores of each."""
    counts = {name: n for name, n in (("one1", of_one), ("full1", of_full)) if n}
    each = " ".join(f"NodeName={name} CoreIDs=0-{n - 1}" for name, n in counts.items())
    text = shown(of_one + of_full, of_one + 2 * of_full, ",".join(counts), each)
    return said(text.replace("ACTIVE", state))


def reserve_mixed(
    processors: int, answers: Sequence[Answer], start: float | None = None
) -> list[str]:
    told = Told()
    order = ReserveRequest(TOKEN, processors, 600, start=start)
    drive(operations.reserve(WHO, order, mixed(), "24.11.5"), answers, told)
    words = [line.split() for line in told.lines]
    return [word for line in words for word in line if word.startswith(("CoreCnt=", "delete"))]


@pytest.mark.parametrize("start", [None, 1795244534.0], ids=["now", "planned"])
def test_where_cores_differ_more_are_asked_for_until_they_are_enough(start: float | None) -> None:
    """Four cores of one processor, and one of two: five cores are the six processors."""
    answers = [CREATED, made(3, 0), DELETED, CREATED, made(4, 1)]
    if start is not None:
        answers[1], answers[4] = made(3, 0, "INACTIVE"), made(4, 1, "INACTIVE")
    assert reserve_mixed(6, answers, start) == ["CoreCnt=3", "delete", "CoreCnt=5"]


def test_where_cores_differ_one_processor_too_few_is_not_enough() -> None:
    """Three cores of two and one of one are as many cores as eight processors may be."""
    answers = [CREATED, made(1, 3), DELETED, CREATED, made(2, 3)]
    assert reserve_mixed(8, answers) == ["CoreCnt=4", "delete", "CoreCnt=5"]


def test_where_cores_differ_and_no_more_are_free_it_is_full_and_the_job_waits() -> None:
    answers = [CREATED, made(4, 0), DELETED, BUSY, BUSY, BUSY]
    with refused(Cause.BUSY, "busy"):
        reserve_mixed(8, answers)


@pytest.mark.parametrize(
    "wrong", [made(1, 4), said(shown(5, 5, "one1")), said(shown(4, 3, "one1")), said("")]
)
def test_where_cores_differ_what_is_no_number_of_processors_is_no_reason_to_ask_for_more(
    wrong: Completed,
) -> None:
    none = said("No reservations in the system\n")
    answers = [CREATED, wrong if wrong.stdout else none, DELETED, BUSY, BUSY]
    with refused(Cause.BUSY):
        reserve_mixed(7, answers)


@pytest.mark.parametrize(("where", "tasks", "count"), [("full1", 1, 4), ("one1", 1, 8)])
def test_tasks_fit_by_the_cores_of_the_node_that_they_are_on(
    where: str, tasks: int, count: int
) -> None:
    large = [replace(node, idle=8, total=8) if node.name == "one1" else node for node in mixed()]
    rooms = [node for node in large if node.name == where] + [
        replace(node, idle=0, allocated=node.total) for node in large if node.name != where
    ]
    order, told = ReserveRequest(TOKEN, 8 * tasks, 600, tasks, Shape(8)), Told()
    text = shown(count, 8, where, f"NodeName={where} CoreIDs=0-{count - 1}")
    answers = [said("No reservations in the system\n"), CREATED, said(text)]
    drive(operations.reserve(WHO, order, rooms, "24.11.5"), answers, told)
    assert f"Nodes={where} CoreCnt={count}" in told.lines[1]


def test_what_a_reservation_keeps_is_counted_by_the_cores_of_each_node() -> None:
    (told,) = parsing.reservations(made(4, 1).stdout.replace(TOKEN, "others"))
    rooms = mixed()
    look = SlurmPoll(1795244600.0, rooms, [], [counted(told, rooms)])
    assert snapshot(look, None, "mb-abcdef01-").busy == 4 + 2
