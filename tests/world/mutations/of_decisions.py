"""Small changes to what the core decides, made without a look at what the oracle checks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from metabroker.broker import core, ledger
from metabroker.broker.effects import Clean, Submit
from metabroker.broker.events import Refused
from metabroker.broker.horizon import Horizon
from metabroker.broker.job import Component, Goal, Job
from metabroker.broker.observation import Snapshot
from metabroker.broker.refusals import Refusals
from metabroker.broker.saga.attempts import Attempts
from metabroker.broker.saga.barrier import Barrier
from metabroker.broker.saga.completion import Completion
from metabroker.broker.saga.failures import Failures
from metabroker.broker.saga.outcome import AttemptOutcome
from metabroker.broker.saga.pending import PendingSteps
from metabroker.broker.saga.reconciliation import Reconciliation
from metabroker.broker.saga.rollback import Rollback
from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.policy.view import SchedulerView

from .planting import among, mutation, swap


@mutation
def exit_code_of_the_first(stack: contextlib.ExitStack) -> None:
    """A failed job has the exit code of its first component."""

    def leave(self: Any, job: Job, state: Any, *given: Any, **more: Any) -> None:
        if state is JobState.FAILED and more.get("exit_code") is not None:
            more["exit_code"] = job.components[0].exit_code
        old(self, job, state, *given, **more)

    old = swap(stack, AttemptOutcome, "leave", leave)


@mutation
def completions_not_counted(stack: contextlib.ExitStack) -> None:
    """A job that fails is run again and again."""

    def failed(self: Any, job: Job, now: float) -> None:
        job.completion_failures = -1
        old(self, job, now)

    old = swap(stack, AttemptOutcome, "_completion_failed", failed)


@mutation
@among("cancelled")
def cancel_ends_in_failed(stack: contextlib.ExitStack) -> None:
    """A cancelled job that had started is FAILED."""

    def finish(self: Any, job: Job, goal: Goal, now: float) -> None:
        old(self, job, Goal.FAIL if goal is Goal.CANCEL else goal, now)

    old = swap(stack, Completion, "finish", finish)


@mutation
@among("renamed")
def native_id_not_told(stack: contextlib.ExitStack) -> None:
    """Who cleans a component does not know the number of its native job."""

    def effect(self: Any, component: Component, again: bool) -> Any:
        made = old(self, component, again)
        return replace(made, native=None) if isinstance(made, Clean) else made

    old = swap(stack, PendingSteps, "_effect", effect)


@mutation
@among("doomed")
def resubmit_without_a_look(stack: contextlib.ExitStack) -> None:
    """A submission that is repeated counts as the first."""

    def effect(self: Any, component: Component, again: bool) -> Any:
        made = old(self, component, again)
        return replace(made, again=False) if isinstance(made, Submit) else made

    old = swap(stack, PendingSteps, "_effect", effect)


@mutation
def no_second_try(stack: contextlib.ExitStack) -> None:
    """No timer is set for a step that is to be tried again."""

    def later(self: Any, component: Component, now: float) -> None:
        component.tries += 1

    swap(stack, PendingSteps, "retry_later", later)


@mutation
@among("accounts")
def refused_discard_is_done(stack: contextlib.ExitStack) -> None:
    """The folder of a gate that cannot be removed counts as removed."""

    def refused(self: Any, event: Refused, now: float) -> None:
        component, _job = self._claims.find(event.ref)
        if event.step is Step.DISCARD and component is not None:
            self._pending.done(component)
            self._claims.forget(component)
            return
        old(self, event, now)

    old = swap(stack, Failures, "refused", refused)


@mutation
@among("blind")
def missing_once_is_lost(stack: contextlib.ExitStack) -> None:
    """A job that one listing does not show is gone."""

    def missing(self: Any, component: Component, snapshot: Snapshot, now: float) -> None:
        component.missing_since = float("-inf")
        old(self, component, snapshot, now)

    old = swap(stack, Reconciliation, "_missing", missing)


@mutation
@among("slow-listings")
def listing_of_before_believed(stack: contextlib.ExitStack) -> None:
    """A listing counts though it was asked for before the component was submitted."""

    def judge(self: Any, component: Component, snapshot: Snapshot, now: float) -> None:
        asked, component.asked_at = component.asked_at, float("-inf")
        old(self, component, snapshot, now)
        if component.asked_at == float("-inf"):
            component.asked_at = asked

    old = swap(stack, Reconciliation, "_judge", judge)


@mutation
@among("blind")
def unsettled_listing_believed(stack: contextlib.ExitStack) -> None:
    """What a controller shows that has just been started is all that there is."""

    def observed(self: Any, event: Any, now: float) -> None:
        old(self, replace(event, snapshot=replace(event.snapshot, settled=True)), now)

    old = swap(stack, core.Broker, "_observed", observed)


@mutation
@among("whims")
def rolled_back_after_the_commit(stack: contextlib.ExitStack) -> None:
    """An attempt is rolled back as long as no script has told of its start."""

    def take_out(self: Any, job: Job, state: JobState, reason: str, now: float) -> bool:
        if any(c.started for c in job.components) or not job.components:
            return bool(old(self, job, state, reason, now))
        self._undo(job, now)
        self._outcome.leave(job, state, reason, now, old_place=True)
        return True

    old = swap(stack, Rollback, "take_out", take_out)


@mutation
def opened_with_one_not_armed(stack: contextlib.ExitStack) -> None:
    """The barrier opens when the first component is armed."""

    def advance(self: Any, job: Job, now: float) -> None:
        if any(c.phase is Phase.ARMED for c in job.components):
            self.open(job, now)
            return
        old(self, job, now)

    old = swap(stack, Barrier, "advance", advance)


@mutation
@among("paused")
def stale_polls_count(stack: contextlib.ExitStack) -> None:
    """What was seen long ago is taken for what is."""

    def known(self: Any, cluster: int, now: float) -> bool:
        entry = self.entries[cluster]
        return bool(entry.reachable and entry.snapshot is not None)

    swap(stack, ledger.Ledger, "known", known)


@mutation
def numbers_come_again(stack: contextlib.ExitStack) -> None:
    """After a restart the last job's number is given again."""

    def number_from(self: Any, number: int) -> None:
        old(self, max(1, number - 1))

    old = swap(stack, core.Broker, "number_from", number_from)


@mutation
@among("overtaken")
def overtakings_forgotten(stack: contextlib.ExitStack) -> None:
    """After a restart nobody was overtaken yet."""
    swap(stack, core.Broker, "recall", lambda self, memory: None)


@mutation
def suspended_for_good(stack: contextlib.ExitStack) -> None:
    """A cluster that has denied submissions is never tried again."""
    swap(stack, Refusals, "next_try", lambda self, now: None)
    swap(stack, Refusals, "due", lambda self, now: False)


@mutation
def denied_is_invalid(stack: contextlib.ExitStack) -> None:
    """What a cluster denies counts as the job's own mistake."""

    def refused(self: Any, event: Refused, now: float) -> None:
        if event.cause in (Cause.DENIED, Cause.UNREACHABLE):
            event = replace(event, cause=Cause.REFUSED)
        old(self, event, now)

    old = swap(stack, Failures, "refused", refused)


@mutation
@among("older-store")
def tokens_without_a_term(stack: contextlib.ExitStack) -> None:
    """What is begun anew, after the store has lost that it was begun, has the same name."""

    def begin(self: Any, job: Job, placement: Iterable[int], now: float, **more: Any) -> None:
        settings = self._state.settings
        self._state.settings = replace(settings, term=0)
        try:
            old(self, job, placement, now, **more)
        finally:
            self._state.settings = settings

    old = swap(stack, Attempts, "begin", begin)


@mutation
def drained_counts_as_idle(stack: contextlib.ExitStack) -> None:
    """What is idle in a drained cluster is used."""

    def undrained(self: Any) -> None:
        for entry in self.entries:
            entry.drained = None

    def available(self: Any, now: float) -> Any:
        kept = [entry.drained for entry in self.entries]
        undrained(self)
        found = old_available(self, now), old_capacity(self, now)
        for entry, drained in zip(self.entries, kept, strict=True):
            entry.drained = drained
        return found

    old_available = swap(
        stack, ledger.Ledger, "available", lambda self, now: available(self, now)[0]
    )
    old_capacity = swap(stack, ledger.Ledger, "capacity", lambda self, now: available(self, now)[1])


@mutation
def drained_until_the_next_start(stack: contextlib.ExitStack) -> None:
    """A restart forgets which clusters are drained."""
    swap(stack, core.Broker, "recall_drained", lambda self, drained: None)


@mutation
def no_job_looks_ahead(stack: contextlib.ExitStack) -> None:
    """What others have reserved for later concerns nobody."""
    swap(stack, Horizon, "ahead", lambda self, job, now: {})
    swap(stack, Horizon, "keep_away", lambda self, job, placement, now: False)


@mutation
def all_look_a_minute_ahead(stack: contextlib.ExitStack) -> None:
    """A job's horizon is not its own."""
    swap(stack, Horizon, "_until", lambda self, job, cluster, now: now + 60.0)


@mutation
@among("other-policy")
def queues_of_the_policy_before(stack: contextlib.ExitStack) -> None:
    """After a restart under another policy jobs wait in the queues that they waited in."""
    swap(stack, SchedulerView, "keeps", lambda self, request, queue: True)


@mutation
@among("taken")
def a_full_cluster_costs_a_try_each_time(stack: contextlib.ExitStack) -> None:
    """Also if it was not polled since it said so."""
    swap(stack, AttemptOutcome, "_is_full_still", lambda self, job, by, now: False)
