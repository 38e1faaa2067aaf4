"""For how long an attempt may hold processors in each of its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from metabroker.broker.core import Broker
from metabroker.broker.job import Component, Job
from metabroker.broker.states import JobState, Step

from .oracle import Violation

_A_MINUTE = 60.0  # to whole ones a cluster rounds a time limit up
_SLACK = 30.0  # seconds in which the broker must do what is due


@dataclass(slots=True)
class StepTimes:
    """`stood_still`: for how long attempts were suspended, in seconds."""

    stood_still: dict[tuple[int, int], float] = field(default_factory=dict)
    _entered: dict[tuple[int, int, JobState, bool], float] = field(default_factory=dict)
    _waited: dict[int, float] = field(default_factory=dict)  # until when, by job
    _restored: dict[int, int] = field(default_factory=dict)  # attempts under way then, by job

    def restarted(self, broker: Broker) -> None:
        """A broker has begun. Each step has its whole time again."""
        self._entered.clear()
        self._waited.clear()
        self._restored = {job.id: job.attempt for job in broker.view.jobs.values()}

    def begin_anew(self) -> None:
        """It is able to act now: each step has its whole time from now on."""
        self._entered.clear()

    def check(
        self,
        broker: Broker,
        now: float,
        able_since: float,
        clock: float,
        away: Sequence[float],
        unread: Callable[[Component], bool],
    ) -> None:
        """No attempt holds processors for longer than it may, once the broker is able to act.
        `clock`: what the broker takes for `now`; `away`: until when each cluster is disturbed;
        `unread` tells whether a component runs, and nobody can read its records."""
        settings = broker.settings
        for job in broker.view.jobs.values():
            if job.single or not job.components or job.goal is not None:
                continue
            ending = all(c.over or c.step is Step.CLEAN for c in job.components)
            if job.state is JobState.RUNNING and ending:
                continue  # its results are on their way, or its clusters are being cleaned
            staging = any(c.step is Step.STAGE for c in job.components)
            bound = {
                JobState.RESERVING: settings.stage_timeout if staging else settings.reserve_timeout,
                JobState.SUBMITTING: settings.submit_timeout,
                JobState.WAITING: settings.barrier_timeout,
                JobState.RUNNING: job.may_take + settings.overtime_grace,
            }[job.state]
            able = max(able_since, self._waits_until(job, now, unread) + bound)
            if job.state is JobState.RUNNING and (job.deadline or 0.0) <= clock:  # since a restart
                bound += settings.barrier_slack + settings.stale_after
                able = max(able, *(away[c.cluster] + bound for c in job.components))
            if job.uncertain is not None:  # only looked for: its clusters end what was armed
                bound = job.may_take + settings.barrier_slack + _A_MINUTE
            since = self._entered.setdefault((job.id, job.attempt, job.state, staging), now)
            bound += self.stood_still.get((job.id, job.attempt), 0.0)
            held = all(component.reservation for component in job.components)
            if job.planned is not None and held and job.state is not JobState.RUNNING:
                bound += max(0.0, job.planned - clock + now - since)
            if now > max(since + bound, able) + _SLACK:
                raise Violation(f"liveness: job {job.id} is {job.state.value} since {since}")

    def _waits_until(self, job: Job, now: float, unread: Callable[[Component], bool]) -> float:
        """Until when it is waited for, since it may have been opened before the broker began: as
        long as it runs by its cluster's word, and nobody can read its records."""
        if job.state is JobState.RUNNING or self._restored.get(job.id) != job.attempt:
            return 0.0
        if any(map(unread, job.components)):
            self._waited[job.id] = now
        return self._waited.get(job.id, 0.0)
