"""The way forward: from a placement to the barrier, one step of all components after another.

    begin -> [send files] -> reserve where the cluster can -> submit -> wait at the barrier

A job of one component neither reserves nor waits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from metabroker.broker import tokens
from metabroker.broker.job import Component, Job
from metabroker.broker.state import BrokerState
from metabroker.broker.states import JobState, Phase, Step
from metabroker.broker.tokens import Ref

from .barrier import Barrier
from .claims import Claims
from .pending import PendingSteps
from .staging import Staging


@dataclass(eq=False)
class Attempts:
    """Takes attempts forward."""

    _state: BrokerState
    _claims: Claims
    _pending: PendingSteps
    _barrier: Barrier
    _staging: Staging

    def begin(self, job: Job, placement: Iterable[int], now: float) -> None:
        """Start the job's next attempt on the clusters that the policy has chosen."""
        job.attempt += 1
        job.reason = ""
        settings, sizes = self._state.settings, job.request.sizes
        clusters = settings.clusters
        term = tokens.number(settings.key, job.id, job.attempt, settings.term)
        job.components = [
            Component(
                ref=Ref(job.id, job.attempt, index, term),
                cluster=cluster,
                processors=clusters[cluster].held(processors, job.shape.cpus_per_task),
                reserves=clusters[cluster].reserves and not job.single,
                seq=job.seq,
                asked_at=now,
            )
            for index, (processors, cluster) in enumerate(zip(sizes, placement, strict=True))
        ]
        for component in job.components:
            self._claims.add(component)
            self._state.outbox.changed(component)
        self._state.outbox.note(
            now,
            job,
            "placed",
            clusters=[clusters[c.cluster].name for c in job.components],
            processors=[c.processors for c in job.components],
        )
        for component, asked in zip(job.components, sizes, strict=True):
            if component.processors != asked:
                held = component.processors
                self._state.note(now, job, component, "rounded up", asked=asked, held=held)
        if job.stages_in:
            self._staging.send(job, now)
        else:
            self.claim(job, now)

    def claim(self, job: Job, now: float) -> None:
        """Reserve where that can be done; else submit at once."""
        if any(c.reserves for c in job.components):
            if job.state is not JobState.RESERVING:
                job.move(JobState.RESERVING)
            self._state.set_deadline(job, now + self._state.settings.reserve_timeout)
            for component in job.components:
                if component.reserves:
                    self._pending.start(component, Step.RESERVE, now)
        else:
            self._submit(job, now)

    def proceed(self, job: Job, now: float) -> None:
        """Take the attempt's next step if all of its components are ready for it. One that stood
        in a backup takes none: its script may have run already."""
        parts = job.components
        if job.uncertain is not None:
            return
        if job.state is JobState.RESERVING:
            if all(c.reservation for c in parts if c.reserves):
                self._submit(job, now)
        elif job.state is JobState.SUBMITTING and not job.single:
            if all(c.step is Step.NONE and c.reached(Phase.SUBMITTED) for c in parts):
                self._barrier.wait(job, now)
                self._barrier.advance(job, now)
        elif job.state is JobState.WAITING:
            self._barrier.advance(job, now)
        elif job.state is JobState.RUNNING and not job.single:
            self._barrier.open_rest(job, now)

    def _submit(self, job: Job, now: float) -> None:
        job.move(JobState.SUBMITTING)
        self._state.set_deadline(job, now + self._state.settings.submit_timeout)
        self._state.outbox.note(now, job, "submitting")
        for component in job.components:
            self._pending.watch(component)
            self._pending.start(component, Step.SUBMIT, now)
