"""Cores that nodes keep for the system: lines as 22.05.8, 24.11.5 and 26.05.5 have printed them for
nodes of four cores of two threads with CoreSpecCount=1."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.slurm.parsing import NodeLine
from metabroker.clusters.slurm.system_cores import left_for_jobs, without
from metabroker.clusters.transports.base import CommandLost, Completed
from metabroker.clusters.transports.local import LocalTransport

from .drive import Answer, Told, drive, failed, said

PARTITION = (
    "PartitionName=batch AllowGroups=ALL AllocNodes=ALL Default=YES MaxNodes=UNLIMITED "
    "Nodes=n[1-2] PriorityJobFactor=1 State=UP TotalCPUs=16 TotalNodes=2 "
    "SelectTypeParameters=NONE JobDefaults=(null) TRES=cpu={cpu},mem=128G,node=2,billing=12 \n\n"
)
NODE = (
    "NodeName={name} Arch=x86_64 CoresPerSocket=4  CPUAlloc=0 CPUEfctv={left} CPUTot=8 CPULoad=1 "
    "State=IDLE ThreadsPerCore=2 Reason=NodeName=n2 CPUEfctv=1 CPUTot=8 \n\n"
)
KEEPS, KEEPS_NONE = said(PARTITION.format(cpu=12)), said(PARTITION.format(cpu=16))
NODES = said(NODE.format(name="n1", left=6) + NODE.format(name="n2", left=6))
NO_JOBS, NO_RESERVATIONS = said(), said("No reservations in the system\n")


def node(name: str, allocated: int, idle: int, other: int = 0) -> NodeLine:
    total = allocated + idle + other
    return NodeLine(name, "mixed", allocated, idle, other, total, "batch", True, True, 2)


def sinfo(*counts: str) -> Completed:
    lines = (
        f"n{number}|mixed|{each}|batch*|up|8|1|4|2|65536|(null)\n"
        for number, each in enumerate(counts, 1)
    )
    return said("".join(lines).replace("|", "\x1f"))


def cluster(unit: int = 1) -> SlurmCluster:
    options = SlurmOptions(
        "mbsvc", "batch", unit=unit, name="delft", instance="abcdef01", cores_every=600.0
    )
    return SlurmCluster(options, LocalTransport({}))


def test_what_is_left_for_jobs_is_asked_of_the_nodes_of_a_partition_that_keeps_some() -> None:
    told = Told()
    assert drive(left_for_jobs("batch"), [KEEPS, NODES], told) == ({"n1": 6, "n2": 6}, 2)
    assert told.lines == [
        "scontrol -a -o show partition batch", "scontrol -a -o show node n[1-2]",
    ]  # fmt: skip
    some = said(NODE.format(name="n1", left=8) + NODE.format(name="n2", left=4))
    assert drive(left_for_jobs("batch"), [KEEPS, some], Told())[0] == {"n2": 4}


@pytest.mark.parametrize("shown", [KEEPS_NONE, said("PartitionName=batch State=UP\n"), said()])
def test_where_none_are_kept_no_node_is_asked_for(shown: Completed) -> None:
    assert drive(left_for_jobs("batch"), [shown], Told()) == ({}, 1)


def test_an_answer_that_is_cut_off_is_none() -> None:
    with pytest.raises(Garbled):
        drive(left_for_jobs("batch"), [KEEPS, said(NODES.stdout[:200])], Told())


@pytest.mark.parametrize(
    ("counts", "without_them"),
    [
        ((0, 8), (0, 6, 0)),
        ((6, 2), (6, 0, 0)),
        ((1, 7), (1, 5, 0)),
        ((0, 0, 8), (0, 0, 6)),  # drained
        ((6, 0, 2), (6, 0, 0)),  # draining
        ((4, 0, 4), (4, 0, 2)),
        ((8, 0), (8, 0, 0)),  # a job may have them after all (AllowSpecResourcesUsage)
    ],
)
def test_they_are_no_processors_of_a_node(
    counts: tuple[int, ...], without_them: tuple[int, int, int]
) -> None:
    (left,) = without([node("n1", *counts)], {"n1": 6}, 1)
    assert (left.allocated, left.idle, left.other) == without_them
    assert left.total == sum(without_them)
    through_pyslurm = replace(node("n1", 2, 4))  # which counts without them
    assert without([through_pyslurm], {"n1": 6}, 1) == [through_pyslurm]
    assert without([node("n2", 2, 6)], {"n1": 6}, 1) == [node("n2", 2, 6)]


def test_where_whole_nodes_are_given_they_are_not_idle_beside_a_job() -> None:
    """`unit` is what a node counts there: all of it, or what it leaves."""
    nodes, left = [node("n1", 6, 2), node("n2", 0, 8)], {"n1": 6, "n2": 6}
    assert without(nodes, left, 8) == [node("n1", 8, 0), node("n2", 0, 8)]
    assert without(nodes, left, 6) == [node("n1", 6, 0), node("n2", 0, 6)]


def test_a_look_counts_without_them_and_asks_again_now_and_then() -> None:
    it = cluster()
    look: list[Answer] = [NO_JOBS, sinfo("6/2/0/8", "0/8/0/8"), NO_RESERVATIONS]
    first = drive(it.observe(0.0), [*look, said("slurm 22.05.8\n"), KEEPS, NODES], Told())
    assert (first.processors, first.usable, first.busy, first.commands) == (12, 12, 6, 6)
    assert sum(kind.processors * kind.count for kind in first.nodes) == 12
    later = drive(it.observe(599.0), look, Told())
    assert (later.usable - later.busy, later.commands) == (6, 3)
    again = drive(it.observe(600.0), [*look, KEEPS_NONE], Told())
    assert (again.processors, again.commands) == (16, 4)


@pytest.mark.parametrize("trouble", [CommandLost("no answer"), failed("not found"), said("x")])
def test_a_look_is_one_though_that_is_not_told(trouble: Answer) -> None:
    it = cluster()
    look: list[Answer] = [NO_JOBS, sinfo("6/2/0/8", "0/8/0/8"), NO_RESERVATIONS]
    version = said("slurm 22.05.8\n")
    assert drive(it.observe(0.0), [*look, version, KEEPS, NODES], Told()).processors == 12
    assert drive(it.observe(600.0), [*look, KEEPS, trouble], Told()).processors == 12
    told = Told()
    drive(it.observe(601.0), look, told)
    assert drive(it.observe(631.0), [*look, KEEPS, NODES], told).processors == 12
