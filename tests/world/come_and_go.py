"""A local user who submits a job of a whole cluster, cancels it before it has waited long, and does
so again and again. It never starts, since somebody's job of one processor runs.

Such a user can keep no cluster: our jobs of one component stand in line there, or start.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from metabroker.broker.core import Broker
from metabroker.broker.states import JobState
from metabroker.clusters.simulated.model import State

from .oracle import Violation
from .scenario import COMES_AND_GOES

if TYPE_CHECKING:
    from .cluster import WorldCluster

_PATIENCE = 2.5  # seconds; a controller needs up to 4 for a job that it can start
_LONGEST = 75.0  # seconds that a job of ours may be kept from every cluster
_NAMES = ("comes-and-goes", "stays")


def come_and_go(cluster: WorldCluster, now: float) -> None:
    """What that user does at this moment, by the cluster's clock."""
    on = cluster.suffers(COMES_AND_GOES)
    living = [j for j in cluster.model.jobs.values() if j.name in _NAMES and not j.state.ended]
    for job in living:
        late = job.state is State.PENDING and now - job.submit_time >= _PATIENCE
        if not on or (late and job.name == "comes-and-goes"):
            cluster.model.end(job, State.CANCELLED, now)
    left = {job.name for job in living if not job.state.ended}
    whole = {"comes-and-goes": cluster.model.processors, "stays": 1}
    for name in ("stays", "comes-and-goes"):
        if on and name not in left:
            cluster.skip_ids(now)
            cluster.model.submit(name, whole[name], 1e9, now, extra={"lasts": 1e9})


@dataclass(slots=True)
class Heeded:
    """Since when each waiting job of one component has stood in no cluster's queue, while such
    users have come and gone in all clusters."""

    since: dict[int, float] = field(default_factory=dict)

    def check(self, broker: Broker, clusters: list[WorldCluster], now: float, able: float) -> None:
        """None has for long. `able`: since when the broker can act.

        Raises:
            Violation: one has.
        """
        on = all(cluster.suffers(COMES_AND_GOES) for cluster in clusters)
        outside = (broker.view.dependent, broker.view.held_back, broker.view.refused)
        waiting = {
            job.id
            for job in broker.view.jobs.values()
            if on and job.state is JobState.QUEUED and job.single and not job.line and not job.kept
            if not any(job.id in others for others in outside)
        }
        self.since = {number: self.since.get(number, now) for number in waiting}
        for number, since in self.since.items():
            if now > max(since, able) + _LONGEST:
                raise Violation(f"job {number} is kept waiting by jobs that come and go")
