"""What the kernel covers, and playing it. What it does not cover, the readable policies play."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from metabroker.simulation.workloads.blocks import Block, Wholes

from . import layout

if TYPE_CHECKING:
    from metabroker.policy import Options
    from metabroker.simulation.system import System

    from .machine import Machine, Sink

Draw = Callable[[int, int], Wholes]
"""`draw(stop, number)`: the next so many random numbers below `stop` of a policy."""

LEAST = 2_000
"""Jobs of a run; shorter ones are over before the kernel is loaded."""

_LOWEST = "worst-fit", "worst-fit-reuse"
_QUEUES = {
    "GS": (layout.GS, layout.FIXED),
    "FCFS": (layout.GS, layout.FIXED),
    "FPFS": (layout.GS, layout.FIXED),
    "LS-OR": (layout.LS, layout.FIXED),
    "LS-RD": (layout.LS, layout.RANDOM),
    "LS-RO": (layout.LS, layout.RELEASE_ORDER),
    "LS-DO": (layout.LS, layout.DISABLE_ORDER),
    "GP": (layout.GP, layout.FIXED),
    "LP-LF": (layout.LP, layout.LOCAL_FIRST),
    "LP-GF": (layout.LP, layout.GLOBAL_FIRST),
    "LP-RD": (layout.LP, layout.RANDOM),
    "EQ-LF": (layout.EQ, layout.LOCAL_FIRST),
    "EQ-GF": (layout.EQ, layout.GLOBAL_FIRST),
    "EQ-RD": (layout.EQ, layout.RANDOM),
    "LQ": (layout.LQ, layout.FIXED),
}
_MIXES = "AFCFS", "AFCFS-BS", "LG-SS", "LG-SS-BS"
COVERED = (*_QUEUES, "EASY", "CONSERVATIVE", *_MIXES)
"""The policies that there is a program for; those after the queue policies on one cluster."""


@cache
def installed() -> bool:
    """Is numba there?"""
    return find_spec("numba") is not None


def uncovered(system: System) -> str:
    """Why no program plays a system; empty if one does."""
    options = system.options
    if system.local or system.line is not None or system.plan is not None:
        return "clusters with local users"
    if system.aging is not None:
        return "aging"
    if system.policy not in COVERED:
        return f"the policy {system.policy}"
    if system.policy not in _QUEUES:
        return "" if len(system.processors) == 1 else f"{system.policy} on several clusters"
    if system.placement not in (None, *_LOWEST):
        return f"the placement {system.placement}"
    if options.ties != "lowest":
        return "ties that are broken at random"
    if system.event_order == "pyss" and _QUEUES[system.policy][1] == layout.RANDOM:
        return "a randomised policy in the order of pyss"
    return ""


def play(
    system: System, blocks: Iterable[Block], sink: Sink, draw: Draw, *, gangs: bool = False
) -> int:
    """Play jobs; returns their number. `sink` gets DONE records, in the order of the ends; `gangs`:
    the jobs are a job mix.

    Raises as `simulate`, and NotCovered, some jobs having been played already.
    """
    return machine(system, draw).play(blocks, sink, gangs=gangs)


def machine(system: System, draw: Draw) -> Machine:
    """A new machine for a system that is covered."""
    from .machine import Machine

    settings = {"pyss": int(system.event_order == "pyss")}
    policy, clusters = system.policy, len(system.processors)
    if policy == "EASY":
        program = _program("easy", system)
        return Machine(program, system.processors, settings | {"foresees": 1})
    if policy == "CONSERVATIVE":
        program = _program("conservative", system)
        return Machine(program, system.processors, settings | {"foresees": 1}, profile=True)
    if policy in _MIXES:
        program = _program("job_mix", system)
        settings |= {"foresees": 1, "blocking": int(policy.endswith("-BS"))}
        settings["version"] = int(policy.startswith("LG-SS"))
        return Machine(program, system.processors, settings, mix=True)
    family, version = _QUEUES[policy]
    usual = "worst-fit-reuse" if policy in ("FCFS", "FPFS") else "worst-fit"
    settings |= {
        "family": family,
        "version": version,
        "reuse": int((system.placement or usual) == "worst-fit-reuse"),
        "fpfs": int("FPFS" in (policy, system.discipline)),
        "option": _option(system.options, family),
    }
    program = _program("queues", system)
    draws = None
    if version == layout.RANDOM:
        stop = clusters if family == layout.LS else 2
        draws = partial(draw, stop)
    return Machine(program, system.processors, settings, draws)


def _program(module: str, system: System) -> Callable[[layout.World], int]:
    """That of the policies of a module in the system's order of events."""
    name = "play_pyss" if system.event_order == "pyss" else "play"
    found: Callable[[layout.World], int] = getattr(import_module(f"{__package__}.{module}"), name)
    return found


def _option(options: Options, family: int) -> int:
    """The reading of a policy of this family, where it is not the usual one."""
    if family == layout.GP and options.gp == "next-departure":
        return layout.NEXT_DEPARTURE
    if family == layout.LS and options.ls_do == "departures":
        return layout.DEPARTURES
    if family == layout.LQ:
        return {"departure": layout.DEPARTURES, "arrival": layout.AT_ARRIVALS}.get(options.lq, 0)
    return 0
