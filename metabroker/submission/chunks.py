"""On how many nodes a job's tasks are, where its user says so, in chunks as PBS has them.

sbatch's own words (`--nodes=2`, `--ntasks-per-node=4`) are what is kept of it for any cluster. PBS
counts in chunks, each on one host: with `place=scatter` a chunk is what the job has on a node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from metabroker.submission.shape import Shape

_WORD = re.compile(r"--(nodes|ntasks-per-node|gpus-per-node)=([0-9]{1,9})(-[0-9]{1,9})?")


class NodeRange(NamedTuple):
    """On how many nodes a job's tasks are, at least and at most; 0: that is not said."""

    least: int = 0
    most: int = 0

    @classmethod
    def of(cls, words: Iterable[str], tasks: int) -> NodeRange:
        """What these words of sbatch say of so many tasks."""
        least = most = 0
        for word in words:
            found = _WORD.fullmatch(word)
            if found is None or found[1] == "gpus-per-node" or not int(found[2]):
                continue
            if found[1] == "nodes":
                least = max(least, int(found[2]))
                most = max(most, int(found[3][1:]) if found[3] else int(found[2]))
            else:
                least = max(least, -(-tasks // int(found[2])))
        return cls(least, max(least, most))


ANY_NODES = NodeRange()


class Unlayable(Exception):
    """PBS has no chunks for it; why, to follow a cluster's name."""


@dataclass(frozen=True)
class Layout:
    """How tasks are spread: over so many nodes, and at most so many on each; 0: not said."""

    nodes: int = 0
    per_node: int = 0
    gpus: int = 0

    @classmethod
    def of(cls, words: Iterable[str]) -> Layout | None:
        """What these words of sbatch say; None: nothing.

        Raises:
            Unlayable: it is not one number of nodes.
        """
        said: dict[str, int] = {}
        for word in words:
            found = _WORD.fullmatch(word)
            if found is not None:
                if found[3] and int(found[3][1:]) != int(found[2]):
                    raise Unlayable("is asked for one number of nodes, not for one of several")
                said[found[1]] = int(found[2])
        if not said:
            return None
        nodes, per_node = said.get("nodes", 0), said.get("ntasks-per-node", 0)
        return cls(nodes, per_node, said.get("gpus-per-node", 0))

    def chunks(self, tasks: int, shape: Shape, unit: int = 1) -> list[tuple[int, int]]:
        """How many chunks there are of how many tasks, the larger ones first. `unit`: processors
        of a node, where only whole nodes are given.

        Raises:
            Unlayable: it contradicts itself, or would give the job more than it asks for.
        """
        nodes = self.nodes or -(-tasks // (self.per_node or tasks))
        least, more = divmod(tasks, nodes)
        if not least:
            raise Unlayable("would give the job more nodes than it has tasks")
        if self.per_node and least + (more > 0) > self.per_node:
            raise Unlayable(f"has no room for {tasks} tasks on {nodes} such nodes")
        if self.gpus and self.gpus * nodes != shape.gpus:
            raise Unlayable("would give the job other GPUs than it asks for")
        if unit > 1 and nodes != -(-tasks // max(1, unit // shape.cpus_per_task)):
            raise Unlayable(f"gives whole nodes of {unit} processors: of those it needs others")
        if not self.nodes and 0 < self.per_node < tasks:  # as full as they may be
            full, rest = divmod(tasks, self.per_node)
            return [(full, self.per_node), *([(1, rest)] if rest else [])]
        return [*([(more, least + 1)] if more else []), (nodes - more, least)]


def is_layout(word: str) -> bool:
    """Whether it is one of the words of a layout."""
    return _WORD.fullmatch(word) is not None
