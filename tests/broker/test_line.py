"""Jobs that stand in line in the own queues of clusters that others want, too (`saga.line`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from metabroker.broker import tokens
from metabroker.broker.effects import Clean, Effect, Open, Submit
from metabroker.broker.events import (
    Arrived,
    CancelJob,
    Cleaned,
    GaveUp,
    HoldJob,
    Observed,
    Refused,
    Started,
    SubmitJob,
    Submitted,
)
from metabroker.broker.job import Goal, Job, NewJob
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.outbox import Ready
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.broker.states import Cause, JobState, Step
from metabroker.broker.tokens import Ref
from metabroker.policy import Aging, Request

from .bench import INSTANCE, Bench


class Site:
    """Two clusters of 32 processors. `wanted`: processors that others' jobs wait for in each."""

    def __init__(self, *, aging: Aging | None = None, wanted: int = 8, **settings: object) -> None:
        self.bench = Bench({"delft": 32, "leiden": 32}, aging=aging)
        self.bench.settings = replace(self.bench.settings, **settings)  # type: ignore[arg-type]
        self.bench.broker = self.bench._new()
        self.wanted = [wanted, wanted]
        self.jobs: dict[int, dict[str, NativeJob]] = {0: {}, 1: {}}
        self.effects: list[Effect] = []
        self.look()

    def take(self, ready: Ready) -> list[Effect]:
        self.effects = ready.effects
        return ready.effects

    def look(self, busy: int = 32) -> list[Effect]:
        """A poll of both: all processors are held by others."""
        for job in self.bench.broker.view.jobs.values():
            for each in job.line:
                pending = NativeJob(
                    each.native_id or "",
                    each.submit_time,
                    NativeState.PENDING,
                    "PENDING",
                    reason="Priority",
                )
                token = tokens.make(INSTANCE, each.ref)
                if each.native_id is not None:
                    self.jobs[each.cluster].setdefault(token, pending)
        looks = [
            Observed(
                cluster,
                Snapshot(self.bench.now, 32, 32, busy, jobs=self.jobs[cluster], waiting=wanted),
            )
            for cluster, wanted in enumerate(self.wanted)
        ]
        return self.take(self.bench.handle(*looks))

    def submit(self, size: int = 16, **more: object) -> Job:
        number = self.bench.broker.next_job
        new = NewJob("ann", "job", Request((size,)), 600, **more)  # type: ignore[arg-type]
        self.take(self.bench.handle(SubmitJob(new)))
        return self.bench.broker.view.jobs[number]

    def accept(self) -> None:
        """Whatever was submitted is in its cluster's queue."""
        sent = [effect for effect in self.effects if isinstance(effect, Submit)]
        self.bench.handle(*(Submitted(e.ref, f"7{e.cluster}", self.bench.now) for e in sent))

    def pass_time(self, seconds: float) -> list[Effect]:
        found: list[Effect] = []
        until = self.bench.now + seconds
        while self.bench.now < until:
            found += [e for _, ready in self.bench.ticks(5.0) for e in ready.effects]
            found += self.look()
        return found


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.bench.close()


def of(effects: list[Effect], kind: type) -> list[Ref]:
    return [effect.ref for effect in effects if isinstance(effect, kind)]  # type: ignore[union-attr]


def sibling(job: Job, index: int) -> Ref:
    return job.line[index].ref


def test_a_job_stands_in_line_in_both_clusters_and_waits_in_its_queue_all_the_same(
    site: Site,
) -> None:
    job = site.submit()
    sent = [e for e in site.effects if isinstance(e, Submit)]
    assert [(e.cluster, e.processors, e.sibling, e.barrier) for e in sent] == [
        (0, 16, True, True),
        (1, 16, True, True),
    ]
    assert (job.state, job.components) == (JobState.QUEUED, [])
    assert site.bench.broker.view.place(job.id) is not None
    assert [entry.claimed for entry in site.bench.broker.view.entries] == [0, 0]


def test_the_first_that_comes_up_is_opened_and_the_other_is_cleaned(site: Site) -> None:
    job = site.submit()
    site.accept()
    first, second = sibling(job, 1), sibling(job, 0)
    effects = site.take(site.bench.handle(Arrived(first, "node1")))
    assert (of(effects, Open), of(effects, Clean)) == ([first], [second])
    assert (job.state, [c.ref for c in job.components], job.line) == (
        JobState.SUBMITTING,
        [first],
        [],
    )
    assert [entry.claimed for entry in site.bench.broker.view.entries] == [0, 16]
    assert not of(site.take(site.bench.handle(Arrived(second, "node2"))), Open)
    site.bench.handle(Started(first, site.bench.now, "node1"))
    assert job.state is JobState.RUNNING


@pytest.mark.parametrize("faked", ["arrived", "started"])
def test_one_whose_user_has_faked_its_records_holds_nothing_until_its_cluster_starts_it(
    site: Site, faked: str
) -> None:
    job = site.submit()
    site.accept()
    site.look()
    ref = sibling(job, 0)
    site.bench.handle(Arrived(ref, "node1"))
    if faked == "started":
        site.bench.handle(Started(ref, site.bench.now, "node1"))
    claimed = []
    for _ in range(3):
        site.bench.now += 10
        site.look()
        claimed.append([entry.claimed for entry in site.bench.broker.view.entries])
    assert claimed == [[16, 0], [0, 0], [0, 0]]  # the first poll may be of a moment before
    token = tokens.make(INSTANCE, ref)
    running = replace(site.jobs[0][token], state=NativeState.RUNNING, word="RUNNING", processors=16)
    site.jobs[0][token] = running
    site.bench.now += 10
    site.look()
    assert [entry.claimed for entry in site.bench.broker.view.entries] == [16, 0]
    site.bench.handle(CancelJob(job.id, "ann"))
    site.bench.handle(Cleaned(ref, shut=False))
    assert [entry.claimed for entry in site.bench.broker.view.entries] == [0, 0]


def test_of_two_that_come_up_in_one_turn_one_is_opened(site: Site) -> None:
    job = site.submit()
    site.accept()
    both = [Arrived(s.ref, "node") for s in job.line]
    effects = site.bench.handle(*both).effects
    assert of(effects, Open) == [both[0].ref]


def test_a_refusal_is_one_sibling_less_and_the_last_one_is_a_failed_submission(
    site: Site,
) -> None:
    job = site.submit()
    first, second = sibling(job, 0), sibling(job, 1)
    site.bench.handle(Refused(first, Step.SUBMIT, Cause.LIMIT, "MaxSubmitJobs"))
    assert (job.state, [s.ref for s in job.line]) == (JobState.QUEUED, [second])
    assert job.submission_failures == 0
    site.bench.handle(Refused(second, Step.SUBMIT, Cause.OWN, "no such feature"))
    assert (job.state, job.submission_failures, job.line) == (JobState.QUEUED, 1, [])


def test_for_one_that_left_its_gate_another_stands_in_line(site: Site) -> None:
    job = site.submit()
    site.accept()
    left = sibling(job, 0)
    effects = site.bench.handle(GaveUp(left)).effects
    assert of(effects, Clean) == [left]
    site.bench.handle(Cleaned(left, shut=True))
    assert [(s.ref.component, s.cluster) for s in job.line] == [(1, 1), (2, 0)]
    assert job.line[1].ref.attempt == left.attempt


def test_what_would_stay_pending_is_withdrawn(site: Site) -> None:
    job = site.submit()
    site.accept()
    stays = job.line[0]
    site.jobs[0] = {
        tokens.make(INSTANCE, stays.ref): NativeJob(
            "70",
            site.bench.now,
            NativeState.PENDING,
            "PENDING",
            reason="ReqNodeNotAvail",
            stuck=True,
        )
    }
    found = site.pass_time(20.0)
    assert of(found, Clean) == [stays.ref]
    assert [s.cluster for s in job.line] == [1]


@pytest.mark.parametrize("ask", [CancelJob, HoldJob])
def test_what_its_user_does_not_want_stands_nowhere(
    site: Site, ask: type[CancelJob] | type[HoldJob]
) -> None:
    job = site.submit()
    site.accept()
    both = [s.ref for s in job.line]
    effects = site.bench.handle(ask(job.id, "ann")).effects
    assert of(effects, Clean) == both
    assert not of(site.bench.handle(Arrived(both[0], "node")).effects, Open)


def test_when_nobody_else_waits_there_any_more_the_policy_alone_decides(site: Site) -> None:
    job = site.submit()
    site.accept()
    both = [s.ref for s in job.line]
    site.wanted = [0, 0]
    assert of(site.pass_time(50.0), Clean) == []
    assert of(site.pass_time(20.0), Clean) == both
    effects = site.look(busy=0)
    (sent,) = [e for e in effects if isinstance(e, Submit)]
    assert (sent.ref.attempt, sent.sibling) == (2, False)


def test_idle_processors_of_a_contested_cluster_are_not_for_a_single_job() -> None:
    site = Site(wanted=0)
    site.wanted = [8, 0]
    site.look(busy=0)
    job = site.submit()
    (component,) = job.components
    assert component.cluster == 1, "nobody else wants that"
    other = site.submit(size=20)
    assert [s.cluster for s in other.line] == [0]
    site.bench.close()


def test_with_a_depth_of_0_nobody_stands_in_line() -> None:
    site = Site(line_depth=0)
    site.look(busy=0)
    assert site.submit().state is JobState.SUBMITTING
    site.bench.close()


def test_no_more_than_the_depth_of_a_queue_stand_in_line() -> None:
    site = Site(line_depth=2)
    jobs = [site.submit(size=4) for _ in range(4)]
    assert [len(job.line) for job in jobs] == [2, 2, 0, 0]
    site.bench.close()


@pytest.mark.parametrize("waits", [True, False], ids=["in its queue", "set aside meanwhile"])
def test_none_starts_past_a_job_that_may_not_be_overtaken_again(waits: bool) -> None:
    site = Site(aging=Aging(overtaken=1))
    old, young, late = site.submit(), site.submit(), site.submit()
    for job in (old, young, late):
        site.bench.handle(
            *(Submitted(s.ref, f"{job.id}{s.cluster}", site.bench.now) for s in job.line)
        )
    assert of(site.bench.handle(Arrived(sibling(young, 0), "node")).effects, Open)
    if not waits:
        site.bench.broker._queues.withdraw(late)
        site.bench.broker._queues.refusals.add(late)
    effects = site.bench.handle(Arrived(sibling(late, 0), "node")).effects
    assert (of(effects, Open), late.state) == ([], JobState.QUEUED)
    assert of(site.bench.handle(Arrived(sibling(old, 0), "node")).effects, Open)
    site.bench.close()


def test_one_that_was_set_aside_and_comes_up_overtakes_those_before_it() -> None:
    site = Site(aging=Aging(overtaken=1))
    old, young, late = site.submit(), site.submit(), site.submit()
    for job in (old, young, late):
        site.bench.handle(
            *(Submitted(s.ref, f"{job.id}{s.cluster}", site.bench.now) for s in job.line)
        )
    site.bench.broker._queues.withdraw(young)
    site.bench.broker._queues.refusals.add(young)
    assert of(site.bench.handle(Arrived(sibling(young, 0), "node")).effects, Open)
    assert not of(site.bench.handle(Arrived(sibling(late, 0), "node")).effects, Open)
    assert old.state is late.state is JobState.QUEUED
    site.bench.close()


def test_a_job_that_names_a_cluster_stands_in_line_there_alone(site: Site) -> None:
    number = site.bench.broker.next_job
    site.bench.handle(SubmitJob(NewJob("ann", "job", Request((4,), (1,)), 600)))
    assert [s.cluster for s in site.bench.broker.view.jobs[number].line] == [1]


class Alone:
    """A job that was placed where nobody else waits, and whose cluster says that it will stay
    pending there; another cluster is idle."""

    def __init__(self) -> None:
        self.site = Site(wanted=0)
        self.site.look(busy=0)
        self.job = self.site.submit()
        (self.component,) = self.job.components
        self.site.accept()
        self.site.jobs[0] = {
            tokens.make(INSTANCE, self.component.ref): NativeJob(
                "70",
                self.site.bench.now,
                NativeState.PENDING,
                "PENDING",
                reason="ReqNodeNotAvail",
                stuck=True,
            )
        }

    def withdrawn(self) -> Clean:
        for _ in range(4):
            self.site.bench.now += 5
            effects = self.site.look(busy=0)
            found = [e for e in effects if isinstance(e, Clean)]
            if found:
                return found[0]
        raise AssertionError("it stays there")


@pytest.fixture
def alone() -> Iterator[Alone]:
    made = Alone()
    yield made
    made.site.bench.close()


def test_a_placed_job_that_would_stay_pending_goes_to_another_cluster(alone: Alone) -> None:
    assert alone.withdrawn().unless_started
    effects = alone.site.bench.handle(Cleaned(alone.component.ref, shut=True)).effects
    (sent,) = [e for e in effects if isinstance(e, Submit)]
    assert (sent.cluster, sent.ref.attempt) == (1, 2)
    assert alone.job.submission_failures == 0


def test_if_it_has_started_meanwhile_it_goes_on(alone: Alone) -> None:
    ref = alone.withdrawn().ref
    effects = alone.site.bench.handle(
        Refused(ref, Step.CLEAN, Cause.STUCK, "its script may have started")
    ).effects
    assert [type(e).__name__ for e in effects] == ["Watch"]
    assert (alone.job.goal, alone.component.step, alone.component.cause) == (None, Step.NONE, None)
    alone.site.bench.handle(Started(ref, alone.site.bench.now, "node1"))
    assert alone.job.state is JobState.RUNNING


def test_one_that_nobody_may_withdraw_now_has_not_started(alone: Alone) -> None:
    ref = alone.withdrawn().ref
    alone.site.bench.handle(Refused(ref, Step.CLEAN, Cause.DENIED, "there is no account ann"))
    assert alone.component.step is Step.CLEAN and alone.job.goal is Goal.FAIL


def test_if_it_has_started_and_its_user_has_cancelled_it_meanwhile_it_is_ended(
    alone: Alone,
) -> None:
    ref = alone.withdrawn().ref
    alone.site.bench.handle(CancelJob(alone.job.id, "ann"))
    effects = alone.site.bench.handle(
        Refused(ref, Step.CLEAN, Cause.STUCK, "its script may have started")
    ).effects
    assert [e.unless_started for e in effects if isinstance(e, Clean)] == [False]


def test_a_job_whose_user_is_at_a_limit_does_not_start_though_it_has_come_up(site: Site) -> None:
    first, second = site.submit(), site.submit()
    for job in (first, second):
        site.bench.handle(
            *(Submitted(s.ref, f"{job.id}{s.cluster}", site.bench.now) for s in job.line)
        )
    site.bench.broker.limit(ResourceLimits(per_user=ResourceLimit(processors=16)))
    assert of(site.bench.handle(Arrived(sibling(first, 0), "node")).effects, Open)
    late = sibling(second, 0)
    effects = site.bench.handle(Arrived(late, "node")).effects
    assert (of(effects, Open), second.state) == ([], JobState.QUEUED)
    assert late in of(effects, Clean)
