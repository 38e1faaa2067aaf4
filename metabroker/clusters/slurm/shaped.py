"""Reserving for tasks that need more of a node than a processor: on nodes that are named.

How Slurm spreads a number of cores over nodes is its own choice, another one in each release. Tasks
of eight processors may then find eight cores free, and nowhere eight on one node. So the nodes are
chosen here, by what is idle on each, and named with the cores of each. A reservation of cores keeps
neither memory nor GPUs: where a job asks for those, or for nodes of its own, it is whole nodes that
are reserved. What was made is read again, and is deleted unless the tasks fit into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from metabroker.broker.nodes import tasks_on
from metabroker.broker.observation import NodeKind
from metabroker.clusters.hostlist import expand
from metabroker.clusters.port import ReserveRequest
from metabroker.submission.shape import Shape

from .parsing import NodeLine, SlurmReservation
from .states import takes_jobs


@dataclass(frozen=True, slots=True)
class Layout:
    """Nodes by name, in the cluster's order, with the cores that tasks need of each, and those that
    are idle there; no cores: whole nodes."""

    nodes: tuple[str, ...]
    cores: tuple[int, ...] = ()
    idle: tuple[int, ...] = ()

    def forms(self, version: str) -> list[str | None]:
        """How Slurm may be told the cores, the likeliest form first; None: not at all.

        Up to 22.05 it takes those of each node. Later releases take a sum alone: they use up the
        first nodes before the last one, so of all but the last all that is idle is asked for.
        """
        if not self.cores:
            return [None]
        each = ",".join(str(count) for count in self.cores)
        together = str(self._together())
        major = re.match(r"(\d+)\.", version)
        old = major is None or int(major[1]) <= 22
        forms = [each, together] if old else [together, each]
        return list(dict.fromkeys(forms))

    def _together(self) -> int:
        return sum(self.idle[:-1]) + self.cores[-1]

    def holds(
        self, made: SlurmReservation, request: ReserveRequest, known: Iterable[NodeLine]
    ) -> bool:
        """Whether a reservation, as it is shown now, has begun and is this one. `known`: nodes."""
        if made.state != "ACTIVE" or set(expand(made.nodes)) != set(self.nodes):
            return False
        if not self.cores:
            return made.node_count == len(self.nodes)
        cores = _cores(made)
        if not cores:  # 22.05 may not tell them: of each node it was told how many
            return made.core_count == sum(self.cores)
        if sum(cores.values()) not in (sum(self.cores), self._together()):
            return False
        cpus = request.shape.cpus_per_task
        each = {node.name: node.processors_per_core for node in known}
        return sum(n * each.get(name, 1) // cpus for name, n in cores.items()) >= request.tasks


def layouts(
    nodes: Sequence[NodeLine], held: Mapping[str, int], request: ReserveRequest, *, whole: bool
) -> list[Layout]:
    """The fewest nodes that have room for the tasks now, as far as one can tell. `held`: processors
    of each node that reservations keep: jobs that run there may be those of the reservations, which
    is the likelier, or others."""
    inside = {n.name: min(n.idle, n.total - held.get(n.name, 0)) for n in nodes}
    beside = {n.name: n.idle - held.get(n.name, 0) for n in nodes}
    found = [_layout(nodes, idle, request, whole) for idle in (inside, beside)]
    return list(dict.fromkeys(plan for plan in found if plan is not None))


def _layout(
    nodes: Sequence[NodeLine], idle: Mapping[str, int], request: ReserveRequest, whole: bool
) -> Layout | None:
    shape, chosen = request.shape, dict[str, tuple[int, int]]()
    rooms = [(_room(node, max(0, idle[node.name]), shape, whole), node) for node in nodes]
    rooms.sort(key=lambda found: -found[0])
    tasks, gpus = request.tasks, shape.gpus
    for room, node in rooms:
        if not room or (tasks <= 0 and gpus <= 0):
            break
        used = max(1, min(room, tasks))
        tasks -= used
        gpus -= node.gpus
        free = idle[node.name] // node.processors_per_core
        needed = -(-used * shape.cpus_per_task // node.processors_per_core)
        chosen[node.name] = min(needed, free), free
    if tasks > 0 or gpus > 0:
        return None
    named = tuple(node.name for node in nodes if node.name in chosen)
    if whole:
        return Layout(named)
    cores = [chosen[name] for name in named]
    return Layout(named, tuple(n for n, _ in cores), tuple(free for _, free in cores))


def _room(node: NodeLine, idle: int, shape: Shape, whole: bool) -> int:
    """How many tasks have room on a node of which so many processors are idle."""
    if not (node.up and takes_jobs(node.state)) or (whole and idle < node.total):
        return 0
    wanted = shape if whole else replace(shape, memory=0, memory_per_cpu=0)
    return tasks_on(NodeKind(idle, node.memory, node.gpus), wanted)


NOW = (-inf, -inf)


def kept(
    reservations: Iterable[SlurmReservation],
    nodes: Sequence[NodeLine],
    span: tuple[float, float] = NOW,
) -> dict[str, int]:
    """Processors of each node that reservations keep which have begun, or which come within this
    `span` (Unix seconds, by the controller's clock); where it is not told how many, as many as can
    be. Slurm refuses a reservation on nodes that another one is to have before it ends; or it
    makes it there, and lets no job begin in it."""
    by_name, held = {node.name: node for node in nodes}, dict[str, int]()
    for reservation in reservations:
        for name in expand(reservation.nodes):
            node = by_name.get(name)
            if node is not None and _is_in(reservation, span):
                cores = _cores(reservation).get(name, reservation.core_count)
                taken = held.get(name, 0) + cores * node.processors_per_core
                held[name] = min(node.total, taken)
    return held


def _is_in(reservation: SlurmReservation, span: tuple[float, float]) -> bool:
    comes = reservation.start_time < span[1] and reservation.end_time > span[0]
    return reservation.state == "ACTIVE" or comes


def _cores(made: SlurmReservation) -> dict[str, int]:
    """The cores of each node, where that is told: of one node they are all that there are."""
    names = expand(made.nodes)
    return {names[0]: made.core_count} if len(names) == 1 else made.cores
