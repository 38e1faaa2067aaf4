"""Nodes whose cores have two threads, of which both are processors, or only one (`CPUs` in
slurm.conf is then the number of cores). Lines as 22.05.8, 24.11.5 and 26.05.2 have printed them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.clusters.port import ReserveRequest
from metabroker.clusters.slurm import operations, parsing
from metabroker.clusters.slurm.commands import SlurmIdentity
from metabroker.clusters.slurm.cores import counted
from metabroker.clusters.slurm.parsing import NodeLine
from metabroker.clusters.slurm.snapshot import SlurmPoll, snapshot
from metabroker.submission.shape import Shape

from .drive import TOKEN, Told, drive, said

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
