"""What all parts of the saga stand on: the components that claim something, and what is owed.

A component is *live* from its placement until its cluster was seen clean of it. At most one step
is owed to it at a time; `_owe` says so in its row and hands out the effect.
"""

from __future__ import annotations

from typing import Protocol

from . import tokens
from .effects import Arm, Clean, Discard, Effect, Fetch, Open, Reserve, Stage, Submit, Unwatch
from .events import (
    Cleaned,
)
from .job import Component, Job
from .ledger import Ledger
from .orphans import Orphans
from .outbox import Outbox, Timers
from .refusals import Refusals
from .restored import History
from .settings import Settings
from .states import Cause, Phase, Step
from .tokens import Ref

_FIX = " (can its folder and its output, -D, -o and -e, be written on the cluster's nodes?)"


class Queues(Protocol):
    """What the saga needs of the queues."""

    def requeue(self, job: Job, now: float) -> None:
        """Put the job at its queue's tail."""

    def rejoin(self, job: Job, now: float) -> None:
        """Put the job at its old place."""

    def can_go(self, job: Job) -> bool:
        """Whether any clusters are left that may accept the job."""

    def accepted(self, job: Job, cluster: int) -> None:
        """A cluster has taken the job: its user may be at no limit there any more."""

    @property
    def refusals(self) -> Refusals:
        """The limits of users, and who waits for that."""

    def freed(self, component: Component) -> None:
        """The component's processors are not held any more."""

    def retry_queues_at(self, time: float) -> None:
        """More may fit from `time` on."""

    def ended(self, job: Job) -> None:
        """The job has ended."""


class Attempts:
    """All attempts under way, and all debts of former ones."""

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        outbox: Outbox,
        timers: Timers,
        queues: Queues,
        jobs: dict[int, Job],
        history: History,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._out = outbox
        self._timers = timers
        self._queues = queues
        self._jobs = jobs
        self.live: list[dict[Ref, Component]] = [{} for _ in settings.clusters]
        self._where: dict[Ref, Component] = {}
        self.leftovers = Orphans(settings, history)

    def adopt(self, component: Component) -> None:
        """Count the component's claim (a new one, or one that the store remembers)."""
        if component.phase is not Phase.GONE or component.step is not Step.NONE:
            self._where[component.ref] = component
        if component.phase is Phase.GONE:
            return
        self.live[component.cluster][component.ref] = component
        self._ledger.claim(component.cluster, component.processors)

    # --- small helpers ------------------------------------------------------------------------

    def _find(self, ref: Ref) -> tuple[Component | None, Job | None]:
        """The component, and its job if this is the job's present attempt."""
        component = self._where.get(ref)
        if component is None:
            return None, None
        job = self._jobs.get(ref.job)
        if job is None or job.attempt != ref.attempt or component not in job.components:
            return component, None
        return component, job

    def _owe(self, component: Component, step: Step, now: float) -> None:
        component.step = step
        component.tries = 0
        component.retry_at = None
        component.asked_at = now
        self._out.changed(component)
        if step in (Step.CLEAN, Step.FETCH, Step.KEEP, Step.DISCARD):
            self._out.effects.append(Unwatch(component.ref, component.cluster))
        self._emit(component, again=False)

    def _done(self, component: Component) -> None:
        if component.step not in (Step.FETCH, Step.KEEP, Step.DISCARD):
            component.detail = ""  # of what is done now
        component.step = Step.NONE
        component.retry_at = None
        self._out.changed(component)

    def _later(self, component: Component, now: float) -> None:
        component.tries += 1
        component.retry_at = now + self._settings.retry_delay(component.tries)
        self._timers.set(component.retry_at, component.ref)

    def _emit(self, component: Component, *, again: bool) -> None:
        self._out.effects.append(self._effect(component, again))

    def _effect(self, component: Component, again: bool) -> Effect:
        ref, cluster = component.ref, component.cluster
        if component.step is Step.ARM:
            return Arm(ref, cluster)
        if component.step is Step.OPEN:
            return Open(ref, cluster)
        if component.step is Step.CLEAN:
            return Clean(ref, cluster, component.reserves)
        if component.step is Step.FETCH:
            return Fetch(ref, cluster, again)
        if component.step in (Step.KEEP, Step.DISCARD):
            return Discard(ref, cluster, keep=component.step is Step.KEEP)
        if component.step is Step.STAGE:
            return Stage(ref, cluster, again)
        job = self._jobs[ref.job]
        if component.step is Step.RESERVE:
            seconds = job.time_limit + self._settings.reservation_slack
            return Reserve(ref, cluster, component.processors, seconds, again)
        seconds = job.time_limit if job.single else job.time_limit + self._settings.barrier_slack
        return Submit(
            ref,
            cluster,
            job.request.sizes[ref.component],
            seconds,
            reservation=component.reserves,
            barrier=not job.single,
            again=again,
        )

    @staticmethod
    def _within(job: Job | None, time: float, now: float) -> float:
        """A time that a component's record tells, which is a user's to write: it was not before
        its job was submitted, and is not to come."""
        return min(time, now) if job is None else max(job.submit_time, min(time, now))

    def _record(self, component: Component, event: Cleaned, now: float) -> None:
        """The component's own record tells its exit code; its cluster, whether it was ended."""
        job = self._jobs.get(component.ref.job)
        if event.started:
            component.started = True
            if component.start_time is None and event.start_time is not None:
                component.start_time = self._within(job, event.start_time, now)
            if job is not None and job.start_time is None and [component] == job.components:
                job.start_time = component.start_time
        if component.over:
            return
        if event.shut and not component.started and component.exit_code is not None:
            # Seen of a Slurm whose controller and nodes were being killed: COMPLETED.
            said = f"its cluster says {component.detail}, but its script has never started"
            if component.exit_code:
                said += _FIX
            component.exit_code, component.cause, component.detail = None, Cause.LOST, said
        if event.end_time is not None:
            ended = self._within(job, event.end_time, now)
            component.end_time = max(ended, component.start_time or ended)
        if event.exit_code is not None:
            component.exit_code = event.exit_code
            component.cause = Cause.EXIT if event.exit_code else None
        self._told_by_cluster(component, event)

    @staticmethod
    def _told_by_cluster(component: Component, event: Cleaned) -> None:
        """Why it ended, by its cluster's word."""
        # That a component was killed while it was cleaned away tells nothing new of why.
        known = component.cause not in (None, Cause.EXIT) and event.cause is Cause.KILLED
        if event.cause is not None and component.exit_code != 0 and not known:
            if component.tries and component.cause is not event.cause:
                component.detail = ""  # of a try to end it: no reason of its end
            component.cause = event.cause
            component.detail = event.detail or component.detail
        elif component.cause is None and component.exit_code is None:
            component.cause = Cause.KILLED
            if component.tries:
                component.detail = ""

    def _gone(self, component: Component, now: float) -> None:
        """Its cluster holds nothing of it; what is left is the folder of its gate, and in that
        its results."""
        if component.phase is not Phase.GONE:  # it may have been written off before
            self._release(component, now)
        job = self._jobs.get(component.ref.job)
        wanted = job is not None and component in job.components and _has_results(job, component)
        self._owe(component, Step.FETCH if wanted else Step.DISCARD, now)

    @staticmethod
    def _results_pending(job: Job) -> bool:
        """Whether results of the attempt, all of which is over, are not yet brought back."""
        return any(
            _has_results(job, c) and (c.phase is not Phase.GONE or c.step is Step.FETCH)
            for c in job.components
        )

    def _release(self, component: Component, now: float) -> None:
        component.advance(Phase.GONE)
        del self.live[component.cluster][component.ref]
        token = tokens.make(self._settings.instance, component.ref)
        self._ledger.free(component.cluster, component.processors, token, now)
        self._queues.freed(component)
        self._out.changed(component)

    def _deadline(self, job: Job, time: float) -> None:
        job.deadline = time
        self._timers.set(time, job.id)
        self._out.changed(job)

    def _blame(self, component: Component, detail: str) -> str:
        name = self._settings.clusters[component.cluster].name
        return f"component {component.ref.component} in {name}: {detail}"

    def _note(
        self, now: float, job: Job, component: Component, what: str, **detail: object
    ) -> None:
        name = self._settings.clusters[component.cluster].name
        self._out.note(now, job, what, component=component.ref.component, cluster=name, **detail)

    @property
    def debts(self) -> int:
        """Components that are owed a step."""
        return sum(1 for c in self._where.values() if c.step is not Step.NONE)

    def component(self, ref: Ref) -> Component | None:
        """The live component of that name."""
        return self._where.get(ref)


def _has_results(job: Job, component: Component) -> bool:
    return job.stages_out and (component.started or component.exit_code is not None)
