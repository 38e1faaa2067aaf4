"""Jobs that the broker has a cluster end, though nobody wants that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metabroker.broker import tokens
from metabroker.broker.states import Step
from metabroker.clusters.simulated.model import SimulatedJob

from .cluster import WorldCluster
from .oracle import Violation

if TYPE_CHECKING:
    from .world import World


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
    rows = world.store.jobs.attempt(ref.job, ref.attempt)
    row = next((row for row in rows if row["component"] == ref.component), None)
    if row is not None and row["step"] != Step.CLEAN.value and not world.oracle.ending(ref):
        raise Violation(f"P4: {ref} is cancelled in its cluster, and nobody wants it to end")
