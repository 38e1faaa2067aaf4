"""After a return from a backup: what of the lost time belongs to a job that is known."""

from __future__ import annotations

from .effects import CleanStray, Unclaimed, Watch
from .endings import Endings
from .job import Component, Job
from .observation import Snapshot
from .orphans import Orphan
from .states import JobState, Phase


class Adoption(Endings):
    """Names what was begun in a lost time, or finds its job again."""

    def _look_for_lost(
        self, cluster: int, snapshot: Snapshot, shown: list[str], now: float
    ) -> None:
        """`shown`: tokens of a lost time that a look at the cluster has shown."""
        new = self.leftovers.look(cluster, snapshot, shown)
        found = [
            left
            for left in list(self.leftovers)
            if left.cluster == cluster
            and left.native is not None
            and not left.unwanted
            and self._belongs(left, now)
        ]
        self._out.effects += [Unclaimed(cluster, left.token) for left in new if left not in found]
        for left in self.leftovers.to_remove(cluster, snapshot.taken_at):
            self._out.effects.append(CleanStray(cluster, left.token))

    def _belongs(self, left: Orphan, now: float) -> bool:
        """A later attempt of a job that is held: a job of one component is found again by it; of a
        co-allocated one others may have ended, unseen, so its reason only tells where it is."""
        job = self._jobs.get(left.ref.job)
        if job is None or job.state is not JobState.HELD or left.ref.attempt <= job.attempt:
            return False
        if not job.single:
            name = self._settings.clusters[left.cluster].name
            where = f"component {left.ref.component} of attempt {left.ref.attempt} is in {name}"
            if where not in job.reason:
                job.reason = f"{job.reason}; {where}" if job.reason else where
                self._out.changed(job)
            return False
        if left.ref.component == 0:
            self._find_again(job, left, now)
            return True
        return False

    def _find_again(self, job: Job, left: Orphan, now: float) -> None:
        """The job goes on in the attempt that was begun in the lost time."""
        native = left.native
        assert native is not None
        settings = self._settings.clusters[left.cluster]
        component = Component(
            ref=left.ref,
            cluster=left.cluster,
            processors=settings.held(job.request.sizes[0]),
            reserves=False,
            seq=job.seq,
            phase=Phase.SUBMITTED,
            native_id=native.native_id,
            submit_time=native.submit_time,
            asked_at=now,
        )
        job.move(JobState.SUBMITTING)
        job.attempt = left.ref.attempt
        job.reason = ""
        latest = self.leftovers.history.latest
        job.uncertain = None if latest is None else latest.when
        job.components = [component]
        self.adopt(component)
        self.leftovers.forget(left)
        self._out.changed(component)
        self._note(now, job, component, "found again", native_id=native.native_id)
        self._out.effects.append(Watch(component.ref, component.cluster))
