"""Mistakes that only show where several brokers share a store."""

from __future__ import annotations

import contextlib
from typing import Any

from sqlalchemy import update

from metabroker.broker import lease_term
from metabroker.clusters.file_transfer import work_folder
from metabroker.clusters.gate import gates
from metabroker.clusters.gate.positions import Position
from metabroker.runtime import engine
from metabroker.store import batches, leadership
from metabroker.store.tables import leadership as row

from .planting import among, mutation, shared, swap


@shared
def lease_thought_longer(stack: contextlib.ExitStack) -> None:
    """The holder counts on its lease for longer than the database does."""
    swap(stack, lease_term, "_SURE", 1.3)


@shared
def lease_counted_from_the_answer(stack: contextlib.ExitStack) -> None:
    """The holder acts without minding for how long it was stopped."""
    swap(stack, lease_term.LeaseTerm, "may_act", lambda _self, _now: True)


@shared
def lease_taken_before_its_end(stack: contextlib.ExitStack) -> None:
    """Who stands by takes over while somebody leads."""

    swap(stack, lease_term.LeaseWatch, "run_out", lambda _self, _row, _seconds, _now: True)


@shared
def any_lease_renewed(stack: contextlib.ExitStack) -> None:
    """A lease goes on although another broker has taken it."""

    def renew(self: Any, _term: int, _seconds: float) -> bool:
        with self._guard(), self._engine.begin() as connection:
            connection.execute(update(row).values(renewals=row.c.renewals + 1))
        return True

    swap(stack, leadership.Leadership, "renew", renew)


@shared
def written_in_an_old_term(stack: contextlib.ExitStack) -> None:
    """The database does not ask in whose name is written, nor after what. (The one alone changes
    nothing: a term of old knows the transaction before it no more.)"""

    def is_new(self: Any, connection: Any, batch: str) -> bool:
        self.before = None
        return bool(old(self, connection, batch))

    old = swap(stack, batches.Batches, "is_new", is_new)
    swap(stack, leadership.Leadership, "fence", lambda _self, _connection, _term: None)


@shared
def lease_read_before_the_lock_only(stack: contextlib.ExitStack) -> None:
    """Who takes over does not compare the row with what it has seen."""
    swap(stack, leadership, "_TAKEN", update(row))


@shared
def lease_by_the_databases_clock(stack: contextlib.ExitStack) -> None:
    """Who stands by takes over when the database's clock says that the lease has run out."""

    def take(self: Any, holder: str, seconds: float, _seen: Any, _after: int) -> int | None:
        taken: int | None = old(self, holder, seconds)
        return taken

    old = swap(stack, leadership.Leadership, "take", take)
    swap(stack, lease_term.LeaseWatch, "run_out", lambda _self, _row, _seconds, _now: True)


@shared
@among("promoted")
def older_leases_are_believed(stack: contextlib.ExitStack) -> None:
    """Where the database says that nobody leads, nobody does, whatever it has said before."""

    def run_out(self: Any, row: Any, seconds: float, now: float) -> bool:
        over = bool(old(self, row, seconds, now))
        self.went_back = False
        return over

    old = swap(stack, lease_term.LeaseWatch, "run_out", run_out)


@among("promoted-at-rest")
@mutation
def a_store_at_rest_is_not_looked_at(stack: contextlib.ExitStack) -> None:
    """Only a transaction shows that the store went back."""
    swap(stack, engine.Engine, "confirm", lambda _self: None)


@shared
def token_of_a_gate_written(stack: contextlib.ExitStack) -> None:
    """The token file is written in its place, so it may be written too late, and again."""

    def prepare(self: Any, order: Any) -> None:
        files = self._files
        first = Position.GO if order.barrier_seconds is None else Position.WAIT
        files.make_folder(order.gate)
        if self._position(order.gate) is None:
            if order.works:
                files.make_folder(work_folder(order.gate))
            files.write(f"{order.gate}/{gates.SCRIPT}", order.script, executable=True)
            files.write(f"{order.gate}/{first.value}", b"")

    swap(stack, gates.Gates, "prepare", prepare)
