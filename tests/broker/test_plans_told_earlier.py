"""When it is looked for an earlier time for a job that has one (`saga.plans`)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.broker.effects import Effect, Reserve
from metabroker.broker.events import Refused, Reserved
from metabroker.broker.job import Job
from metabroker.broker.states import Cause, Step
from metabroker.broker.tokens import make
from metabroker.policy.availability import Held

from .planned import DELFT, FREE_AT, LEIDEN, Site


def moves(effects: list[Effect]) -> list[Reserve]:
    return [e for e in effects if isinstance(e, Reserve) and e.move]


def just_looked_at(site: Site) -> Job:
    """A planned job; it is not looked for a time for it again for 10 seconds and more."""
    job = site.planned()
    plans = site.bench.broker._saga.plans
    while plans.not_before(job, site.now + 10, held=True) is not None:
        site.pass_time(1)
    return job


@pytest.mark.parametrize("eased", [DELFT, LEIDEN, None])
def test_soon_after_another_job_of_ours_began_or_ended_in_one_of_its_clusters(
    eased: int | None,
) -> None:
    site = Site()
    job = just_looked_at(site)
    assert job.planned == FREE_AT + 5
    site.held = {c: [Held(32, FREE_AT - 300)] for c in (DELFT, LEIDEN)}
    if eased is not None:
        site.bench.broker.view.entries[eased].eased = site.now + 1
    assert bool(moves(site.pass_time(9))) == (eased is not None)
    site.bench.close()


def test_once_for_each_time_that_its_clusters_tell_of_the_time_to_come() -> None:
    site = Site()
    job = just_looked_at(site)
    plans = site.bench.broker._saga.plans
    site.bench.broker.view.entries[DELFT].eased = site.now + 1
    site.pass_time(9)
    assert plans.not_before(job, site.now, held=True) is None
    site.bench.close()


def test_it_begins_as_soon_as_its_clusters_could_have_moved_it_there_and_back() -> None:
    site = Site()
    site.planned()
    site.busy = [24, 24]
    (first,) = moves(site.pass_time(5))
    assert 0.5 <= (first.start or 0.0) - site.bench.now + 5 <= 6.5
    list(site.bench.ticks(3.0))
    site.handle(Reserved(first.ref))
    (second,) = moves(site.effects)
    list(site.bench.ticks(2.0))
    site.handle(Refused(second.ref, Step.RESERVE, Cause.BUSY, "somebody has come"))
    (back,) = moves(site.effects)
    site.handle(Reserved(back.ref))
    site.busy = [24, 23]
    (again,) = moves(site.pass_time(0.5))
    # The quicker one twice, and the slower one: a little less than the 2 and 3 seconds of before.
    assert 2 * 1.7 + 2.5 < (again.start or 0.0) - site.now < 2 * 2 + 3 + 1
    assert again.ref.component != first.ref.component, "the slower cluster comes last"
    site.bench.close()


def test_what_is_idle_for_one_is_not_given_to_two() -> None:
    site = Site()
    for _ in range(2):
        site.planned()
    site.busy = [24, 24]
    (first,) = moves(site.pass_time(5))
    # Where it cannot have them, the other is tried at once.
    site.handle(Refused(first.ref, Step.RESERVE, Cause.BUSY, "others have its cores"))
    (second,) = moves(site.pass_time(0.1))
    assert second.ref.job != first.ref.job
    site.bench.close()


def test_where_all_is_idle_for_two_both_begin() -> None:
    site = Site()
    for _ in range(2):
        site.planned()
    site.busy = [16, 16]
    assert len({move.ref.job for move in moves(site.pass_time(5))}) == 2
    site.bench.close()


def test_few_are_told_an_earlier_time_at_once_and_none_by_what_was_refused() -> None:
    site = Site(plan_share=1.0)
    for _ in range(6):
        site.planned(4, 4)
    site.held = {c: [Held(32, FREE_AT - 300)] for c in (DELFT, LEIDEN)}
    asked = moves(site.pass_time(20))
    assert len({move.ref.job for move in asked}) == 4
    for move in asked:
        refused = Refused(move.ref, Step.RESERVE, Cause.BUSY, "not free by then")
        assert not moves(site.handle(refused))
    assert not moves([e for _, ready in site.bench.ticks(4.0) for e in ready.effects])
    assert moves(site.pass_time(20)), "its cluster has told again"
    site.bench.close()


def test_who_is_refused_for_an_account_keeps_nobody_else_from_an_earlier_time() -> None:
    site = Site(plan_share=1.0)
    for _ in range(6):
        site.planned(4, 4)
    site.held = {c: [Held(32, FREE_AT - 300)] for c in (DELFT, LEIDEN)}
    asked = moves(site.pass_time(20))
    refused = Refused(asked[0].ref, Step.RESERVE, Cause.DENIED, "the account may not reserve")
    site.handle(refused)
    (other,) = moves([e for _, ready in site.bench.ticks(4.0) for e in ready.effects])
    assert other.ref.job not in {move.ref.job for move in asked}
    site.bench.close()


def test_a_cluster_that_does_not_answer_keeps_no_plan_of_others_from_an_earlier_time() -> None:
    site = Site(4, plan_share=1.0)
    for _ in range(4):
        site.planned(4, 4, clusters=(DELFT, LEIDEN))
    other = site.planned(4, 4, clusters=(2, 3))
    site.held = {c: [Held(32, FREE_AT - 300)] for c in range(4)}
    asked = moves(site.pass_time(20))
    assert len({move.ref.job for move in asked if move.cluster in (DELFT, LEIDEN)}) == 4
    assert {move.ref.job for move in asked if move.cluster in (2, 3)} == {other.id}
    site.bench.close()


def test_what_its_own_reservation_comes_to_keep_is_a_change() -> None:
    """It begins soon: what somebody leaves is held as before, by the reservation."""
    site = Site()
    job = site.planned()
    plans, ledger = site.bench.broker._saga.plans, site.bench.broker.view
    plans.tried(job, site.now)
    assert not plans.may_try(job, site.now + 0.1)
    part = job.components[0]
    token = make(site.bench.settings.instance, part.ref)
    entry = ledger.entries[part.cluster]
    assert entry.snapshot is not None
    entry.snapshot = replace(entry.snapshot, ours={**entry.snapshot.ours, token: 8})
    assert plans.may_try(job, site.now + 0.1)
    site.bench.close()
