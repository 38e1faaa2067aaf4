"""Which jobs a cluster could run on its nodes: the fit test at a cluster's edge.

Policies count processors. A task of several processors, with its memory and its GPUs, has to fit on
one node, so of such tasks a cluster may hold fewer than its processors would let one think. What is
counted here is a cluster's nodes as they would be if they were empty: whether they are is its own
scheduler's matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from metabroker.submission.shape import Shape, in_words

from .observation import NodeKind

_ANY = 10**6  # GPUs of a node, where that is not known


def _gpus(node: NodeKind) -> int:
    return _ANY if node.gpus is None else node.gpus


def tasks_on(node: NodeKind, shape: Shape) -> int:
    """How many tasks an empty node of this kind has room for."""
    room = node.processors // shape.cpus_per_task
    if node.memory is not None:
        if shape.memory > node.memory:
            return 0
        each = shape.memory_per_cpu * shape.cpus_per_task
        if node.chunked:
            each = each or shape.memory
        if each:
            room = min(room, node.memory // each)
    if shape.gpus_per_task:
        room = min(room, _gpus(node) // shape.gpus_per_task)
    return room if _gpus(node) or not shape.gpus else 0


def most(nodes: Sequence[NodeKind], shape: Shape, processors: int, unit: int) -> int:
    """How many processors a component of this shape can get in a cluster of so many. No `nodes`:
    they are not known. `unit`: those of a node, where only whole nodes are given (1: they are
    not)."""
    found = room(nodes, shape) if nodes else processors
    if unit == 1:
        return min(processors, found)
    cpus = shape.cpus_per_task
    return min(found, processors // unit * (unit // cpus) * cpus)


def room(nodes: Iterable[NodeKind], shape: Shape) -> int:
    """How many processors one component of this shape could get on all nodes, were they empty."""
    nodes = list(nodes)
    if gpus_for(nodes, shape) < shape.gpus:
        return 0
    return sum(tasks_on(node, shape) * node.count for node in nodes) * shape.cpus_per_task


def room_left(nodes: Iterable[NodeKind], shape: Shape, taken: int, unit: int = 1) -> int:
    """How many processors one component of this shape could get for certain, if reservations hold
    `taken` of these meanwhile, and nobody knows where: on so many nodes at most, and on each of
    them all of it, since a cluster need not tell how much. `unit`: see `most`."""
    nodes = [node for node in nodes if tasks_on(node, shape)]
    found = room(nodes, shape)
    if taken <= 0 or not found:
        return found
    whole = unit > 1 or shape.beyond_processors  # only nodes that are idle as a whole have room

    def lost(node: NodeKind) -> int:
        left = 0 if whole else max(0, node.processors - taken)
        return tasks_on(node, shape) - left // shape.cpus_per_task

    hit = -(-taken // unit)
    if gpus_for(nodes, shape) - _of_the_first(hit, nodes, _gpus) < shape.gpus:
        return 0
    return found - shape.cpus_per_task * _of_the_first(hit, nodes, lost)


def _of_the_first(count: int, nodes: Sequence[NodeKind], having: Callable[[NodeKind], int]) -> int:
    """How much so many nodes have together at most."""
    found = 0
    for node in sorted(nodes, key=having, reverse=True):
        found += min(count, node.count) * having(node)
        count -= min(count, node.count)
    return found


def gpus_for(nodes: Iterable[NodeKind], shape: Shape) -> int:
    """How many GPUs the nodes have together that have room for such a task."""
    return sum(_gpus(node) * node.count for node in nodes if tasks_on(node, shape))


def largest(names: Sequence[str], nodes: Sequence[Sequence[NodeKind]], shape: Shape) -> str:
    """The node that comes nearest to what a task needs, in words: `32 processors, 128 GB in delft`;
    "" where no node is known."""
    candidates = [(kind, name) for name, kinds in zip(names, nodes, strict=True) for kind in kinds]
    if not candidates:
        return ""
    kind, name = max(candidates, key=lambda found: _nearness(found[0], shape))
    words = [f"{kind.processors} processors"]
    if kind.memory is not None:
        words.append(in_words(kind.memory))
    if kind.gpus or (kind.gpus is not None and (shape.gpus or shape.gpus_per_task)):
        words.append(f"{kind.gpus} GPUs")
    return f"{', '.join(words)} in {name}"


def _nearness(node: NodeKind, shape: Shape) -> tuple[int, ...]:
    """How many of a task's needs it meets; then what it has of what is asked for beside processors;
    then the larger node."""
    memory = max(shape.memory, shape.memory_per_cpu * shape.cpus_per_task)
    met = (
        node.processors >= shape.cpus_per_task,
        node.memory is None or node.memory >= memory,
        _gpus(node) >= (shape.gpus_per_task or min(shape.gpus, 1)),
    )
    asked = _gpus(node) * bool(shape.gpus or shape.gpus_per_task), (node.memory or 0) * bool(memory)
    return sum(met), *asked, node.processors, node.memory or 0
