"""States of nodes in the words of sinfo, which the adapter reads."""

from __future__ import annotations

# What Slurm adds to a state, and how sinfo writes it. Of several the first that is found counts.
OUT = {"DRAIN": "drained", "FAIL": "fail", "INVALID_REG": "inval"}
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


def node_word(state: str, allocated: int, total: int) -> str:
    """Slurm's whole state of a node ("IDLE+DRAIN+NOT_RESPONDING") in one word of sinfo's."""
    base, *flags = state.upper().rstrip("*").split("+")
    if state.endswith("*"):
        flags.append("NOT_RESPONDING")
    word = base.lower()
    if base in ("IDLE", "ALLOCATED", "MIXED") and 0 < allocated < total:
        word = "mixed"  # some releases leave that to be counted
    if base != "DOWN":
        word = next((out for flag, out in OUT.items() if flag in flags), word)
    if word == "idle":
        for flag in ("PLANNED", "COMPLETING", "RESERVED"):
            if flag in flags:
                word = flag.lower()
                flags.remove(flag)
    return word + next((sign for flag, sign in _SUFFIXES.items() if flag in flags), "")
