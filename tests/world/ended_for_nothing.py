"""Jobs that the broker has a cluster end, though nobody wants that.

What is written tells what the broker has decided. Whether it had a cause for that is told by the
world itself: a script that runs is ended since somebody has asked for that, or since it has run for
long, or since another component of its attempt has failed or was lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metabroker.broker import tokens
from metabroker.broker.states import Step
from metabroker.broker.tokens import Ref
from metabroker.clusters.simulated.model import SimulatedJob

from .arrays import owner
from .cluster import WorldCluster
from .oracle import Violation

if TYPE_CHECKING:
    from .world import World


_CLOCKS = 130.0  # seconds by which clocks may differ, with a limit in whole minutes


def is_to_end(world: World, cluster: WorldCluster, job: SimulatedJob) -> None:
    """What the broker cancels in a cluster is to be cleaned up, by what is written: its component,
    or its whole attempt. (Of one that was submitted twice the twin may be ended at any time.)

    Raises:
        Violation: it runs, and is to run on.
    """
    ref = tokens.parse(world.store.instance, job.name)
    if ref is None or ref not in world.oracle.running or world.back.happened:
        return
    if sum(each.name == job.name for each in cluster.model.jobs.values()) > 1:
        return
    if _nothing_has_happened(world, job, ref):
        raise Violation(f"P4: {ref} is cancelled in its cluster, and nothing has happened to it")
    rows = world.store.jobs.attempt(ref.job, ref.attempt)
    row = next((row for row in rows if row["component"] == ref.component), None)
    if row is not None and row["step"] != Step.CLEAN.value and not world.oracle.ending(ref):
        raise Violation(f"P4: {ref} is cancelled in its cluster, and nobody wants it to end")


def _nothing_has_happened(world: World, job: SimulatedJob, ref: Ref) -> bool:
    """Whether there is no cause for an end that anybody could know."""
    oracle, asked = world.oracle, world.users.asked_to_cancel
    if ref.job in asked or owner(world, ref.job) in asked:
        return False
    if ref in oracle.lost or "renamed" in job.extra or "requeued" in job.extra:
        return False
    (row,) = world.store.jobs.rows(ids=[ref.job])
    if row["joins"]:  # by what is written: its user may not have had the answer to that
        return False
    if world.now - oracle.began[ref][0] >= row["time_limit"] - _CLOCKS:
        return False
    well = oracle.running - oracle.lost
    return all(other in well or oracle.exits.get(other) == 0 for other in world.siblings(ref))
