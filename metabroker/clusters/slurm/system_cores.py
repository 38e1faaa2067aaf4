"""Cores that nodes keep for the system (CoreSpecCount, CPUSpecList), and no job gets.

`sinfo` counts them among a node's processors, and as idle for ever. How many are left for jobs only
`scontrol show node` tells (CPUEfctv, in 22.05 to 26.05), with some 700 bytes for each node. So that
is asked only where a partition's TRES are less than its processors, and this only now and then: who
changes it starts the nodes' slurmd anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf

from metabroker.clusters.command_errors import Garbled, answered
from metabroker.clusters.operation import Operation
from metabroker.clusters.port import ClusterRefusal, UnknownOutcome

from . import commands, operations
from .parsing import NodeLine

_AGAIN = 30.0  # seconds after which it is asked once more, if it was not told
# Of a partition and of a node, before anything that an administrator may have written in words.
_PARTITION = re.compile(r"^PartitionName=\S+ .* Nodes=(\S+) ", re.MULTILINE)
_SUMS = re.compile(r" TotalCPUs=([0-9]{1,9})\b.* TRES=cpu=([0-9]{1,9})\b")
_NODE = re.compile(r"^NodeName=(\S+) .*?\bCPUEfctv=([0-9]{1,9}) CPUTot=([0-9]{1,9})\b")


class SystemCores:
    """Remembers what was last told. `every`: how often it is asked, in seconds (0: never)."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._next = -inf
        self._left: Mapping[str, int] = {}

    def look(self, now: float, partition: str) -> Operation[int]:
        """Ask, if it is time; answers how many commands that took. `now`: the broker's clock. A
        cluster that does not answer this is taken to be as it was."""
        if not self._every or now < self._next:
            yield from ()
            return 0
        self._next = now + self._every
        try:
            self._left, asked = yield from answered(left_for_jobs(partition))
        except (ClusterRefusal, UnknownOutcome):
            self._next = now + min(self._every, _AGAIN)
            return 1
        return asked

    def without(self, nodes: Sequence[NodeLine], unit: int) -> list[NodeLine]:
        """The nodes of a partition without what they keep. `unit`: processors of a node, where jobs
        are given whole ones (1: they are not)."""
        return without(nodes, self._left, unit)


def keeps(partition: str) -> bool:
    """Whether nodes keep some, by what is shown of their partition."""
    sums = _SUMS.search(partition)
    return sums is not None and int(sums[2]) < int(sums[1])


def left_for_jobs(partition: str) -> Operation[tuple[dict[str, int], int]]:
    """Processors that jobs can have of each node of the partition that keeps some; and how many
    commands it took to know that.

    Raises:
        ClusterRefusal, UnknownOutcome, Garbled: it is not told.
    """
    shown = (yield from operations.told(commands.show_partition(partition))).stdout
    where = _PARTITION.search(shown)
    if where is None or not keeps(shown):
        return {}, 1
    text = (yield from operations.told(commands.show_nodes(where[1]))).stdout
    if not text.endswith("\n"):
        raise Garbled(f"scontrol show node: an answer that is cut off: {text[-100:]!r}")
    told = filter(None, map(_NODE.match, text.splitlines()))
    return {name: int(left) for name, left, all_ in (n.groups() for n in told) if left != all_}, 2


def without(nodes: Iterable[NodeLine], left: Mapping[str, int], unit: int) -> list[NodeLine]:
    """See `SystemCores.without`. Where a whole node is all of its processors, by the unit, what it
    keeps is not idle once a job has it, and that is all: reservations and jobs hold nodes there."""
    nodes = list(nodes)
    most = max((left.get(node.name, node.total) for node in nodes), default=0)
    change = _held_too if unit > most else _not_there
    return [change(n, left[n.name]) if left.get(n.name, n.total) < n.total else n for n in nodes]


def _not_there(node: NodeLine, left: int) -> NodeLine:
    total = max(left, node.allocated)
    idle = min(node.idle, total - node.allocated)
    other = total - node.allocated - idle if node.other else 0
    return replace(node, total=total, idle=idle, other=other)


def _held_too(node: NodeLine, left: int) -> NodeLine:
    more = min(node.idle, node.total - left) if node.allocated else 0
    return replace(node, allocated=node.allocated + more, idle=node.idle - more)
