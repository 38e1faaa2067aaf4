"""Reserving for tasks that need more of a node than a processor: on nodes that are named.

How Slurm spreads a number of cores over nodes is its own choice, another one in each release. Tasks
of eight processors may then find eight cores free, and nowhere eight on one node. So the nodes are
chosen here, by what is idle on each, and named with the cores of each. A reservation of cores keeps
neither memory nor GPUs: where a job asks for those, or for nodes of its own, it is whole nodes that
are reserved. What was made is read again, and is deleted unless the tasks fit into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from metabroker.broker.nodes import tasks_on
from metabroker.broker.observation import NodeKind
from metabroker.clusters.hostlist import expand
from metabroker.clusters.port import ReserveRequest
from metabroker.submission.shape import Shape

from .parsing import NodeLine, SlurmReservation
from .states import takes_jobs


@dataclass(frozen=True, slots=True)
class Layout:
    """Nodes by name, in the cluster's order, with the cores of each; None: whole nodes."""

    nodes: tuple[str, ...]
    cores: tuple[int, ...] | None

    def holds(self, made: SlurmReservation, request: ReserveRequest, threads: int) -> bool:
        """Whether a reservation, as it is shown now, has begun and is this one."""
        if made.state != "ACTIVE" or set(expand(made.nodes)) != set(self.nodes):
            return False
        if self.cores is None:
            return made.node_count == len(self.nodes)
        cpus = request.shape.cpus_per_task
        return sum(n * threads // cpus for n in _cores(made).values()) >= request.tasks


def layout(
    nodes: Sequence[NodeLine], held: Mapping[str, int], request: ReserveRequest, *, whole: bool
) -> Layout | None:
    """The fewest nodes that have room for the tasks now; None: there are not so many. `held`:
    processors of each node that reservations keep."""
    shape, chosen = request.shape, dict[str, int]()
    rooms = [(_room(node, held.get(node.name, 0), shape, whole), node) for node in nodes]
    rooms.sort(key=lambda found: -found[0])
    tasks, gpus = request.tasks, shape.gpus
    for room, node in rooms:
        if not room or (tasks <= 0 and gpus <= 0):
            break
        used = max(1, min(room, tasks))
        tasks -= used
        gpus -= node.gpus
        chosen[node.name] = -(-used * shape.cpus_per_task // node.threads_per_core)
    if tasks > 0 or gpus > 0:
        return None
    named = tuple(node.name for node in nodes if node.name in chosen)
    return Layout(named, None if whole else tuple(chosen[name] for name in named))


def _room(node: NodeLine, held: int, shape: Shape, whole: bool) -> int:
    """How many tasks have room on a node now."""
    if not (node.up and takes_jobs(node.state)):
        return 0
    idle = max(0, node.idle - held)
    if whole and idle < node.total:
        return 0
    wanted = shape if whole else replace(shape, memory=0, memory_per_cpu=0)
    return tasks_on(NodeKind(idle, node.memory, node.gpus), wanted)


def kept(reservations: Iterable[SlurmReservation], nodes: Sequence[NodeLine]) -> dict[str, int]:
    """Processors of each node that reservations keep which have begun; all of a node where it is
    not told how many. (Later ones are Slurm's to hold against it.)"""
    by_name, held = {node.name: node for node in nodes}, dict[str, int]()
    for reservation in reservations:
        for name in expand(reservation.nodes):
            node = by_name.get(name)
            if node is not None and reservation.state == "ACTIVE":
                cores = _cores(reservation).get(name)
                taken = node.total if cores is None else cores * node.threads_per_core
                held[name] = held.get(name, 0) + taken
    return held


def _cores(made: SlurmReservation) -> dict[str, int]:
    """The cores of each node, where that is told: of one node they are all that there are."""
    names = expand(made.nodes)
    return {names[0]: made.core_count} if len(names) == 1 else made.cores


def by_nodes(shape: Shape) -> bool:
    """Whether only whole nodes give such tasks what they need."""
    return bool(replace(shape, cpus_per_task=1))
