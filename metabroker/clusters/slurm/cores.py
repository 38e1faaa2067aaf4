"""Cores and processors: Slurm reserves by cores, and all else counts by processors.

Where a core has two threads, both are processors; or only one is, where a site has set `CPUs` to
the number of cores so that nothing shares a core. `ThreadsPerCore` is two in both cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from metabroker.clusters.hostlist import expand

from .parsing import NodeLine, SlurmReservation


def counted(made: SlurmReservation, nodes: Iterable[NodeLine]) -> SlurmReservation:
    """The reservation with as many processors as its cores are: 22.05 counts all threads of cores
    that are reserved by their number."""
    if made.processors <= made.core_count:
        return made
    known = {node.name: node for node in nodes}
    its = [known[name] for name in expand(made.nodes) if name in known]
    if all(node.processors_per_core == node.threads for node in its):
        return made
    most = made.core_count * min(node.processors_per_core for node in its)
    if sum(made.cores.values()) == made.core_count and made.cores.keys() <= known.keys():
        most = sum(known[n].processors_per_core * count for n, count in made.cores.items())
    return replace(made, processors=min(made.processors, most))
