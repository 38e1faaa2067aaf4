"""Clusters that look idle and take nothing, for reasons that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from metabroker.broker.effects import Stage, Submit
from metabroker.broker.events import (
    CancelJob,
    Cleaned,
    ClusterUnreachable,
    Observed,
    Refused,
    SubmitJob,
    Submitted,
    Tick,
    Unsure,
)
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Snapshot
from metabroker.broker.states import Cause, JobState, Step
from metabroker.policy import Request

from .bench import Bench

WORDS = "sbatch: error: Unspecified error"


class Hole:
    """One cluster of 64 processors in which `refuses` decides of each submission."""

    def __init__(self, *, silent: bool = False) -> None:
        self.bench = Bench({"hole": 64})
        self.silent = silent
        self.bad_users: set[str] = {"ann", "bob", "eve"}
        self.cause = Cause.REFUSED
        self.sent: list[int] = []
        self.moments: list[float] = []
        self.taken: set[int] = set()
        self.busy = 0
        self.look()

    def look(self) -> None:
        self.bench.handle(Observed(0, Snapshot(self.bench.now, 64, 64, self.busy)))

    def submit(self, user: str) -> int:
        number = self.bench.broker.next_job
        event = SubmitJob(NewJob(user, "job", Request((1,)), 600))
        self.answer(self.bench.handle(event).effects)
        return number

    def answer(self, effects: object) -> None:
        for effect in list(effects):  # type: ignore[call-overload]
            if not isinstance(effect, Submit) or effect.again:
                continue
            job = self.bench.broker.view.jobs[effect.ref.job]
            self.sent.append(job.id)
            self.moments.append(self.bench.now)
            if job.user not in self.bad_users:
                self.taken.add(job.id)
                self.answer(self.bench.handle(Submitted(effect.ref, "7", self.bench.now)).effects)
            elif not self.silent:
                refused = Refused(effect.ref, Step.SUBMIT, self.cause, WORDS)
                self.answer(self.bench.handle(refused).effects)

    def clean(self) -> None:
        """Whatever is to be cleaned is."""
        for component in list(self.bench.broker._saga.claims.known.values()):
            if component.step is Step.CLEAN:
                self.answer(self.bench.handle(Cleaned(component.ref, shut=True)).effects)

    def pass_time(self, seconds: float) -> None:
        until = self.bench.now + seconds
        while self.bench.now < until:
            self.look()
            self.clean()
            due = self.bench.broker.next_time()
            step = min(until, self.bench.now + 5.0)
            self.bench.now = step if due is None else max(self.bench.now, min(step, due))
            self.answer(self.bench.handle(Tick()).effects)
            if due is None or due > step:
                self.bench.now = step

    def states(self) -> list[str]:
        return [row["state"] for row in sorted(self.bench.store.jobs.rows(), key=lambda r: r["id"])]


@pytest.fixture(params=[False, True], ids=["words", "time-outs"])
def hole(request: pytest.FixtureRequest) -> Iterator[Hole]:
    made = Hole(silent=request.param)
    yield made
    made.bench.close()


def test_several_users_jobs_wait_and_lose_no_try(hole: Hole) -> None:
    for user in ("ann", "bob", "eve", "ann", "bob"):
        hole.submit(user)
    hole.pass_time(3600.0)
    assert hole.states() == ["QUEUED"] * 5
    assert hole.bench.broker.view.at(hole.bench.now).avoided(0), "it is suspended"
    sent = len(hole.sent)
    hole.pass_time(600.0)
    assert 2 <= len(hole.sent) - sent <= 20, "one is sent to try, now and then"
    hole.bad_users = set()
    hole.pass_time(200.0)
    assert hole.taken == {1, 2, 3, 4, 5}
    assert not hole.bench.broker.view.at(hole.bench.now).avoided(0)


def test_one_users_bad_jobs_are_that_users_matter(hole: Hole) -> None:
    hole.bad_users = {"ann"}
    for _ in range(8):
        hole.submit("ann")
    hole.pass_time(200.0)
    assert not hole.bench.broker.view.at(hole.bench.now).avoided(0)
    good = hole.submit("bob")
    assert hole.bench.broker.view.jobs[good].state is JobState.SUBMITTING


def test_one_bad_job_is_given_up_as_ever(hole: Hole) -> None:
    hole.submit("ann")
    hole.pass_time(600.0)
    assert hole.states() == ["FAILED"]
    assert len(hole.sent) == 3


def test_a_job_is_not_tried_again_by_what_was_known_when_it_was_refused() -> None:
    """What others have taken since the last poll is known with the next one only: three tries
    before it would all be in vain."""
    hole = Hole()
    hole.cause, interval = Cause.OWN, hole.bench.settings.poll_interval
    hole.submit("ann")
    hole.pass_time(600.0)
    first, second, third = hole.moments
    assert second - first > interval
    assert third - second > interval


def test_what_several_users_chose_themselves_suspends_nobody() -> None:
    hole = Hole()
    hole.cause = Cause.OWN
    hole.bad_users = {"ann", "bob"}
    for user in ("ann", "bob", "ann", "bob"):
        hole.submit(user)
    hole.pass_time(600.0)
    assert hole.states() == ["FAILED"] * 4
    assert len(hole.sent) == 12, "each has its own tries, with pauses"
    good = hole.submit("eve")
    assert good in hole.taken
    hole.bench.close()


def test_a_trial_that_nobody_uses_is_given_to_another() -> None:
    hole = Hole()
    hole.cause = Cause.DENIED
    first = hole.submit("ann")
    hole.busy = 64  # who is let through to try waits for processors
    second = hole.submit("ann")
    hole.pass_time(600.0)
    hole.bad_users = set()
    assert hole.sent == [first]
    hole.bench.handle(CancelJob(first, "ann"))
    hole.busy = 0
    hole.pass_time(600.0)
    assert hole.taken == {second}
    hole.bench.close()


@pytest.mark.parametrize("parts", [1, 2])
def test_files_that_do_not_answer_cost_a_job_no_try(parts: int) -> None:
    """Nothing of that is its fault: it waits, with growing pauses, for as long as it takes."""
    bench = Bench({f"hole{number}": 64 for number in range(parts)})
    new = NewJob("ann", "job", Request((1,) * parts), 600, stages_in=True)
    moments: list[float] = []
    bench.handle(SubmitJob(new))
    for _ in range(2000):
        looks = [Observed(c, Snapshot(bench.now, 64, 64, 0)) for c in range(parts)]
        effects = bench.handle(*looks, Tick()).effects
        for effect in effects:
            if isinstance(effect, Stage):
                moments.append(bench.now)
                why = "cannot write its files: Input/output error"
                bench.handle(Refused(effect.ref, Step.STAGE, Cause.UNREACHABLE, why))
        bench.now += 1.0
    job = bench.broker.view.jobs[1]
    assert job.state is JobState.QUEUED
    assert "cannot write its files: Input/output error" in job.reason
    moments = sorted(set(moments))
    assert len(moments) > 10
    assert all(b - a >= 2.0 for a, b in pairwise(moments)), "not at once again"
    assert moments[-1] - moments[-2] <= 70.0, "nor for ever later"
    bench.close()


def test_a_cluster_that_has_gone_as_a_job_was_submitted_costs_it_no_try() -> None:
    bench = Bench({"hole": 64})
    bench.handle(Observed(0, Snapshot(bench.now, 64, 64, 0)))
    bench.handle(SubmitJob(NewJob("ann", "job", Request((1,)), 600)))
    for _ in range(5):
        (component,) = bench.broker.view.jobs[1].components
        bench.handle(Unsure(component.ref, Step.SUBMIT, "sbatch: no answer"))
        bench.handle(ClusterUnreachable(0, "it does not answer"))
        bench.now += bench.settings.submit_timeout + 1
        bench.handle(Tick())
        bench.handle(Cleaned(component.ref, shut=True))
        assert bench.broker.view.jobs[1].state is JobState.QUEUED
        for _ in range(130):
            bench.now += 1.0
            bench.handle(Observed(0, Snapshot(bench.now, 64, 64, 0)), Tick())
            if bench.broker.view.jobs[1].components:
                break
    bench.close()
