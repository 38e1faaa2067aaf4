"""What is told of a job that was over its time limit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref

from .oracle import Violation

if TYPE_CHECKING:
    from .world import World

_AGREE = 55.0  # seconds by which clocks may differ
_ROUNDED = 75.0  # seconds: Slurm counts in minutes, and clocks go at different rates


def had_its_time(world: World, row: Mapping[str, Any]) -> None:
    """A job that is told to be over its time limit had a script that ran for so long, of those that
    have not ended well, or ended with 0 as they were told to end; whatever the limits of native
    jobs, and deadlines, count from. Where clocks do not agree nobody can tell for how long; but
    that one has run at all.

    Raises:
        Violation: none had.
    """
    if row["state"] != JobState.TIMEOUT.value or world.back.happened:
        return
    ran = {}
    for part in row["components"]:
        ref = Ref(row["id"], part["attempt"], part["component"], part["term"])
        well = part["exit_code"] == 0 and ref not in world.oracle.cut
        if part["attempt"] == row["attempt"] and part["processors"] and not well:
            ran[ref] = _ran(world, ref)
    if max(ran.values(), default=0.0) < row["time_limit"] - _ROUNDED:
        what = f"over its time limit of {row['time_limit']} s"
        raise Violation(f"P6: job {row['id']} is {what}, but its scripts had {ran}")


def _ran(world: World, ref: Ref) -> float:
    """For how many seconds a script ran until it was killed; infinite if that cannot be told."""
    oracle, told = world.oracle, world.clocks_right
    told = told and all(abs(cluster.offset) < _AGREE for cluster in world.clusters)
    if ref not in oracle.began:
        return 0.0
    return oracle.cut[ref] - oracle.began[ref][0] if told and ref in oracle.cut else math.inf
