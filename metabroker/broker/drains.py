"""Clusters that an administrator has drained: nothing new goes there, and what runs finishes.

A drained cluster is to the policy like one that does not answer: it has no processors, and jobs
that need it step aside. An attempt that was on its way there and can be undone goes back to its
queue, at its old place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .drained import Drained
from .events import DrainCluster, ResumeCluster
from .lost_clusters import LostClusters
from .queues import Queues
from .saga import Saga
from .state import BrokerState
from .states import JobState
from .tokens import Ref


@dataclass(eq=False)
class Drains:
    """Drains clusters, and ends that. The ledger knows which are drained (`Ledger.drained`)."""

    _state: BrokerState
    _queues: Queues
    _saga: Saga
    _lost: LostClusters

    def __post_init__(self) -> None:
        self._leaving = self._state.backlog.line(self._leave)

    def drain(self, event: DrainCluster, now: float) -> None:
        """Send nothing new there; of a drained one the reason is another now."""
        before = self._state.ledger.drained(event.cluster)
        since = now if before is None else before.since
        self._begin(event.cluster, Drained(event.by, since, event.reason))
        self._take_back(event.cluster)
        self._lost.move_waiting(now)

    def resume(self, event: ResumeCluster, _now: float) -> None:
        """Use it again."""
        self._state.ledger.entries[event.cluster].drained = None
        self._queues.more_may_fit()

    def recall(self, drained: Mapping[int, Drained]) -> None:
        """What the store remembers, before anything else is restored."""
        for cluster, each in drained.items():
            self._begin(cluster, each)

    def restored(self, now: float) -> None:
        """All jobs are known again: those that were to leave may not have done so yet."""
        drained = [c for c, entry in enumerate(self._state.ledger.entries) if entry.drained]
        for cluster in drained:
            self._take_back(cluster)
        if drained:
            self._lost.move_waiting(now)

    def _begin(self, cluster: int, drained: Drained) -> None:
        self._state.ledger.entries[cluster].drained = drained
        self._queues.changed = True

    def _take_back(self, cluster: int) -> None:
        self._leaving.add([component.ref for component in self._saga.claims.in_cluster(cluster)])

    def _leave(self, ref: Ref, now: float) -> None:
        """One that is on its way there, if it still is, and can be undone."""
        component, job = self._saga.claims.find(ref)
        if component is None or job is None or job.goal is not None:
            return
        if self._saga.unread.in_attempt(job) is not None:
            return  # its script may be running
        if self._state.ledger.drained(component.cluster):
            why = f"{self._state.settings.clusters[component.cluster].name} is drained"
            self._saga.rollback.take_out(job, JobState.QUEUED, why, now, "drained")
