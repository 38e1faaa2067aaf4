"""Who stands in line where, decided after each pass of the policy.

A cluster is *contested* while others' jobs wait in it, or a job of ours has stayed pending there,
and for a while after (`Settings.line_calm`). Its idle processors are then not for jobs of one
component: they stand in line there, `Settings.line_depth` of each queue at most, in the order in
which the policy would start them. In a cluster that is contested no more nobody stands in line: the
policy alone decides again.
"""

from __future__ import annotations

from collections.abc import Collection

from metabroker.policy.line import NativeQueue, Standing, stand

from .job import Job
from .queues import Queues
from .resource_limits import Usage
from .saga import Saga
from .state import BrokerState


class LineUp:
    """Compares who stands in line with who should."""

    def __init__(self, state: BrokerState, queues: Queues, saga: Saga) -> None:
        self._state = state
        self._queues = queues
        self._saga = saga
        self._contested: tuple[int, ...] = ()

    def outdated(self, now: float) -> bool:
        """Whether others want other clusters than at the last pass."""
        return self._state.ledger.contested(now) != self._contested

    def before_pass(self, now: float) -> tuple[int, ...]:
        """The contested clusters, for the policy."""
        contested = self._state.ledger.contested(now)
        entries = self._state.ledger.entries
        if contested:
            self._queues.retry_at(min(entries[c].contested_until for c in contested))
        self._contested = contested
        return contested

    def after_pass(self, usage: Usage, now: float) -> None:
        """Who has not started stands in line, as far as there are contested clusters. `usage`:
        what is in use; who stands in line counts as if that were, too."""
        for job in self._standing():
            if self._saga.unread.of(job) is not None:
                continue  # its records tell what has become of it
            for sibling in list(job.line):
                why = self._why_not(sibling.cluster, now)
                if why:
                    self._saga.line.withdraw(sibling, job, why, now)
        if not self._contested:
            return
        depth, siblings = self._state.settings.line_depth, self._state.settings.line_siblings
        for job in self._standing():
            usage.add(job, self._heaviest(job, [s.cluster for s in job.line]), 1)
        heads = self._queues.scheduler_view.next_singles(depth)
        jobs = [self._state.jobs[entry.key] for entry in heads]
        wanted = [self._able(job, usage, now) for job in jobs if not self._state.owes(job)]
        for number, clusters in stand(wanted, self._native_queues(now), siblings).items():
            job = self._state.jobs[number]
            counted = self._heaviest(job, [s.cluster for s in job.line])
            clusters = self._within(job, clusters, usage, counted)
            if not clusters:
                continue
            more = max(0, self._heaviest(job, clusters) - counted)
            usage.add(job, more, int(not job.line))
            if self._queues.refusals.suspensions:
                self._queues.refusals.spend(job, set(clusters), now)
            self._saga.line.stand(job, clusters, now)

    def _why_not(self, cluster: int, now: float) -> str:
        """Why nobody is to stand in line there any more; "": some may."""
        if self._state.ledger.drained(cluster):
            return "its cluster is drained"
        if cluster in self._contested:
            return ""
        known = self._state.ledger.known(cluster, now)
        return "nobody else waits there" if known else "its cluster does not answer"

    def _standing(self) -> list[Job]:
        return self._saga.line.standing()

    def _heaviest(self, job: Job, clusters: Collection[int]) -> int:
        """What it would hold in that one of these in which it holds the most."""
        weight = self._queues.held_back.weight
        return max((weight(job, (cluster,)) for cluster in clusters), default=0)

    def _within(
        self, job: Job, clusters: Collection[int], usage: Usage, counted: int = 0
    ) -> tuple[int, ...]:
        """Those of them in which it would be within its limits; so much of it is `counted`."""
        beyond, of = self._queues.held_back.beyond, (job, job.queue, usage)
        return tuple(c for c in clusters if beyond(*of, (c,), counted) is None)

    def _able(self, job: Job, usage: Usage, now: float) -> Standing:
        """Where the job may stand, and where it does. Siblings in clusters that do not answer do
        not count: others may take their turn."""
        request = job.request
        clusters = set(self._contested) - job.excluded
        if request.clusters is not None:
            clusters &= set(request.clusters)
        elif self._pinned(job):
            clusters &= {job.queue}
        too_small = {c for c, most in self._queues.request_of(job).bounds if most < request.total}
        clusters -= too_small
        clusters -= self._queues.refusals.elsewhere(job, now)
        known = self._state.ledger.known
        stands_in = [s.cluster for s in job.line if known(s.cluster, now)]
        clusters -= {s.cluster for s in job.line}
        if not job.line and not self._queues.held_back.holdings.as_asked(job):
            clusters = set(self._within(job, clusters, usage))
        return Standing(job.id, request.total, clusters | set(stands_in), stands_in)

    def _pinned(self, job: Job) -> bool:
        """Whether its user, or the user's home cluster, has put it into one cluster's queue, where
        the policy has such."""
        local = job.queue < len(self._state.settings.clusters)
        return local and job.queue in (job.local, job.home)

    def _native_queues(self, now: float) -> dict[int, NativeQueue]:
        """The own queues of the contested clusters that answer."""
        capacity, entries = self._state.ledger.capacity(now), self._state.ledger.entries
        found = {}
        for cluster in self._contested:
            snapshot = entries[cluster].snapshot
            if capacity[cluster] and snapshot is not None:
                found[cluster] = NativeQueue(capacity[cluster], snapshot.waiting)
        return found
