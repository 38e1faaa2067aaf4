"""Other times for a reservation of ours that is there: an earlier start, or its end.

Slurm (22.05 to 26.05) compares what it moves by whole nodes: with any job on them that goes on
beyond the new start, also on other cores; and with no reservation of cores at all, so that one may
come to lie over another. So its own comparison is switched off (IGNORE_JOBS), and made here by
cores. Jobs that go on beyond the reservation's present start cannot be on its cores, and jobs in
other reservations are on the cores of those; what else goes on beyond the new start is asked for
its processors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from metabroker.broker.states import Cause
from metabroker.clusters.command_errors import Garbled, after_making
from metabroker.clusters.hostlist import expand
from metabroker.clusters.operation import Operation, command
from metabroker.clusters.port import ClusterRefusal, ReserveRequest, UnknownOutcome
from metabroker.clusters.transports.base import Command, CommandMissing

from . import commands, operations, parsing
from .parsing import NodeLine, SlurmReservation

_ASKED = 16  # jobs that are asked for their processors, at most
_MOST_NODES = 512  # in a list of nodes of such a job
_THREADS = (1, 2, 4, 8)  # that a core may have
_MOST_LISTS = 32
_CPUS = re.compile(r"\bNodes=(\S{1,1000}) CPU_IDs=([0-9,-]{1,1000}) Mem=")
_Ranges = Sequence[tuple[int, int]]


def move(request: ReserveRequest, nodes: Iterable[NodeLine]) -> Operation[None]:
    """Move a reservation that has not begun, or set the end of one. `nodes`: of the partition.

    Raises:
        ClusterRefusal: it is gone, or its own cores are not free by then; it is as it was.
        UnknownOutcome: it may have been moved.
    """
    if request.end is not None:
        yield from operations.told(commands.end_reservation(request.token, request.end))
        return
    mine, others = yield from _shown(request.token)
    if mine.state == "ACTIVE" or request.start is None:
        if not request.stays(mine.start_time, mine.end_time):
            raise ClusterRefusal(Cause.LOST, "its reservation began too long ago")
        return
    before, start = mine.start_time, float(int(request.start))
    if start < before:
        _must_be_free(mine, others, start)
        jobs = parsing.uses_until((yield from operations.told(_on_nodes(mine))).stdout)
        named = {other.name for other in others}
        some = [job for job, until, where in jobs if where not in named and start < until <= before]
        yield from _must_be_elsewhere(mine, some, {node.name: node.threads for node in nodes})
    yield from operations.told(commands.move_reservation(request.token, start, mine.end_time))
    if start < before:
        yield from _look_again(mine, start)


def _look_again(mine: SlurmReservation, start: float) -> Operation[None]:
    """Another may have been made, or moved, at the same time."""
    try:
        _, others = yield from _shown(mine.name)
        try:
            _must_be_free(mine, others, start)
        except ClusterRefusal:
            back = commands.move_reservation(mine.name, mine.start_time, mine.end_time)
            yield from after_making(operations.told(back))
            raise
    except CommandMissing as missing:
        raise UnknownOutcome(str(missing)) from missing


def _shown(token: str) -> Operation[tuple[SlurmReservation, list[SlurmReservation]]]:
    """The one of that name, and all others."""
    done = yield from operations.told(commands.list_reservations())
    found = parsing.reservations(done.stdout)
    mine = next((r for r in found if r.name == token), None)
    if mine is None:
        raise ClusterRefusal(Cause.LOST, "its reservation is gone")
    return mine, [r for r in found if r.name != token]


def _must_be_free(mine: SlurmReservation, others: Iterable[SlurmReservation], start: float) -> None:
    """No other may have its cores in the time that it would have in addition."""
    for other in others:
        meets = other.start_time < mine.start_time and other.end_time > start
        if meets and _share_cores(mine, other):
            raise ClusterRefusal(Cause.BUSY, f"{other.name} has its processors by then")


def _must_be_elsewhere(
    mine: SlurmReservation, jobs: Sequence[str], threads: Mapping[str, int]
) -> Operation[None]:
    """None of these jobs may have its cores. `threads` of a core of each node."""
    refusal = ClusterRefusal(Cause.BUSY, "jobs on its nodes may have its processors by then")
    if len(jobs) > _ASKED:
        raise refusal
    for job in jobs:
        done = yield from command(commands.show_processors(job))
        if done.exit_status != 0 and "Invalid job id" in done.stderr:
            continue  # it is over
        found = processors(done.stdout) if done.exit_status == 0 else []
        if not found or any(_has_cores(mine, nodes, cpus, threads) for nodes, cpus in found):
            raise refusal


def processors(text: str) -> list[tuple[str, list[tuple[int, int]]]]:
    """The processors of `scontrol -o -d show job`, as ranges for each list of nodes; none if there
    are too many lists. Its user may have written more of them, true or not, into the job's name or
    comment, but cannot take away any."""
    told = _CPUS.findall(text)
    found = []
    for nodes, ids in told if len(told) <= _MOST_LISTS else ():
        with suppress(Garbled):
            found.append((nodes, parsing.ranges(ids)))
    return found


def _has_cores(
    mine: SlurmReservation, nodes: str, cpus: _Ranges, threads: Mapping[str, int]
) -> bool:
    """Whether these processors of each of the nodes may be among its cores. Slurm tells of a job by
    the threads of its cores, also where only one of each is a processor."""
    names = expand(nodes, _MOST_NODES + 1)  # a user may have written more than anybody wants
    if len(names) > _MOST_NODES:
        return True
    for name in {*names}.intersection(expand(mine.nodes)):
        ids = mine.core_ids.get(name)
        each = (threads[name],) if name in threads else _THREADS
        cores = [(low // count, high // count) for low, high in cpus for count in each]
        if ids is None or _meet(cores, parsing.ranges(ids)):
            return True
    return False


def _share_cores(one: SlurmReservation, other: SlurmReservation) -> bool:
    """Whether both have a core, as far as is told: not told is all."""
    for name in {*expand(one.nodes)}.intersection(expand(other.nodes)):
        ids = one.core_ids.get(name), other.core_ids.get(name)
        if ids[0] is None or ids[1] is None:
            return True
        if _meet(parsing.ranges(ids[0]), parsing.ranges(ids[1])):
            return True
    return False


def _meet(one: _Ranges, other: _Ranges) -> bool:
    return any(a <= d and c <= b for a, b in one for c, d in other)


def _on_nodes(mine: SlurmReservation) -> Command:
    return commands.list_jobs_on(mine.nodes)
