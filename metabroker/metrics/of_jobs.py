"""Jobs and attempts, measured from what has become durable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from metabroker.broker.job import Component, Job
from metabroker.broker.outbox import OutboxEntry, Ready
from metabroker.broker.states import Cause, JobState

from .meters import CO_ALLOCATED, SINGLE, Meters

SHORTEST = 10.0
"""Seconds: a run time below this does not make a slowdown large (bounded slowdown)."""

_OF_LINE = {"in line": "made", "chosen": "won", "withdrawn": "withdrawn"}
_ENDED = {state.value.lower(): state for state in JobState if state.ended}


@dataclass(slots=True)
class _Attempt:
    """What is remembered of a co-allocated job's attempt until it is over. Times by component."""

    clusters: Sequence[str]
    processors: Sequence[int]
    planned: float | None = None  # the time that was promised first
    reserved: dict[int, float] = field(default_factory=dict)
    arrived: dict[int, float] = field(default_factory=dict)
    started: dict[int, float] = field(default_factory=dict)


class OfJobs:
    """Reads the journal entry by entry. In the core's thread; an attempt that was under way when
    the daemon began is measured from there on only."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters
        self._attempts: dict[int, _Attempt] = {}

    def tell(self, ready: Ready) -> None:
        """This is durable now."""
        if not ready.journal:
            return
        jobs = {job.id: job for job in ready.jobs}
        parts: dict[int, list[Component]] = {}
        for component in ready.components:
            parts.setdefault(component.ref.job, []).append(component)
        for entry in ready.journal:
            job = jobs[entry.job]
            if job.array is not None:
                continue  # its tasks are counted
            if entry.what in _ENDED:
                self._ended(job, _ENDED[entry.what])
            elif entry.what == "submitted" and "component" not in entry.detail:
                self._meters.submitted.labels(_kind(job)).inc()
            elif entry.what in _OF_LINE and job.single:
                cluster = entry.detail["cluster"]
                self._meters.siblings.labels(cluster, _OF_LINE[entry.what]).inc()
            elif entry.what == "cleaned up":
                held = entry.detail["held"] * job.request.total
                self._meters.gate_idle.labels(entry.detail["cluster"]).inc(held)
            elif not job.single:
                self._of_attempt(entry, job, parts.get(job.id, []))

    def _ended(self, job: Job, state: JobState) -> None:
        kind = _kind(job)
        self._meters.ended.labels(kind, state.value).inc()
        self._attempts.pop(job.id, None)
        if job.start_time is None or job.end_time is None:
            return
        response = max(0.0, job.end_time - job.submit_time)
        run = max(job.end_time - job.start_time, SHORTEST)
        self._meters.waiting.labels(kind).observe(max(0.0, job.start_time - job.submit_time))
        self._meters.response.labels(kind).observe(response)
        self._meters.slowdown.labels(kind).observe(max(1.0, response / run))

    def _of_attempt(self, entry: OutboxEntry, job: Job, parts: Sequence[Component]) -> None:
        if entry.what == "placed":
            made = _Attempt(entry.detail["clusters"], entry.detail["processors"])
            self._attempts[job.id] = made
            return
        attempt = self._attempts.get(job.id)
        if attempt is None:
            return
        component = entry.detail.get("component")
        if component is not None:
            self._of_component(entry, component, attempt, parts)
        elif entry.what == "planned":
            start = entry.detail["start"]
            attempt.reserved = dict.fromkeys(attempt.reserved, start)
            if attempt.planned is None:
                attempt.planned = start
                self._meters.plans.labels("made").inc()
        elif entry.what == "opened":
            if attempt.planned is not None:
                self._meters.plans.labels("started").inc()
                self._meters.lateness.observe(max(0.0, entry.time - attempt.planned))
            self._meters.attempts.labels("committed", "").inc()
            for index, since in attempt.arrived.items():
                waited = max(0.0, entry.time - since)
                self._meters.barrier.labels(attempt.clusters[index]).observe(waited)
        elif entry.what == "rolled back":
            if attempt.planned is not None:
                self._meters.plans.labels("given-up").inc()
            cause = entry.detail.get("cause") or _cause(job, entry.attempt, parts)
            self._meters.attempts.labels("rolled-back", cause).inc()
            for index in list(attempt.reserved):
                self._idle_until(entry.time, index, attempt)
            del self._attempts[job.id]

    def _of_component(
        self, entry: OutboxEntry, index: int, attempt: _Attempt, parts: Sequence[Component]
    ) -> None:
        if entry.what == "reserved":
            attempt.reserved[index] = entry.detail.get("begins", entry.time)
        elif entry.what == "at the barrier":
            attempt.arrived[index] = entry.time
        elif entry.what == "started":
            own = (p for p in parts if (p.ref.job, p.ref.component) == (entry.job, index))
            start = next((p.start_time for p in own if p.ref.attempt == entry.attempt), None)
            attempt.started[index] = entry.time if start is None else start
            self._idle_until(entry.time, index, attempt)
            if len(attempt.started) == len(attempt.clusters):
                times = attempt.started.values()
                self._meters.skew.observe(max(times) - min(times))

    def _idle_until(self, now: float, index: int, attempt: _Attempt) -> None:
        since = attempt.reserved.pop(index, None)
        if since is not None:
            idle = attempt.processors[index] * max(0.0, now - since)
            self._meters.reserved_idle.labels(attempt.clusters[index]).inc(idle)


def _kind(job: Job) -> str:
    return SINGLE if job.single else CO_ALLOCATED


def _cause(job: Job, attempt: int, parts: Sequence[Component]) -> str:
    """Why the attempt was undone: a user's word, a component's cause, or the broker's patience."""
    if job.state in (JobState.CANCELLED, JobState.HELD):
        return str(job.state.value).lower()
    of_it = (p for p in parts if (p.ref.job, p.ref.attempt) == (job.id, attempt))
    causes = (part.cause for part in of_it if part.cause is not None)
    return next(causes, Cause.DEADLINE).value
