"""Mistakes about what clusters are and what they show: after a start, and where the store is older
than they are."""

from __future__ import annotations

import contextlib
from typing import Any

from metabroker.broker import first_polls, store_behind, tokens
from metabroker.broker.job import Component, Job
from metabroker.broker.saga import barrier, claims
from metabroker.broker.saga.reconciliation import Reconciliation
from metabroker.broker.state import BrokerState
from metabroker.clusters.clocks import ClockWatch
from metabroker.clusters.openpbs import listed
from metabroker.clusters.openpbs.doubts import Doubts
from metabroker.clusters.openpbs.listing import Listing
from metabroker.clusters.openpbs.parsing import PbsReservation
from metabroker.runtime import engine

from .planting import among, mutation, swap


@mutation
@among("older-store")
def first_polls_not_awaited(stack: contextlib.ExitStack) -> None:
    """After a start the broker goes by what its store says at once."""
    swap(stack, first_polls.FirstPolls, "begin", lambda _self, _clusters, _until: None)


@mutation
@among("older-store")
def one_first_poll_is_enough(stack: contextlib.ExitStack) -> None:
    """After a start each cluster is used as soon as it has been polled itself."""
    swap(stack, first_polls.FirstPolls, "wait", property(lambda _self: False))


@mutation
def first_polls_for_placements_only(stack: contextlib.ExitStack) -> None:
    """After a start steps that were pending are handed out before the clusters were polled."""
    swap(stack, BrokerState, "shut", lambda _self, _cluster: False)


@mutation
@among("suspended")
def suspended_jobs_reach_their_limits(stack: contextlib.ExitStack) -> None:
    """The time for which a job is suspended counts against its time limit."""

    def counted(self: Any, component: Component, suspended: bool, taken_at: float) -> None:
        component.seen_at = taken_at

    swap(stack, Reconciliation, "_count_suspended", counted)


@mutation
def store_of_old_not_noticed(stack: contextlib.ExitStack) -> None:
    """What a cluster shows of an attempt that is to come is an orphan."""
    swap(stack, store_behind, "trouble", lambda *_given: "")


@mutation
def older_store_goes_on(stack: contextlib.ExitStack) -> None:
    """A store that is behind is told of, and the broker goes on."""
    trouble = store_behind.trouble

    def told(state: Any, *given: Any) -> str:
        why: str = trouble(state, *given)
        if why:
            state.next_job += 1000
        return ""

    swap(stack, store_behind, "trouble", told)


@mutation
@among("older-store")
def numbers_given_before_the_first_polls(stack: contextlib.ExitStack) -> None:
    """A job that is submitted just after a start is given a number at once."""

    def take(self: Any, intake: Any, now: float) -> None:
        while self._early:
            self._submit(self._early.popleft(), intake, now)

    swap(stack, engine.Engine, "_take_submissions", take)


@mutation
@among("before-the-commit")
def found_started_is_nothing(stack: contextlib.ExitStack) -> None:
    """A script that runs says nothing of an attempt that is not committed by the store."""

    def found_open(self: Any, job: Job, start: float, now: float) -> None:
        if job.uncertain is not None:
            before(self, job, start, now)

    before = swap(stack, barrier.Barrier, "found_open", found_open)


@mutation
@among("ids-again")
def an_id_tells_whose_job_it_is(stack: contextlib.ExitStack) -> None:
    """A job with the id of one that its cluster has lost is that one, renamed, by whatever name."""
    swap(stack, tokens, "is_another", lambda _name, _token: False)


@mutation
@among("ids-again")
def an_id_given_again_stays_the_formers_too(stack: contextlib.ExitStack) -> None:
    """A job whose id its cluster has given to another one of ours is looked for by that id."""

    def submitted(self: Any, *given: Any) -> None:
        self._ids.clear()
        before(self, *given)

    before = swap(stack, claims.Claims, "submitted", submitted)


@mutation
def whatever_a_listing_shows_is_a_reservation(stack: contextlib.ExitStack) -> None:
    """What users have written into reservations of OpenPBS is believed."""

    def reservations(text: str, _known: Any) -> tuple[list[PbsReservation], list[str]]:
        return [r for each, lines in listed._blocks(text) for r in listed._read(each, lines)], []

    swap(stack, listed, "reservations", reservations)
    swap(stack, Doubts, "believes", lambda self, listed, *, weak: True)
    swap(stack, Listing, "are_there", lambda self, ids: None)


@mutation
@among("untold-clocks")
def a_clock_not_told_counts_as_right(stack: contextlib.ExitStack) -> None:
    """Until a cluster has told what time it is there, it is what it is here."""

    def begin(self: Any, *given: Any) -> None:
        before(self, *given)
        self.awaited = False

    def look(self: Any, now: float, *, answers: bool = False) -> Any:
        return (yield from asked(self, now))

    before = swap(stack, ClockWatch, "__init__", begin)
    asked = swap(stack, ClockWatch, "look", look)
