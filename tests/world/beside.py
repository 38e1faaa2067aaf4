"""Whether others wait for a cluster that does not answer, and that they do not need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .oracle import Violation
from .scenario import SILENT, Scenario

if TYPE_CHECKING:
    from .world import World

AWAY = 200.0
"""Seconds for which one cluster does not answer, in worlds where nothing else happens."""
_BOUND = 30.0  # seconds in which whoever finds room starts


def away_alone(scenario: Scenario) -> str:
    """The cluster that does not answer, in such a world; "": it is none."""
    faults = scenario.faults
    if len(faults) != 1 or faults[0].what not in SILENT or faults[0].lasts != AWAY:
        return ""
    return faults[0].where


def check(world: World) -> None:
    """To be asked at the end. All jobs that name another cluster have room there at once.

    Raises:
        Violation: one has waited.
    """
    away = away_alone(world.scenario)
    for index, job in world.users.acknowledged.items() if away else ():
        plan = world.scenario.jobs[index]
        if plan.form != "chosen" or plan.clusters[0] == away:
            continue
        began = min(times[0] for ref, times in world.oracle.began.items() if ref.job == job)
        if began > world.began + plan.at + _BOUND:
            raise Violation(f"P5: job {job} of {plan.clusters[0]} has waited; {away} is away")
