"""Co-allocated jobs that get a time on clusters that others want (`saga.plans`, `planning`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from metabroker.broker.effects import Clean, Effect, Open, Reserve, Submit
from metabroker.broker.events import (
    Armed,
    Arrived,
    CancelJob,
    DrainCluster,
    Refused,
    Reserved,
    Submitted,
    Unsure,
)
from metabroker.broker.observation import Coming
from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.policy.availability import Held, Wanted
from metabroker.submission.inputs import Inputs
from metabroker.submission.shape import Shape

from .planned import DELFT, FREE_AT, LEIDEN, Site


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.bench.close()


def claimed(site: Site) -> list[int]:
    return [entry.claimed for entry in site.bench.broker.view.entries]


def of(effects: list[Effect], kind: Any) -> list[Any]:
    return [effect for effect in effects if isinstance(effect, kind)]


def test_nothing_is_planned_before_clusters_have_told_what_time_it_is(site: Site) -> None:
    """Reservations are made by their clocks."""
    site.clock_awaited = True
    site.look()
    job = site.submit()
    assert not of(site.effects, Reserve) and job.planned is None
    site.clock_awaited = False
    site.pass_time(site.bench.settings.plan_again + 1.0)
    assert job.planned is not None


def test_a_job_is_reserved_for_the_earliest_common_start_in_one_cluster_after_another(
    site: Site,
) -> None:
    site.held[LEIDEN] = [Held(32, FREE_AT + 120)]
    site.look()
    job = site.submit()
    first = of(site.effects, Reserve)
    assert [e.cluster for e in first] == [DELFT]
    asked = site.reserve_all()
    assert [e.cluster for e in asked] == [DELFT, LEIDEN]
    assert {e.start for e in asked} == {FREE_AT + 125} and job.planned == FREE_AT + 125
    assert (job.state, job.deadline) == (JobState.RESERVING, FREE_AT + 105)
    assert claimed(site) == [0, 0]


def test_it_comes_after_all_that_wait_in_the_clusters_own_queues(site: Site) -> None:
    site.wanted[DELFT] = [Wanted(32, 900)]
    site.look()
    assert site.planned().planned == FREE_AT + 905


def test_it_need_not_wait_for_those_who_came_after_it(site: Site) -> None:
    site.wanted[DELFT] = [Wanted(32, 900, site.now - 60)]
    site.look()
    job = site.planned()
    assert job.planned == FREE_AT + 905
    site.wanted[DELFT] = [Wanted(32, 900, site.now + 2)]
    site.pass_time(20)
    site.reserve_all()
    assert job.planned == FREE_AT + 5


@pytest.mark.parametrize(("close", "where"), [(False, [DELFT, LEIDEN]), (True, [LEIDEN, DELFT])])
def test_of_several_choices_for_one_time_it_is_near_its_files_if_that_is_asked_for(
    close: bool, where: list[int]
) -> None:
    site = Site(close_to_files=close)
    job = site.submit(12, 4, inputs=Inputs(0, ((10**10, ("leiden",)),)))
    assert {e.start for e in site.reserve_all()} == {FREE_AT + 5}
    assert [part.cluster for part in job.components] == where
    site.bench.close()


def test_nothing_is_planned_where_nobody_else_wants_the_clusters() -> None:
    for site in (Site(), Site(plan_ahead=0.0)):
        site.waiting = [0, 0] if site.bench.settings.plan_ahead else [8, 8]
        site.bench.broker = site.bench._new()
        site.look()
        job = site.submit()
        assert (job.state, of(site.pass_time(30), Reserve)) == (JobState.QUEUED, [])
        site.bench.close()


def test_nothing_is_planned_beyond_what_is_configured() -> None:
    site = Site(plan_ahead=500.0)
    assert site.submit().state is JobState.QUEUED
    site.bench.close()
    site = Site(plan_jobs=1)
    assert site.planned(4, 4).planned is not None
    assert site.submit(4, 4).state is JobState.QUEUED
    site.bench.close()


def test_plans_have_a_share_of_each_cluster_at_a_time_and_one_alone_may_have_more(
    site: Site,
) -> None:
    first, second = site.planned(12, 12), site.planned(4, 4)
    third, fourth = site.planned(4, 4), site.planned(24, 24)
    end = FREE_AT + 5 + first.time_limit
    assert (first.planned, second.planned) == (FREE_AT + 5, FREE_AT + 5)
    assert third.planned is not None and third.planned > end
    assert fourth.planned is not None and fourth.planned > third.planned + third.time_limit


def test_processors_of_which_nobody_knows_when_they_are_free_are_not_planned_on() -> None:
    site = Site(plan_share=1.0)
    site.held[DELFT] = [Held(20, FREE_AT)]  # and 12 of another partition
    site.look()
    assert site.submit(24, 8).state is JobState.RESERVING  # 24 in leiden
    assert site.submit(24, 24).state is JobState.QUEUED
    site.bench.close()


def test_jobs_with_files_or_with_tasks_of_a_shape_are_not_planned(site: Site) -> None:
    assert site.submit(stages_in=True).state is JobState.QUEUED
    assert site.submit(shape=Shape(cpus_per_task=2)).state is JobState.QUEUED


def test_a_second_plan_is_for_after_the_first_where_both_do_not_fit() -> None:
    other = Site(plan_share=1.0)
    other.held = {c: [Held(24, FREE_AT), Held(8, FREE_AT + 10**5)] for c in (DELFT, LEIDEN)}
    other.look()
    one, two = other.planned(16, 16), other.planned(16, 16)
    end = (one.planned or 0) + one.time_limit
    assert two.planned is not None and two.planned >= end
    other.bench.close()


def test_its_components_are_submitted_ahead_of_its_time_and_meet_at_the_barrier(
    site: Site,
) -> None:
    job = site.planned()
    assert not of(site.pass_time(FREE_AT + 5 - 20 - 1 - site.now), Submit)
    sent = of(site.pass_time(2), Submit)
    assert [(e.cluster, e.reservation, e.barrier) for e in sent] == [
        (DELFT, True, True),
        (LEIDEN, True, True),
    ]
    assert claimed(site) == [8, 8]
    site.handle(*(Submitted(e.ref, "7", site.now) for e in sent))
    assert (job.state, job.deadline) == (JobState.WAITING, FREE_AT + 5 + 60)
    assert {e.seconds for e in sent} == {600 + 90}
    site.handle(*(Arrived(e.ref, "n1") for e in sent))
    opened = of(site.handle(*(Armed(e.ref) for e in sent)), Open)
    assert job.state is JobState.RUNNING
    assert [e.until for e in opened] == [site.now + 600 + 15] * 2  # others come after it


def test_a_refusal_gives_up_all_and_the_job_is_planned_for_later_when_it_is_clean(
    site: Site,
) -> None:
    job = site.submit()
    (first,) = of(site.effects, Reserve)
    site.handle(Reserved(first.ref))
    (second,) = of(site.effects, Reserve)
    site.handle(Refused(second.ref, Step.RESERVE, Cause.BUSY, "Requested nodes are busy"))
    assert (job.state, job.submission_failures, claimed(site)) == (JobState.QUEUED, 0, [0, 0])
    assert {e.ref for e in of(site.effects, Clean)} == {first.ref, second.ref}
    cleaning = site.effects
    assert not of(site.pass_time(30), Reserve)
    site.effects = cleaning
    site.clean()
    again = [*of(site.effects, Reserve), *of(site.pass_time(20), Reserve)]
    assert [(e.cluster, e.ref.attempt, e.start) for e in again] == [(DELFT, 2, FREE_AT + 70)]


def test_after_many_refusals_the_job_is_not_planned_for_a_while() -> None:
    site = Site(plan_moves=2, plan_pause=1000.0)
    job = site.submit()
    for _ in range(2):
        (asked,) = of(site.effects, Reserve)
        site.handle(Refused(asked.ref, Step.RESERVE, Cause.BUSY, "busy"))
        site.clean()
        site.effects = [*site.effects, *site.pass_time(20)]
    assert not of(site.effects, Reserve) and job.state is JobState.QUEUED
    assert not of(site.pass_time(300), Reserve)
    site.bench.close()


@pytest.mark.parametrize("answer", ["refused", "unsure", "late"])
def test_no_reservation_is_left_whatever_a_cluster_answers(site: Site, answer: str) -> None:
    job = site.submit()
    (first,) = of(site.effects, Reserve)
    if answer == "refused":
        site.handle(Refused(first.ref, Step.RESERVE, Cause.DENIED, "Access denied"))
        assert job.submission_failures == 0
    elif answer == "unsure":
        site.handle(Unsure(first.ref, Step.RESERVE, "timed out"))
    else:
        site.pass_time(35)
    assert job.state is JobState.QUEUED
    assert [e.ref for e in of(site.effects, Clean)] == [first.ref]


def test_it_is_started_earlier_when_all_its_processors_are_idle_earlier(site: Site) -> None:
    job = site.planned()
    site.busy = [24, 31]
    assert not of(site.pass_time(20), Reserve)
    site.busy = [24, 24]
    (asked,) = of(site.pass_time(20), Reserve)
    assert (asked.cluster, asked.move) == (DELFT, True)
    assert site.now - 20 < (asked.start or 0) < site.now + 15
    site.handle(Reserved(asked.ref))
    (second,) = of(site.effects, Reserve)
    assert (second.cluster, second.move, second.start) == (LEIDEN, True, asked.start)
    site.handle(Reserved(second.ref))
    assert len(of(site.effects, Submit)) == 2
    assert job.state is JobState.SUBMITTING and claimed(site) == [8, 8]


def test_a_refused_move_is_tried_again_at_once_only_if_somebody_has_left_or_come(
    site: Site,
) -> None:
    job = site.planned()
    site.busy = [24, 24]
    (asked,) = of(site.pass_time(5), Reserve)
    site.handle(Refused(asked.ref, Step.RESERVE, Cause.BUSY, "jobs may have its processors"))
    assert job.state is JobState.RESERVING
    assert not of(site.pass_time(0.5), Reserve)  # others' jobs may be on its processors: no change
    site.busy = [24, 23]
    assert [effect.move for effect in of(site.pass_time(0.5), Reserve)] == [True]


def test_it_is_told_an_earlier_time_when_much_is_free_earlier_than_was_known(site: Site) -> None:
    job = site.planned()
    site.held = {c: [Held(32, FREE_AT - 200)] for c in (DELFT, LEIDEN)}
    site.pass_time(30)
    assert {(e.start, e.move) for e in site.reserve_all()} == {(FREE_AT - 195, True)}
    assert (job.state, job.planned) == (JobState.RESERVING, FREE_AT - 195)
    assert job.deadline == FREE_AT - 195 - 20
    site.held = {c: [Held(32, FREE_AT - 230)] for c in (DELFT, LEIDEN)}
    assert not of(site.pass_time(30), Reserve)  # not worth it


def test_what_its_own_reservation_keeps_soon_is_idle_for_it(site: Site) -> None:
    job = site.planned()
    site.pass_time(FREE_AT - 30 - site.now)
    assert job.state is JobState.RESERVING
    site.kept = 8
    assert [e.move for e in of(site.pass_time(10), Reserve)] == [True]


@pytest.mark.parametrize("answer", ["refused", "unsure"])
def test_what_cannot_be_moved_takes_the_others_back_to_where_they_were(
    site: Site, answer: str
) -> None:
    job = site.planned()
    promised = job.planned
    site.busy = [24, 24]
    (asked,) = of(site.pass_time(20), Reserve)
    site.handle(Reserved(asked.ref))
    (second,) = of(site.effects, Reserve)
    if answer == "refused":
        site.handle(Refused(second.ref, Step.RESERVE, Cause.BUSY, "Requested nodes are busy"))
    else:
        site.handle(Unsure(second.ref, Step.RESERVE, "timed out"))
    (back,) = of(site.effects, Reserve)
    assert (back.ref, back.start, back.move) == (asked.ref, promised, True)
    site.handle(Refused(back.ref, Step.RESERVE, Cause.BUSY, "Reservation already started"))
    assert (job.state, job.planned) == (JobState.RESERVING, promised)
    assert {c.step for c in job.components} == {Step.NONE}
    site.busy = [32, 32]
    assert len(of(site.pass_time(600), Submit)) == 2


def test_a_move_that_a_restart_interrupts_ends_in_one_time_for_all(site: Site) -> None:
    job = site.planned()
    site.busy = [24, 24]
    (asked,) = of(site.pass_time(20), Reserve)
    site.handle(Reserved(asked.ref))
    (second,) = of(site.bench.restart().effects, Reserve)
    assert (second.start, second.move, second.again) == (asked.start, True, True)
    site.handle(Reserved(second.ref))
    assert site.job(job.id).state is JobState.SUBMITTING


def test_a_lost_reservation_has_the_job_planned_anew(site: Site) -> None:
    job = site.planned()
    site.pass_time(10)
    site.reserved[LEIDEN].clear()
    cleaned = {e.ref for e in of(site.pass_time(20), Clean)}
    assert (cleaned, job.submission_failures) == ({(1, 1, 0, 0), (1, 1, 1, 0)}, 0)
    assert job.state is JobState.QUEUED
    site.clean()
    site.effects = site.effects + site.pass_time(20)
    site.reserve_all()
    assert job.planned is not None and job.attempt == 2


def test_a_plan_survives_a_restart_at_every_step(site: Site) -> None:
    job = site.submit()
    site.effects = site.bench.restart().effects
    (first,) = of(site.effects, Reserve)
    assert (first.again, first.start) == (True, FREE_AT + 5)
    site.reserve_all()
    promised = site.job(job.id).planned
    site.bench.restart()
    job = site.job(job.id)
    assert (job.state, job.planned, claimed(site)) == (JobState.RESERVING, promised, [0, 0])
    site.look()
    sent = of(site.pass_time(600), Submit)
    assert len(sent) == 2 and job.state is JobState.SUBMITTING
    site.bench.restart()
    assert claimed(site) == [8, 8]


def test_a_cancelled_or_drained_plan_leaves_nothing(site: Site) -> None:
    job, other = site.planned(4, 4), site.planned(4, 4)
    site.handle(CancelJob(job.id, "ann"))
    assert len(of(site.effects, Clean)) == 2 and job.state is JobState.CANCELLED
    site.clean()
    site.handle(DrainCluster(LEIDEN, "root", "new disks"))
    assert len(of(site.pass_time(5), Clean)) == 2 and other.state is JobState.QUEUED
    site.clean()
    site.pass_time(60)
    assert other.state is JobState.QUEUED and claimed(site) == [0, 0]


def test_other_jobs_of_ours_are_kept_out_of_what_is_planned(site: Site) -> None:
    job = site.planned(16, 16)
    for cluster in (DELFT, LEIDEN):
        (token,) = site.reserved[cluster]
        site.coming[cluster] = [Coming(token, job.planned or 0, 1e7, 16, 16)]
    site.busy, site.waiting = [0, 0], [0, 0]
    site.bench.broker._state.ledger.entries[0].contested_until = 0.0
    site.bench.broker._state.ledger.entries[1].contested_until = 0.0
    site.look()
    long = site.submit(24)
    assert long.state is JobState.QUEUED
    assert site.submit(16).state is JobState.SUBMITTING


def test_what_is_left_of_a_plan_when_its_job_is_gone_is_cleaned_up(site: Site) -> None:
    job = site.planned()
    (ref,) = [c.ref for c in job.components if c.cluster == DELFT]
    site.handle(CancelJob(job.id, "ann"))
    left = dict(site.reserved[DELFT])
    site.clean()
    component = site.bench.broker.view.component(ref)
    assert component is not None and component.phase is Phase.GONE
    site.reserved[DELFT] = left
    names = [type(e).__name__ for e in site.pass_time(60)]
    assert "CleanStray" in names


def test_a_plan_goes_by_the_clock_of_its_clusters_and_ends_where_nodes_fail(site: Site) -> None:
    job = site.planned()
    later = (job.planned or 0) + 200
    for found in site.reserved.values():
        (token,) = found
        found[token] = replace(found[token], start_time=later, end_time=later + 900)
    site.pass_time(10)
    assert (job.planned, job.deadline) == (later, later - 20)
    site.bench.broker._state.ledger.entries[DELFT].usable = 4
    assert not site.bench.broker._saga.plans._in_the_way(job.components[0], job, site.now)
    assert site.bench.broker._saga.plans._in_the_way(job.components[0], job, later - 30)


def test_a_plan_whose_time_has_passed_while_the_broker_was_away_is_given_up(site: Site) -> None:
    job = site.planned()
    site.bench.now = FREE_AT + 5 + 31
    site.bench.restart()
    site.reserved = {DELFT: {}, LEIDEN: {}}
    assert not of(site.pass_time(1), Submit)
    assert site.job(job.id).state is JobState.QUEUED


def test_a_reservation_that_ends_too_soon_is_given_up(site: Site) -> None:
    job = site.planned()
    (token,) = found = site.reserved[DELFT]
    found[token] = replace(found[token], end_time=(job.planned or 0) + 600)
    assert of(site.pass_time(10), Clean) and job.state is JobState.QUEUED
