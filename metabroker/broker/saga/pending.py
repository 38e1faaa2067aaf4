"""Steps that are pending: what must be done for a component next, once its row says so.

At most one step is pending for a component at a time. `start` writes it into the component's row
and hands out the effect; both leave the core in one transaction, so the step survives a crash. It
stays pending until the driver has answered, and is handed out again (`again`) as often as needed:
every step is idempotent by the component's token. What is pending in a cluster that is shut is
handed out when that is over.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker.effects import (
    Arm,
    Clean,
    Discard,
    Effect,
    Fetch,
    Open,
    Reserve,
    Stage,
    Submit,
    Unwatch,
    Watch,
)
from metabroker.broker.job import Component
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Cause, Phase, Step

_AFTER_ITS_END = frozenset({Step.CLEAN, Step.FETCH, Step.KEEP, Step.DISCARD})


@dataclass(eq=False)
class PendingSteps:
    """Starts, repeats and ends steps."""

    _state: BrokerState

    def start(self, component: Component, step: Step, now: float) -> None:
        """From now on this step is pending, instead of any other."""
        component.step = step
        component.tries = 0
        component.retry_at = None
        component.asked_at = now
        self._state.outbox.changed(component)
        if step in _AFTER_ITS_END:
            self._state.outbox.effects.append(Unwatch(component.ref, component.cluster))
        self._emit(component, again=False)

    def done(self, component: Component) -> None:
        """The step was carried out; no other is pending yet."""
        if component.step not in (Step.FETCH, Step.KEEP, Step.DISCARD):
            component.detail = ""  # of what is done now
        component.step = Step.NONE
        component.retry_at = None
        self._state.outbox.changed(component)

    def retry_later(self, component: Component, now: float) -> None:
        """The step was not carried out, as far as is known: again after a pause."""
        component.tries += 1
        component.retry_at = now + self._state.settings.retry_delay(component.tries)
        self._state.timers.set(component.retry_at, component.ref)

    def ask_again(self, component: Component, step: Step, now: float) -> None:
        """A step that was given up is pending once more, after the longest pause: whoever can have
        it given up again and again, by a gate that is the user's own, keeps nobody busy by that."""
        component.step = step
        component.tries = 1
        component.asked_at = now
        component.retry_at = now + self._state.settings.retry_most
        self._state.timers.set(component.retry_at, component.ref)
        self._state.outbox.changed(component)

    def repeat(self, component: Component) -> None:
        """The pause is over: hand the step out again."""
        component.retry_at = None
        self._emit(component, again=True)

    def resume(self, component: Component) -> None:
        """After a restart: hand out again what is pending, and watch again what was watched."""
        if component.step is not Step.NONE:
            component.tries += 1
            self._emit(component, again=True)
        watched = component.step in (Step.SUBMIT, Step.ARM, Step.OPEN, Step.NONE)
        watched = watched and component.phase is not Phase.GONE
        if watched and (component.reached(Phase.SUBMITTED) or component.step is Step.SUBMIT):
            self.watch(component)

    def watch(self, component: Component) -> None:
        """Look at the component's own records from now on."""
        job = self._state.jobs.get(component.ref.job)
        joins = 0 if job is None else job.joins
        self._state.outbox.effects.append(Watch(component.ref, component.cluster, joins))

    def hand_out(self, component: Component) -> None:
        """Its cluster is shut no more: hand out what is pending, as if it had been before."""
        if component.step is not Step.NONE and component.retry_at is None:
            self._emit(component, again=True)

    def _emit(self, component: Component, *, again: bool) -> None:
        if not self._state.shut(component.cluster):
            component.named_late = False
            self._state.outbox.effects.append(self._effect(component, again))

    def _effect(self, component: Component, again: bool) -> Effect:
        ref, cluster = component.ref, component.cluster
        if component.step is Step.ARM:
            return Arm(ref, cluster)
        if component.step is Step.OPEN:
            return Open(ref, cluster, self._until(component))
        if component.step is Step.CLEAN:
            of = self._state.jobs.get(ref.job)
            spared = component.cause is Cause.STUCK if of is None else of.lets_run(component)
            return Clean(ref, cluster, component.reserves, component.native, spared)
        if component.step is Step.FETCH:
            return Fetch(ref, cluster, again)
        if component.step in (Step.KEEP, Step.DISCARD):
            return Discard(ref, cluster, keep=component.step is Step.KEEP)
        if component.step is Step.STAGE:
            return Stage(ref, cluster, again)
        job, settings = self._state.jobs[ref.job], self._state.settings
        if component.step is Step.RESERVE:
            planned = component.planned is not None
            slack = settings.plan_slack if planned else settings.reservation_slack
            shape = job.shape
            tasks = job.request.sizes[ref.component] // shape.cpus_per_task if shape else 0
            move = planned and component.reservation
            start = job.moves_to(component) if move else component.planned
            if start is not None:
                start += self._state.ledger.entries[cluster].clock_offset
            held = component.processors
            seconds = job.may_take + slack
            return Reserve(ref, cluster, held, seconds, again, tasks, shape, start, move)
        seconds = job.may_take if job.single else job.may_take + settings.barrier_slack
        if component.planned is not None:
            seconds = job.may_take + settings.plan_overtime
        return Submit(
            ref,
            cluster,
            job.request.sizes[0 if job.single else ref.component],
            seconds,
            reservation=component.reserves,
            barrier=component.sibling or not job.single,
            again=again,
            sibling=component.sibling,
            shape=job.shape,
            joins=job.joins,
        )

    def _until(self, component: Component) -> float | None:
        """When the reservation of one that was planned may end: others are planned after it. None:
        when it does by itself, also before a poll has told what the clock there shows."""
        job = self._state.jobs.get(component.ref.job)
        entry = self._state.ledger.entries[component.cluster]
        if job is None or job.start_time is None or component.planned is None:
            return None
        if entry.snapshot is None or entry.snapshot.clock_awaited:
            return None
        return job.start_time + job.may_take + self._state.settings.plan_grace + entry.clock_offset
