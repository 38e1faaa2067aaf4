"""What becomes of those who stand in line when the broker is restarted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.broker import tokens
from metabroker.broker.effects import Clean, CleanStray, Open, Unclaimed
from metabroker.broker.events import (
    Arrived,
    Cleaned,
    GaveUp,
    Refused,
    Started,
    Submitted,
    Unsure,
)
from metabroker.broker.job import Job
from metabroker.broker.observation import NativeJob, NativeState
from metabroker.broker.states import Cause, JobState, Step
from metabroker.broker.store_behind import StoreBehind
from metabroker.broker.tokens import Ref
from metabroker.service import reasons

from .bench import INSTANCE
from .test_line import Site, of, sibling, site

__all__ = ["site"]


def test_after_a_crash_the_one_that_was_chosen_is_opened_and_no_other(site: Site) -> None:
    job = site.submit()
    site.accept()
    first, second = sibling(job, 0), sibling(job, 1)
    site.bench.handle(Arrived(first, "node1"))
    effects = site.bench.restart().effects
    assert (of(effects, Open), of(effects, Clean)) == ([first], [second])
    (again,) = site.bench.broker.view.jobs.values()
    assert ([c.ref for c in again.components], again.line) == ([first], [])


def test_after_a_crash_before_that_they_still_stand_in_line(site: Site) -> None:
    job = site.submit()
    site.accept()
    site.bench.restart()
    (again,) = site.bench.broker.view.jobs.values()
    assert [s.ref for s in again.line] == [s.ref for s in job.line]
    assert of(site.bench.handle(Arrived(sibling(again, 1), "node")).effects, Open)


def test_after_a_crash_another_stands_in_line_under_a_name_of_its_own(site: Site) -> None:
    site.submit()
    site.accept()
    site.jobs[1].clear()
    site.pass_time(120.0)  # one is not in its cluster: another takes its turn
    site.accept()
    (job,) = site.bench.broker.view.jobs.values()
    before = {s.ref for s in job.line}
    left = sibling(job, 0)
    site.bench.restart()
    site.look()
    site.bench.handle(GaveUp(left), Cleaned(left, shut=True))
    site.look()
    (again,) = site.bench.broker.view.jobs.values()
    (new,) = {s.ref for s in again.line} - before
    assert new.component > max(ref.component for ref in before)


def another_in_line(site: Site) -> tuple[bytes, Ref]:
    """Another sibling than those that a copy of the store tells of, which was made before."""
    site.submit()
    site.accept()
    copy = site.bench.back_up()
    (job,) = site.bench.broker.view.jobs.values()
    site.bench.handle(GaveUp(sibling(job, 1)))
    site.pass_time(site.bench.settings.limit_most)
    site.look()
    site.accept()
    (ref,) = (s.ref for s in job.line if s.ref.component > 1)
    assert (ref, job.siblings) == (Ref(job.id, job.attempt, 2, ref.term), 3)
    shown_as(site, ref, NativeState.RUNNING)
    return copy, ref


def test_a_sibling_of_a_time_that_the_store_has_lost_proves_that_it_is_behind(site: Site) -> None:
    copy, _ = another_in_line(site)
    site.bench.go_back(copy)
    with pytest.raises(StoreBehind, match="the store is older than the clusters: leiden shows"):
        site.look()


def test_after_a_restore_it_runs_on_and_its_jobs_reason_tells_where(site: Site) -> None:
    copy, ref = another_in_line(site)
    site.bench.come_back(copy)
    effects = [*site.look(), *site.pass_time(60.0)]
    assert not site.bench.broker.view.behind
    token = tokens.make(INSTANCE, ref)
    stray = [e.token for e in effects if isinstance(e, CleanStray)]
    assert token not in stray and Unclaimed(1, token) in effects
    (job,) = site.bench.broker.view.jobs.values()
    assert job.state is JobState.HELD
    assert job.reason.count("component 2 of attempt 1 is in leiden") == 1


def test_one_that_was_withdrawn_and_shows_late_is_removed_all_the_same(site: Site) -> None:
    another_in_line(site)
    (job,) = site.bench.broker.view.jobs.values()
    gone = Ref(job.id, job.attempt, 1, job.line[0].ref.term)
    site.bench.handle(Cleaned(gone, shut=True))
    site.jobs[1][tokens.make(INSTANCE, gone)] = NativeJob("8", 1.0, NativeState.RUNNING, "RUNNING")
    site.bench.restart()
    effects = [*site.look(), *site.pass_time(60.0)]
    assert tokens.make(INSTANCE, gone) in [e.token for e in effects if isinstance(e, CleanStray)]
    assert not site.bench.broker.view.behind


def test_one_whose_script_runs_is_not_withdrawn_since_a_job_before_it_waits(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was chosen in a time that the store has lost. A look tells first that it has come up."""
    job = site.submit()
    site.accept()
    site.bench.restart()
    (job,) = site.bench.broker.view.jobs.values()
    ref = sibling(job, 1)
    scheduler = site.bench.broker._queues.scheduler_view
    monkeypatch.setattr(type(scheduler), "may_start", lambda *_given: False)
    effects = site.bench.handle(Arrived(ref, "node", begun=True)).effects
    assert not of(effects, Clean) and job.state is JobState.QUEUED
    effects = site.bench.handle(Started(ref, site.bench.now, "node")).effects
    assert ref not in of(effects, Clean)
    assert ([c.ref for c in job.components], job.line) == ([ref], [])


def test_one_that_was_chosen_and_not_let_through_in_time_has_used_up_no_try(site: Site) -> None:
    """Only the broker and the way to its cluster let it through: no matter of the job's."""
    job = site.submit()
    site.accept()
    first = sibling(job, 0)
    site.bench.handle(Arrived(first, "node1"))
    assert of(site.bench.handle(GaveUp(first)).effects, Clean) == [first]
    site.bench.handle(Unsure(first, Step.CLEAN, "squeue: no answer"))
    site.bench.handle(Cleaned(first, shut=True))
    assert (job.state, job.submission_failures) == (JobState.QUEUED, 0)
    assert job.reason == "component 0 in delft: nothing let it through its gate in time"
    clusters = {s.cluster for s in job.line}
    assert clusters == {1}  # not where it was, for a while


def test_one_that_is_said_not_to_be_let_through_again_and_again_loses_its_place(
    site: Site,
) -> None:
    """What says so lies in the job's own gate, which its user can write."""
    job = site.submit()
    places = [job.seq]
    for _ in range(4):
        site.accept()
        ref = sibling(job, 0)
        site.bench.handle(Arrived(ref, "node1"))
        site.bench.handle(GaveUp(ref))
        effects = site.bench.handle(Cleaned(ref, shut=True)).effects
        site.effects = [*effects, *site.pass_time(site.bench.settings.limit_most)]
        places.append(job.seq)
    assert (job.state, job.submission_failures) == (JobState.QUEUED, 0)
    assert places[0] == places[1] == places[2] < places[3] < places[4]


def shown_as(site: Site, ref: Ref, state: NativeState) -> None:
    """Its cluster shows it so from now on."""
    (job,) = site.bench.broker.view.jobs.values()
    (part,) = (s for s in job.line if s.ref == ref)
    token = tokens.make(INSTANCE, ref)
    shown = NativeJob(part.native_id or "", part.submit_time, state, state.value)
    site.jobs[part.cluster][token] = shown


def test_no_other_is_let_through_while_one_may_have_been_in_a_time_the_store_has_lost(
    site: Site,
) -> None:
    """Its cluster shows it as come up, and the files there do not answer."""
    site.submit()
    site.accept()
    site.bench.restart()
    (job,) = site.bench.broker.view.jobs.values()
    first, second = sibling(job, 0), sibling(job, 1)
    shown_as(site, first, NativeState.RUNNING)
    site.look()
    assert not of(site.bench.handle(Arrived(second, "node")).effects, Open)
    assert [s.ref for s in job.line] == [first], "the other one is withdrawn"
    effects = site.look(busy=0)
    assert job.state is JobState.QUEUED and not of(effects, Open)
    told = reasons.of(site.bench.broker.view, site.bench.now, [1])[1].reason
    assert "component 0 in delft may have run before the daemon's start" in told
    # Its records can be read again.
    site.bench.handle(Arrived(first, "node", begun=True), Started(first, site.bench.now, "node"))
    assert (job.state, [c.ref for c in job.components]) == (JobState.RUNNING, [first])


def not_submitted_by_the_store(site: Site) -> tuple[Job, Ref, Ref]:
    """A job after a restart, and its siblings, of which nothing was answered before it."""
    site.submit()
    site.bench.restart()
    (job,) = site.bench.broker.view.jobs.values()
    return job, sibling(job, 0), sibling(job, 1)


def cannot_be_written(ref: Ref) -> Refused:
    why = "cannot write in /home/u: Input/output error"
    return Refused(ref, Step.SUBMIT, Cause.BUSY, why)


def test_a_no_to_what_was_submitted_in_a_time_the_store_has_lost_lets_nothing_else_through(
    site: Site,
) -> None:
    """The store does not tell that it was submitted, let alone chosen; its cluster shows it as
    come up, and the files there do not answer."""
    job, first, second = not_submitted_by_the_store(site)
    shown_as(site, first, NativeState.RUNNING)
    site.look()
    assert not of(site.bench.handle(cannot_be_written(first)).effects, Clean)
    cluster = next(part.cluster for part in job.line if part.ref == first)
    others = site.bench.broker.view.entries[cluster]
    assert others.unverified_since is None, "it stays open to others"
    site.bench.handle(Submitted(second, "7", site.bench.now))
    assert not of(site.bench.handle(Arrived(second, "node")).effects, Open)
    assert [s.ref for s in job.line] == [first], "the other one is withdrawn"
    site.bench.handle(Arrived(first, "node", begun=True), Started(first, site.bench.now, "node"))
    assert (job.state, [c.ref for c in job.components]) == (JobState.RUNNING, [first])


@pytest.mark.parametrize("shown", [None, NativeState.PENDING])
def test_what_had_not_been_submitted_and_did_not_come_up_holds_no_other_back(
    site: Site, shown: NativeState | None
) -> None:
    _, first, second = not_submitted_by_the_store(site)
    if shown is not None:
        shown_as(site, first, shown)
    site.look()
    assert of(site.bench.handle(cannot_be_written(first)).effects, Clean) == [first]
    site.bench.handle(Submitted(second, "7", site.bench.now))
    assert of(site.bench.handle(Arrived(second, "node")).effects, Open) == [second]


@pytest.mark.parametrize("let_through", [True, False])
def test_one_that_comes_up_before_the_first_polls_is_let_through_after_them(
    site: Site, let_through: bool
) -> None:
    """Unless they show that another one may have been, in a time that the store has lost."""
    site.submit()
    site.accept()
    site.bench.broker = site.bench.restored(polled=False)
    site.bench.settle()
    (job,) = site.bench.broker.view.jobs.values()
    first, second = sibling(job, 0), sibling(job, 1)
    effects = site.bench.handle(Arrived(second, "node")).effects
    assert not of(effects, Open) and job.state is JobState.QUEUED
    if let_through:
        shown_as(site, first, NativeState.RUNNING)
    shown_as(site, second, NativeState.RUNNING)
    site.bench.now += site.bench.settings.visible_after
    effects = [*site.look(), *site.look()]
    assert of(effects, Open) == ([] if let_through else [second])
    assert second in of(effects, Clean) or not let_through


def test_one_that_has_not_left_its_gate_holds_no_other_back(site: Site) -> None:
    site.submit()
    site.accept()
    site.bench.restart()
    (job,) = site.bench.broker.view.jobs.values()
    first, second = sibling(job, 0), sibling(job, 1)
    site.pass_time(10.0)  # both are pending
    shown_as(site, first, NativeState.RUNNING)
    site.look()
    assert of(site.bench.handle(Arrived(second, "node")).effects, Open) == [second]


def test_one_that_is_found_to_have_run_as_it_is_cleaned_has_its_job_held(site: Site) -> None:
    """It was over before the broker was back, so that its cluster shows nothing of it."""
    site.submit()
    site.accept()
    site.bench.restart()
    (job,) = site.bench.broker.view.jobs.values()
    first = sibling(job, 0)
    shown_as(site, first, NativeState.ENDED)
    site.look()
    site.pass_time(30.0)
    assert first not in [s.ref for s in job.line]
    site.look(busy=0)
    assert job.state is JobState.QUEUED, "it is begun nowhere else meanwhile"
    site.bench.handle(Cleaned(first, started=True, exit_code=0))
    assert (job.state, job.line) == (JobState.HELD, [])
    assert "its script has run" in job.reason


@pytest.mark.parametrize("preparing", [True, False])
def test_one_whose_nodes_are_woken_up_holds_no_other_back(site: Site, preparing: bool) -> None:
    """It has not come to its gate, though its cluster shows it with nodes of its own."""
    site.submit()
    site.accept()
    site.bench.restart()
    (job,) = site.bench.broker.view.jobs.values()
    first, second = sibling(job, 0), sibling(job, 1)
    shown_as(site, first, NativeState.RUNNING)
    token = tokens.make(INSTANCE, first)
    for shown in site.jobs.values():
        if token in shown:
            shown[token] = replace(shown[token], preparing=preparing)
    site.pass_time(10.0)
    found = of(site.bench.handle(Arrived(second, "node")).effects, Open)
    assert found == ([second] if preparing else [])
