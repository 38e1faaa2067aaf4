"""Clusters that do not answer or are drained, and the jobs that wait in their local queues by
chance.

A job that only the broker put into a cluster's queue goes to another's tail when the cluster has
not answered for `move_after`, and to its old place among the others' jobs at once when the cluster
is drained. A job whose user named the cluster waits for it.
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
        self._waiting = state.backlog.line(self._move)

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
        """Whoever waits only by chance for one that is lost for long is to be moved."""
        lost = self._lost_long(now)
        if not lost:
            return
        if not self._any_answers(now):
            self._queues.retry_at(now + self._state.settings.move_after)
            return
        jobs = self._state.jobs.values()
        self._waiting.add([job.id for job in jobs if job.queue in lost and _by_chance(job)])

    def _lost_long(self, now: float) -> set[int]:
        after = self._state.settings.move_after
        lost = {cluster for cluster, since in self._since.items() if now - since >= after}
        entries = enumerate(self._state.ledger.entries)
        return lost | {cluster for cluster, entry in entries if entry.drained}

    def _any_answers(self, now: float) -> bool:
        ledger = self._state.ledger
        return any(ledger.takes_jobs(c, now) for c in range(len(ledger.entries)))

    def _move(self, number: int, now: float) -> None:
        job = self._state.jobs.get(number)
        if job is None or job.queue not in self._lost_long(now) or not _by_chance(job):
            return
        if not self._any_answers(now):  # any more
            self._waiting.clear()
            self._queues.retry_at(now + self._state.settings.move_after)
            return
        before = job.queue
        if self._queues.queue_of(job) == before:
            return
        names, drained = self._state.settings.clusters, self._state.ledger.drained(before)
        self._queues.withdraw(job)
        (self._queues.rejoin if drained else self._queues.requeue)(job, now)
        self._state.outbox.note(
            now,
            job,
            "moved",
            why=f"{names[before].name} {'is drained' if drained else 'does not answer'}",
            to=names[job.queue].name if job.queue < len(names) else "global",
        )


def _by_chance(job: Job) -> bool:
    """Whether it waits in a queue that no user has chosen."""
    free = job.local is None and job.request.clusters is None
    free = free and job.after is None and job.array is None and not job.kept
    return free and job.state is JobState.QUEUED
