"""Mistakes in what carries decisions out: turns, executors, watchers, leases."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from metabroker.broker.effects import Effect, PendingEffect
from metabroker.broker.events import Tick
from metabroker.clusters.port import ComponentRecord
from metabroker.daemon.sharing import lease
from metabroker.runtime import engine, executor, lines, records, turns
from metabroker.store import StoreUnavailable
from metabroker.store.batches import Batches

from .planting import among, mutation, shared, swap


@mutation
def answers_dropped_while_the_store_is_away(stack: contextlib.ExitStack) -> None:
    """What clusters answer while the store cannot be written is lost."""

    def refuse(self: Any) -> None:
        old(self)
        self._kept.clear()

    old = swap(stack, turns.Turns, "_refuse_waiting", refuse)


@mutation
def no_order_per_component(stack: contextlib.ExitStack) -> None:
    """What is asked for one component is carried out at the same time."""

    def ask(self: Any, effect: PendingEffect) -> None:
        if not hasattr(effect, "ref"):
            old(self, effect)
            return
        with self._lock:
            self._lines.add(effect)

        def work() -> None:
            self._hook("before", effect)
            event = self._carry_out(effect)
            self._hook("after", effect)
            self._post(event)

        self._start(self._pool, effect.ref, work)

    old = swap(stack, executor.ClusterExecutor, "ask", ask)


@mutation
def answered_before_it_is_durable(stack: contextlib.ExitStack) -> None:
    """A user is told a job's number before the job is written."""

    def commit(self: Any, intake: Any) -> Sequence[Effect]:
        for answer, job in intake.answers:
            answer(job)
        intake.answers.clear()
        effects: Sequence[Effect] = old(self, intake)
        return effects

    old = swap(stack, engine.Engine, "_commit", commit)


@mutation
def effects_lost_after_trouble(stack: contextlib.ExitStack) -> None:
    """When the store can be written again, what was decided meanwhile is not carried out."""

    def again(self: Any) -> float:
        dispatch, self._dispatch = self._dispatch, lambda _effects: None
        try:
            return float(old(self))
        finally:
            self._dispatch = dispatch

    old = swap(stack, turns.Turns, "_again", again)


@mutation
def timers_not_looked_at(stack: contextlib.ExitStack) -> None:
    """No turn is taken for what is due."""

    def collect(self: Any) -> list[Any]:
        return [item for item in old(self) if not isinstance(item, Tick)]

    old = swap(stack, turns.Turns, "_collect", collect)


@mutation
def line_ends_after_one(stack: contextlib.ExitStack) -> None:
    """Of several things that are asked for one component only the first is done."""

    def finished(self: Any, ref: Any) -> PendingEffect | None:
        old(self, ref)
        self._lines.pop(ref, None)
        return None

    old = swap(stack, lines.Lines, "finished", finished)


@mutation
@among("late")
def orphans_claimed_for_ever(stack: contextlib.ExitStack) -> None:
    """An orphan that could not be removed once is never tried again."""
    swap(stack, lines.Lines, "removed", lambda self, effect: None)


@mutation
@among("unseen-starts")
def watcher_tells_only_once(stack: contextlib.ExitStack) -> None:
    """Of what is new about a component only the first thing is told."""

    def news(ref: Any, before: ComponentRecord, after: ComponentRecord) -> list[Any]:
        return list(old(ref, before, after))[:1]

    old = swap(stack, records, "news", news)


@shared
def lease_renewed_by_the_answer(stack: contextlib.ExitStack) -> None:
    """The lease counts from when the answer came, not from when it was asked for."""

    def renew(self: Any) -> bool:
        try:
            leads = self._leadership.renew(self.lease_term.term, self.lease_term.seconds)
        except StoreUnavailable:
            return True
        if leads:
            with self._news:
                self.lease_term.renewed(self._clock())
                self._news.notify_all()
        return bool(leads)

    swap(stack, lease.Lease, "renew", renew)


@shared
def permit_asked_once(stack: contextlib.ExitStack) -> None:
    """Who has led once may always act."""
    swap(stack, lease.Lease, "permit", lambda self: None)


@shared
def former_leader_goes_on(stack: contextlib.ExitStack) -> None:
    """A broker that learns that another one leads does not end."""
    swap(stack, lease.Lease, "_end", lambda self: None)
    swap(stack, lease.Lease, "renew", lambda self: True)


@mutation
def batch_written_twice(stack: contextlib.ExitStack) -> None:
    """A batch whose commit was not answered is written again whole."""
    swap(stack, Batches, "is_new", lambda _self, _connection, _batch: True)


@mutation
@among("promoted")
def lost_commits_are_not_noticed(stack: contextlib.ExitStack) -> None:
    """Who writes goes on, whatever the database has lost of what was written before."""

    def is_new(self: Batches, connection: Any, batch: str) -> bool:
        self.before = None
        return bool(old(self, connection, batch))

    old = swap(stack, Batches, "is_new", is_new)
