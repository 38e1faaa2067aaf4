"""After a return from a backup: what of the lost time belongs to a job that is known.

A job that the backup shows waiting, or in an earlier attempt, may have been started since. What a
cluster shows of that later attempt is its own: a job of one component goes on in it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from metabroker.broker import tokens
from metabroker.broker.effects import CleanStray, Unclaimed
from metabroker.broker.job import Component, Job
from metabroker.broker.observation import Snapshot
from metabroker.broker.orphans import UnclaimedOrphan, UnclaimedOrphans
from metabroker.broker.state import BrokerState
from metabroker.broker.states import JobState, Phase

from .claims import Claims
from .pending import PendingSteps


@dataclass(eq=False)
class Adoption:
    """Names what was begun in a lost time, or finds its job again."""

    _state: BrokerState
    _claims: Claims
    _pending: PendingSteps
    _orphans: UnclaimedOrphans

    def adopt(self, cluster: int, snapshot: Snapshot, shown: Collection[str], now: float) -> None:
        """`shown`: tokens of a lost time that a poll of the cluster has shown."""
        new = self._orphans.observe(cluster, snapshot, shown)
        found = [
            orphan
            for orphan in list(self._orphans)
            if orphan.cluster == cluster
            and orphan.native is not None
            and not orphan.unwanted
            and self._belongs(orphan, now)
        ]
        effects = self._state.outbox.effects
        effects += [Unclaimed(cluster, orphan.token) for orphan in new if orphan not in found]
        for orphan in self._orphans.to_remove(cluster, snapshot.taken_at):
            effects.append(CleanStray(cluster, orphan.token))

    def _belongs(self, orphan: UnclaimedOrphan, now: float) -> bool:
        """Of a job that is held. Where a later attempt has one component, the job is found again by
        it. Of a co-allocated one, or of siblings, others may have ended, unseen: so the job's
        reason only tells where it is."""
        ref = orphan.ref
        job = self._state.jobs.get(ref.job)
        if job is None or job.state is not JobState.HELD or ref.attempt < job.attempt:
            return False
        if not tokens.proven(self._state.settings.key, ref):
            return False
        if not job.alone or ref.component or ref.attempt == job.attempt:
            name = self._state.settings.clusters[orphan.cluster].name
            where = f"component {ref.component} of attempt {ref.attempt} is in {name}"
            if where not in job.reason:
                job.reason = f"{job.reason}; {where}" if job.reason else where
                self._state.outbox.changed(job)
            return False
        self._find_again(job, orphan, now)
        return True

    def _find_again(self, job: Job, orphan: UnclaimedOrphan, now: float) -> None:
        """The job goes on in the attempt that was begun in the lost time."""
        native, latest = orphan.native, self._orphans.history.latest
        assert native is not None and latest is not None
        settings = self._state.settings.clusters[orphan.cluster]
        component = Component(
            ref=orphan.ref,
            cluster=orphan.cluster,
            processors=settings.held(job.request.sizes[0], job.shape.cpus_per_task),
            reserves=False,
            seq=job.seq,
            phase=Phase.SUBMITTED,
            native_id=native.native_id,
            submit_time=native.submit_time,
            asked_at=now,
        )
        job.move(JobState.SUBMITTING)
        job.attempt, job.siblings = orphan.ref.attempt, 0
        job.reason = ""
        job.uncertain = latest.when
        job.components = [component]
        self._claims.add(component)
        self._orphans.forget(orphan)
        self._state.outbox.changed(component)
        native_id = native.native_id
        self._state.note(now, job, component, "found again", native_id=native_id)
        self._pending.watch(component)
