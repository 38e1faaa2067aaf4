"""Whether a broker has noticed what has happened in its clusters, while it could."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metabroker.broker.states import Step

from .cluster import WorldCluster
from .oracle import Violation
from .scenario import SILENT

if TYPE_CHECKING:
    from .life import Life

_BOUND = 30.0  # seconds beside those between two looks


def in_truth(cluster: WorldCluster, at: float) -> None:
    """A broker has a listing of that time (the world's).

    Raises:
        Violation: nobody could make one.
    """
    for fault in SILENT:
        if cluster.suffers(fault) and cluster.since[fault] + 1.0 < at:
            raise Violation(f"P5: {cluster.plan.name} is {fault}, and is said to be seen at {at}")


def starts(life: Life, able_since: float, away: Sequence[float]) -> None:
    """A script that has been running for long counts as started. `away`: until when each cluster is
    disturbed.

    Raises:
        Violation: it does not.
    """
    broker, world = life.engine.broker, life.world
    oracle, bound = world.oracle, world.scenario.look + _BOUND
    if world.back.happened:  # nobody may know of it
        return
    for ref in oracle.running - oracle.lost:
        component, since = broker.view.component(ref), oracle.began[ref][0]
        if component is None or component.started or component.over:
            continue
        if component.step is Step.CLEAN:
            continue  # it is being ended
        if world.now > max(since, able_since, away[component.cluster]) + bound:
            raise Violation(f"told: {ref} has been running since {since}, and does not count so")
