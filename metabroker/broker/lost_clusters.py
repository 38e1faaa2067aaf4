"""Clusters that do not answer, and the jobs that wait in their local queues by chance.

A job that only the broker put into a cluster's queue goes to another's tail when the cluster has
not answered for `move_after`; a job whose user named the cluster waits for it.
"""

from __future__ import annotations

from .job import Job
from .queues import Queues
from .state import BrokerState
from .states import JobState


class LostClusters:
    """Since when each of them does not answer (Unix seconds)."""

    def __init__(self, state: BrokerState, queues: Queues) -> None:
        self._state = state
        self._queues = queues
        self._since: dict[int, float] = {}

    def answers(self, cluster: int) -> None:
        """A poll has succeeded."""
        self._since.pop(cluster, None)

    def lost(self, cluster: int, now: float) -> None:
        """A poll has failed."""
        if cluster not in self._since:
            self._queues.changed = True  # jobs that need it step aside
            self._since[cluster] = now
            self._queues.retry_at(now + self._state.settings.move_after)

    def move_waiting(self, now: float) -> None:
        """Move whoever waits only by chance for one that is lost for long."""
        after = self._state.settings.move_after
        lost = {cluster for cluster, since in self._since.items() if now - since >= after}
        if not lost:
            return
        ledger = self._state.ledger
        if not any(ledger.known(c, now) for c in range(len(ledger.entries))):
            self._queues.retry_at(now + after)
            return
        for job in list(self._state.jobs.values()):
            if job.state is not JobState.QUEUED or job.queue not in lost or job.local is not None:
                continue
            if job.request.clusters is None:
                self._move(job, now)

    def _move(self, job: Job, now: float) -> None:
        before = job.queue
        if self._queues.queue_of(job) == before:
            return
        self._queues.withdraw(job)
        self._queues.requeue(job, now)
        names = self._state.settings.clusters
        self._state.outbox.note(
            now,
            job,
            "moved",
            why=f"{names[before].name} does not answer",
            to=names[job.queue].name if job.queue < len(names) else "global",
        )
