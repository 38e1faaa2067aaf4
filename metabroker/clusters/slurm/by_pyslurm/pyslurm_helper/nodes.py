"""Nodes, as `sinfo -h -N -o "%N %T %C %P %a %Z"` prints them: one line for each partition."""

from __future__ import annotations

from typing import Any

import pyslurm

from .said import SEPARATOR

# What Slurm adds to a state, and how sinfo writes it. Of several the first that is found counts.
_OUT = {"DRAIN": "drained", "FAIL": "fail", "INVALID_REG": "inval"}
_SUFFIXES = {
    "NOT_RESPONDING": "*",
    "POWERED_DOWN": "~",
    "POWER_DOWN": "!",
    "POWERING_DOWN": "%",
    "POWERING_UP": "#",
    "POWER_UP": "#",
    "REBOOT_ISSUED": "^",
    "REBOOT_REQUESTED": "@",
    "MAINTENANCE": "$",
    "PLANNED": "-",
}


def listed(_request: dict[str, Any]) -> str:
    """A line for each node in each partition."""
    partitions = {p.name: p for p in pyslurm.Partitions.load().values()}
    lines = []
    for node in pyslurm.Nodes.load().values():
        allocated, total = node.allocated_cpus, node.effective_cpus
        word = state_word(node.state, allocated, total)
        out = word.startswith(("down", *_OUT.values()))
        idle, other = (0, total - allocated) if out else (total - allocated, 0)
        counts = f"{allocated}/{idle}/{other}/{total}"
        for name in node.partitions or ():
            partition = partitions.get(name)
            if partition is None:  # made between the two questions
                continue
            shown = f"{name}*" if partition.is_default else name
            up = str(partition.state).lower()
            threads = str(node.threads_per_core or 1)
            lines.append(SEPARATOR.join((node.name, word, counts, shown, up, threads)))
    return "".join(f"{line}\n" for line in lines)


def state_word(state: str, allocated: int, total: int) -> str:
    """Slurm's whole state of a node ("IDLE+DRAIN+NOT_RESPONDING") in one word of sinfo's."""
    base, *flags = state.upper().rstrip("*").split("+")
    if state.endswith("*"):
        flags.append("NOT_RESPONDING")
    word = base.lower()
    if base in ("IDLE", "ALLOCATED", "MIXED") and 0 < allocated < total:
        word = "mixed"  # some releases leave that to be counted
    if base != "DOWN":
        word = next((out for flag, out in _OUT.items() if flag in flags), word)
    if word == "idle":
        for flag in ("COMPLETING", "RESERVED"):
            word = flag.lower() if flag in flags else word
    return word + next((sign for flag, sign in _SUFFIXES.items() if flag in flags), "")
