"""Mistakes in the life of attempts, and in what of it is written."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from metabroker.broker import ledger, tokens
from metabroker.broker.effects import Watch
from metabroker.broker.events import Refused, Reserved
from metabroker.broker.job import Component, Goal, Job
from metabroker.broker.saga import Saga, reconciliation, records, replies
from metabroker.broker.saga.barrier import Barrier
from metabroker.broker.saga.completion import Completion
from metabroker.broker.saga.deadlines import Deadlines
from metabroker.broker.saga.failures import Failures
from metabroker.broker.saga.outcome import AttemptOutcome
from metabroker.broker.saga.pending import PendingSteps
from metabroker.broker.saga.reconciliation import Reconciliation
from metabroker.broker.saga.rollback import Rollback
from metabroker.broker.states import Cause, Phase, Step
from metabroker.clusters.gate import gates
from metabroker.clusters.gate.positions import Position
from metabroker.runtime import engine
from metabroker.store import store

from .planting import among, mutation, swap


@mutation
def attempt_number_ignored(stack: contextlib.ExitStack) -> None:
    """All attempts share one token, so what is left of one is taken for the next one's."""
    old: Any = tokens.make
    for module in (tokens,):
        swap(stack, module, "make", lambda instance, ref: old(instance, ref._replace(attempt=1)))


@mutation
def effect_before_the_write(stack: contextlib.ExitStack) -> None:
    """Effects are handed out although the store could not be written."""

    def flush(self: Any) -> Any:
        pending = self._pending
        self._pending = None
        if pending is None:
            return ()
        with contextlib.suppress(store.StoreUnavailable):
            self.store.commit(pending.batch, self.names)
        self._written(pending.batch.ready)
        for answer, job in pending.answers:
            answer(job)
        return pending.batch.ready.effects

    swap(stack, engine.Engine, "flush", flush)


@mutation
def barrier_opened_early(stack: contextlib.ExitStack) -> None:
    """The barrier opens when all components but one have arrived."""

    def advance(self: Any, job: Job, now: float) -> None:
        here = [c for c in job.components if c.reached(Phase.ARRIVED)]
        if len(job.components) > 1 and len(here) == len(job.components) - 1:
            for component in job.components:
                component.advance(Phase.ARMED)
            self.open(job, now)
            return
        old(self, job, now)

    def open_(self: Any, gate: str, peers: Any) -> None:
        for position in (Position.WAIT, Position.ARMED):
            self._move(gate, position, Position.GO)

    old = swap(stack, Barrier, "advance", advance)
    swap(stack, gates.Gates, "open", open_)


@mutation
def undo_forgotten(stack: contextlib.ExitStack) -> None:
    """A rollback forgets the components that have only been reserved."""

    def undo(self: Any, job: Job, now: float) -> None:
        for component in [c for c in job.components if c.phase is Phase.RESERVED]:
            if component.step is Step.NONE:
                self._claims.release(component, now)
                self._claims.forget(component)
        job.components = [c for c in job.components if c.phase is not Phase.GONE]
        old(self, job, now)

    old = swap(stack, Rollback, "_undo", undo)
    swap(stack, Reconciliation, "observe", _without_orphans)


def _without_orphans(self: Any, cluster: int, snapshot: Any, now: float) -> None:
    for component in list(self._claims.live[cluster].values()):
        if component.phase in reconciliation._WITH_ITS_CLUSTER and component.step is not Step.CLEAN:
            self._judge(component, snapshot, now)


@mutation
def strays_overlooked(stack: contextlib.ExitStack) -> None:
    """What turns up late in a cluster is not removed."""
    swap(stack, Reconciliation, "observe", _without_orphans)


@mutation
@among("blind")
def unknown_read_as_ended(stack: contextlib.ExitStack) -> None:
    """A job that its cluster does not show once has ended well."""

    def missing(self: Any, component: Component, snapshot: Any, now: float) -> None:
        component.exit_code = 0
        component.cause = None
        component.detail = "not shown"
        self._out_of_cluster(component, now)

    swap(stack, Reconciliation, "_missing", missing)


@mutation
def unknown_read_as_idle(stack: contextlib.ExitStack) -> None:
    """A cluster that does not answer is taken for what it was, and empty."""

    def available(self: Any, cluster: int, now: float) -> int:
        entry = self.entries[cluster]
        idle: int = entry.processors - entry.claimed
        return max(0, idle)

    swap(stack, ledger.Ledger, "_available", available)
    swap(stack, ledger.Ledger, "known", lambda self, cluster, now: True)


@mutation
def debt_dropped_when_a_cluster_is_down(stack: contextlib.ExitStack) -> None:
    """A clean without an answer is forgotten instead of done again."""

    def unsure(self: Any, event: Any, now: float) -> None:
        component, job = self._claims.find(event.ref)
        if event.step is Step.CLEAN and component is not None:
            if component.step is Step.CLEAN:
                self._completion.gone(component, now)
                if job is not None:
                    component.cause = component.cause or Cause.KILLED
                    self._completion.settle(job, now)
            return
        old(self, event, now)

    old = swap(stack, Failures, "unsure", unsure)
    swap(stack, Reconciliation, "observe", _without_orphans)


@mutation
def owed_steps_not_resumed(stack: contextlib.ExitStack) -> None:
    """After a restart what was owed is not done."""
    swap(stack, PendingSteps, "hand_out", lambda self, component: None)


@mutation
def watches_not_resumed(stack: contextlib.ExitStack) -> None:
    """After a restart nobody looks at the components' records."""

    def resume(self: Any, component: Component) -> None:
        effects = self._state.outbox.effects
        before = len(effects)
        old(self, component)
        effects[before:] = [e for e in effects[before:] if not isinstance(e, Watch)]

    old = swap(stack, PendingSteps, "resume", resume)
    swap(stack, Reconciliation, "_judge", lambda self, component, snapshot, now: None)


@mutation
def attempt_of_another_time_counted(stack: contextlib.ExitStack) -> None:
    """After a restart what is left of former attempts counts as of the present one."""
    from metabroker.broker import core

    def restore(self: Any, jobs: Any, components: Any, now: float) -> None:
        listed = list(components)
        old(self, jobs, listed, now)
        for component in listed:
            owner = self.view.jobs.get(component.ref.job)
            if owner is not None and component not in owner.components and owner.components:
                owner.components.append(component)

    old = swap(stack, core.Broker, "restore", restore)


@mutation
def request_id_ignored(stack: contextlib.ExitStack) -> None:
    """A submit that is repeated becomes another job."""

    def submit(self: Any, asked: Any, intake: Any, now: float) -> None:
        from dataclasses import replace

        anonymous = replace(asked, submission=replace(asked.submission, request_id=None))
        old(self, anonymous, intake, now)

    old = swap(stack, engine.Engine, "_submit", submit)


@mutation
def failed_component_leaves_the_others(stack: contextlib.ExitStack) -> None:
    """A failed component's job moves on while other components still run."""

    def settle(self: Any, job: Job, now: float) -> None:
        if job.components and any(c.over and not c.succeeded for c in job.components):
            self._outcome.decide(job, now)
            return
        old(self, job, now)

    old = swap(stack, Completion, "settle", settle)


@mutation
@among("doomed")
def deadline_forgotten_at_restart(stack: contextlib.ExitStack) -> None:
    """After a restart nobody minds the deadlines of attempts under way."""
    swap(stack, Deadlines, "resume", lambda self, job, now: None)


@mutation
def cancelled_while_running(stack: contextlib.ExitStack) -> None:
    """A cancelled job counts as gone at once, though its components may still be running."""

    def finish(self: Any, job: Job, goal: Any, now: float) -> None:
        old(self, job, goal, now)
        if goal is Goal.FAIL and job.id in self._state.jobs and job.components:
            self._outcome.decide(job, now)

    old = swap(stack, Completion, "finish", finish)


@mutation
def refused_counts_as_reserved(stack: contextlib.ExitStack) -> None:
    """A refused reservation is taken for one that was made, and the job goes without."""

    def made(self: Any, *given: Any) -> None:
        old(self, *given)
        no, yes = self._handlers[Refused], self._handlers[Reserved]

        def refused(event: Refused, now: float) -> None:
            if event.step is not Step.RESERVE:
                no(event, now)
                return
            component, _job = self.claims.find(event.ref)
            if component is not None:
                component.reserves = False
            yes(Reserved(event.ref), now)

        self._handlers = {**self._handlers, Refused: refused}

    old = swap(stack, Saga, "__init__", made)


@mutation
def aging_ignored(stack: contextlib.ExitStack) -> None:
    """The bound on overtaking is not kept."""
    from metabroker.policy.overtaking import Overtaking

    swap(stack, Overtaking, "left_for", lambda self, entry, idle: idle)


@mutation
def claims_not_counted(stack: contextlib.ExitStack) -> None:
    """What the broker has just claimed still looks idle."""
    swap(stack, ledger.Ledger, "claim", lambda self, cluster, processors: None)

    def free(self: Any, cluster: int, processors: int, token: str, now: float) -> None:
        self.entries[cluster].cleaned[token] = now

    swap(stack, ledger.Ledger, "free", free)


@mutation
def completed_is_believed(stack: contextlib.ExitStack) -> None:
    """A job that its cluster calls COMPLETED has run to its end, whatever its gate says."""
    old: Any = records.take_over

    def believing(part: Component, job: Job | None, event: Any, now: float) -> None:
        old(part, job, replace(event, shut=False, doubtful=False), now)

    swap(stack, replies, "take_over", believing)


@mutation
@among("told-to-end")
def an_exit_code_is_all_that_counts(stack: contextlib.ExitStack) -> None:
    """A script that was told to end, and ends with 0, has succeeded, whoever cancelled its job."""
    swap(stack, records, "_was_stopped", lambda job, event: False)


@mutation
@among("told-to-end")
def a_script_without_a_signal_in_its_record_ended_by_itself(stack: contextlib.ExitStack) -> None:
    """Whether a script was told to end, its wrapper knows, whenever that had the signal."""

    def was_stopped(job: Job | None, event: Any) -> bool:
        return bool(event.signalled and before(job, event))

    before = swap(stack, records, "_was_stopped", was_stopped)


@mutation
def deadlines_of_another_clock(stack: contextlib.ExitStack) -> None:
    """A deadline is kept over a restart, whatever the clocks of the two lives said."""

    def resume(self: Any, job: Any, _now: float) -> None:
        if job.deadline is not None:
            self._state.timers.set(job.deadline, job.id)

    swap(stack, Deadlines, "resume", resume)


@mutation
@among("opened-in-part")
def a_time_limit_of_what_never_started(stack: contextlib.ExitStack) -> None:
    """Whatever a cluster, or the broker, ends for the time that its native job took was over its
    job's time limit; also what has never started its script."""

    def over_limit(self: Any, component: Component, job: Job) -> bool:
        return component.cause is Cause.OVERTIME or job.goal is Goal.TIMEOUT

    swap(stack, AttemptOutcome, "_over_limit", over_limit)
