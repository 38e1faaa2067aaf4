"""Nodes, as `sinfo -h -N -o "%N %T %C %P %a %c %X %Y %Z %m %G"` prints them: one line for each
partition."""

from __future__ import annotations

from typing import Any

import pyslurm

from .said import SEPARATOR
from .states import OUT, node_word


def listed(_request: dict[str, Any]) -> str:
    """A line for each node in each partition."""
    partitions = {p.name: p for p in pyslurm.Partitions.load().values()}
    lines = []
    for node in pyslurm.Nodes.load().values():
        allocated, total = node.allocated_cpus, node.effective_cpus
        word = node_word(node.state, allocated, total)
        out = word.startswith(("down", *OUT.values()))
        idle, other = (0, total - allocated) if out else (total - allocated, 0)
        counts = f"{allocated}/{idle}/{other}/{total}"
        gres = ",".join(f"{k}:{v}" for k, v in (node.configured_gres or {}).items())
        for name in node.partitions or ():
            partition = partitions.get(name)
            if partition is None:  # made between the two questions
                continue
            shown = f"{name}*" if partition.is_default else name
            up = str(partition.state).lower()
            memory = str(node.real_memory or 0)
            columns = (node.name, word, counts, shown, up, *_cores(node), memory, gres)
            lines.append(SEPARATOR.join(columns))
    return "".join(f"{line}\n" for line in lines)


def _cores(node: Any) -> list[str]:
    """Its processors, those kept for the system too; sockets, cores of one, threads of a core."""
    numbers = node.total_cpus, node.sockets, node.cores_per_socket, node.threads_per_core or 1
    return [str(number or 0) for number in numbers]
