"""The way forward: from a placement to the barrier, one step of all components after another.

    begin -> [send files] -> reserve where the cluster can -> submit -> wait at the barrier

A job of one component neither reserves nor waits. One that is planned for later reserves in one
cluster after another, and is submitted when its time comes (see `plans`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from metabroker.broker import tokens
from metabroker.broker.job import Component, Job
from metabroker.broker.state import BrokerState
from metabroker.broker.states import JobState, Phase, Step
from metabroker.broker.tokens import Ref
from metabroker.broker.transfer import costs

from .barrier import Barrier
from .claims import Claims
from .pending import PendingSteps
from .staging import Staging

_SAME = 0.001  # seconds
_TOO_LATE = 30.0  # seconds: half of `Settings.plan_patience`


@dataclass(eq=False)
class Attempts:
    """Takes attempts forward."""

    _state: BrokerState
    _claims: Claims
    _pending: PendingSteps
    _barrier: Barrier
    _staging: Staging

    def begin(
        self, job: Job, placement: Iterable[int], now: float, planned: float | None = None
    ) -> None:
        """Start the job's next attempt on the clusters that the policy has chosen; `planned`: its
        script is to start then (Unix seconds), and not as soon as that can be."""
        job.attempt, job.siblings = job.attempt + 1, 0
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
                planned=planned,
            )
            for index, (processors, cluster) in enumerate(zip(sizes, placement, strict=True))
        ]
        for component in job.components:
            self._claims.add(component)
            self._state.outbox.changed(component)
        more = {} if job.may_take == job.time_limit else {"time_limit": job.may_take}
        self._state.outbox.note(
            now,
            job,
            "placed",
            clusters=[clusters[c.cluster].name for c in job.components],
            processors=[c.processors for c in job.components],
            **more,
            **self._files(job),
        )
        for component, asked in zip(job.components, sizes, strict=True):
            if component.processors != asked:
                held = component.processors
                self._state.note(now, job, component, "rounded up", asked=asked, held=held)
        if job.stages_in:
            self._staging.send(job, now)
        else:
            self.claim(job, now)

    def _files(self, job: Job) -> dict[str, float]:
        """For its history: the seconds until its files are where it is put; {}: it has none."""
        if not job.inputs:
            return {}
        found = costs(job.inputs, self._state.settings, self._state.links)
        longest = max([found[c.cluster] for c in job.components]) if found else 0.0
        return {"files_in": round(longest, 1)}

    def claim(self, job: Job, now: float) -> None:
        """Reserve where that can be done; else submit at once."""
        if any(c.reserves for c in job.components):
            if job.state is not JobState.RESERVING:
                job.move(JobState.RESERVING)
            self._state.set_deadline(job, now + self._state.settings.reserve_timeout)
            if job.planned is not None:
                self._reserve_next(job, now)
                return
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
            if not all(c.reservation for c in parts if c.reserves):
                if job.planned is not None:
                    self._reserve_next(job, now)
            elif job.planned is None:
                self._submit(job, now)
            else:
                self.come_to_plan(job, now)
        elif job.state is JobState.SUBMITTING and not job.single:
            if all(c.step is Step.NONE and c.reached(Phase.SUBMITTED) for c in parts):
                self._barrier.wait(job, now)
                self._barrier.advance(job, now)
        elif job.state is JobState.WAITING:
            self._barrier.advance(job, now)
        elif job.state is JobState.RUNNING and not job.single:
            self._barrier.open_rest(job, now)

    def come_to_plan(self, job: Job, now: float) -> None:
        """All is reserved: it waits for its time, or is submitted if that has come."""
        if job.planned is None or any(c.step is not Step.NONE for c in job.components):
            return
        due = job.planned - self._state.settings.plan_lead
        if job.deadline not in (None, due):
            names = [self._state.settings.clusters[c.cluster].name for c in job.components]
            self._state.outbox.note(now, job, "planned", start=job.planned, clusters=names)
        if is_late(job, now):
            self._state.set_deadline(job, now)
        elif due <= now + _SAME:
            self._submit(job, now)
        elif job.deadline != due:
            self._state.set_deadline(job, due)

    def move(self, job: Job, start: float, now: float) -> None:
        """Move its reservations to that time, one after another: in the slowest cluster last, since
        what comes before may have to be moved back."""
        for component in job.components:
            component.moving = start
        self.move_next(job, now)

    def move_next(self, job: Job, now: float) -> None:
        """The next of those that are to be moved."""
        entries = self._state.ledger.entries

        def slowest_last(component: Component) -> tuple[float, int, int]:
            return entries[component.cluster].moves_take, *_in_order(component)

        left = [c for c in job.components if c.moving not in (None, c.planned)]
        if left and job.uncertain is None:
            self._pending.start(min(left, key=slowest_last), Step.RESERVE, now)

    def _reserve_next(self, job: Job, now: float) -> None:
        """In one order of clusters, so that two who plan never wait for each other."""
        if all(c.step is Step.NONE for c in job.components):
            missing = [c for c in job.components if not c.reservation]
            self._pending.start(min(missing, key=_in_order), Step.RESERVE, now)

    def _submit(self, job: Job, now: float) -> None:
        job.move(JobState.SUBMITTING)
        self._state.set_deadline(job, now + self._state.settings.submit_timeout)
        self._state.outbox.note(now, job, "submitting")
        for component in job.components:
            self._claims.begin(component)
            self._pending.watch(component)
            self._pending.start(component, Step.SUBMIT, now)


def is_late(job: Job, now: float) -> bool:
    """Whether the time of its plan has passed so long ago that its reservations may end before its
    job would."""
    return job.planned is not None and now > job.planned + _TOO_LATE


def _in_order(component: Component) -> tuple[int, int]:
    return component.cluster, component.ref.component
