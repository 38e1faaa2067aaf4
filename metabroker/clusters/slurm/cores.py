"""Cores and processors: Slurm reserves by cores, and all else counts by processors.

Where a core has two threads, both are processors; or only one is, where a site has set `CPUs` to
the number of cores so that nothing shares a core. `ThreadsPerCore` is two in both cases. A
partition may have nodes of both kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from metabroker.clusters.hostlist import expand

from .parsing import NodeLine, SlurmReservation


def counted(made: SlurmReservation, nodes: Iterable[NodeLine]) -> SlurmReservation:
    """The reservation with as many processors as its cores are: 22.05 counts all threads of cores
    that are reserved by their number. Where they differ, with those of a core of each node."""
    if made.processors <= made.core_count:
        return made
    known = {node.name: node for node in nodes}
    its = [known[name] for name in expand(made.nodes) if name in known]
    of_a_core = {node.name: node.processors_per_core for node in its}
    if len(set(of_a_core.values())) > 1:
        made = replace(made, of_a_core=of_a_core)
    if all(node.processors_per_core == node.threads for node in its):
        return made
    most = made.core_count * min(node.processors_per_core for node in its)
    if sum(made.cores.values()) == made.core_count and made.cores.keys() <= known.keys():
        most = sum(known[n].processors_per_core * count for n, count in made.cores.items())
    return replace(made, processors=min(made.processors, most))


def most_of_a_core(nodes: Iterable[NodeLine]) -> int:
    """Processors."""
    return max((node.processors_per_core for node in nodes), default=1)


def lacking(made: SlurmReservation, processors: int, nodes: Sequence[NodeLine]) -> int:
    """How many cores more to ask for instead of a reservation that was made with too few
    processors, where cores differ; 0: none. On which nodes they are is Slurm's choice, so only what
    it has made tells how many processors they are. As many that they are one processor too many at
    most, should all be of the largest."""
    most, has = most_of_a_core(nodes), counted(made, nodes).processors
    if has < made.core_count or all(node.processors_per_core == most for node in nodes):
        return 0
    return max(0, -(-(processors - has) // most))
