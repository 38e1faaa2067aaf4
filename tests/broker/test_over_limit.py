"""What a cluster ends for its time limit, and what that makes of the job."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metabroker.broker import tokens
from metabroker.broker.effects import Arm, Open, Reserve, Submit
from metabroker.broker.events import (
    Armed,
    Arrived,
    Cleaned,
    Ended,
    Observed,
    Opened,
    Reserved,
    Started,
    SubmitJob,
    Submitted,
)
from metabroker.broker.job import NewJob
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.outbox import Ready
from metabroker.broker.states import Cause, JobState, Step
from metabroker.broker.tokens import Ref
from metabroker.policy import Request

from .bench import INSTANCE, Bench

SIZE, LIMIT = 20, 600
FIRST, SECOND = Ref(1, 1, 0), Ref(1, 1, 1)


@pytest.fixture
def it() -> Iterator[Bench]:
    bench = Bench({"delft": SIZE, "leiden": SIZE})
    bench.handle(*(Observed(c, Snapshot(bench.now, SIZE, SIZE, 0)) for c in (0, 1)))
    opened(bench, bench.handle(SubmitJob(NewJob("ann", "job", Request((8, 8)), LIMIT))))
    yield bench
    bench.close()


def opened(it: Bench, ready: Ready) -> None:
    """Whatever is asked for is done, until all have been told to start."""
    answers: dict[type, type] = {Reserve: Reserved, Arm: Armed, Open: Opened}
    while ready.effects:
        events: list[object] = []
        for effect in ready.effects:
            if isinstance(effect, Submit):
                native = f"7{effect.ref.component}"
                events += [Submitted(effect.ref, native, it.now), Arrived(effect.ref, "node")]
            elif isinstance(effect, Reserve | Arm | Open):
                events.append(answers[type(effect)](effect.ref))
        ready = it.handle(*events)  # type: ignore[arg-type]


def ended_at_its_limit(it: Bench, ref: Ref, ahead: float) -> None:
    """Its cluster says so, by a clock that is so many seconds ahead."""
    component = it.broker.view.component(ref)
    assert component is not None
    native = NativeJob(
        component.native_id or "",
        component.submit_time,
        NativeState.ENDED,
        "TIMEOUT",
        SIZE,
        end_time=it.now + ahead,
        cause=Cause.OVERTIME,
    )
    jobs = {tokens.make(INSTANCE, ref): native}
    snapshot = Snapshot(it.now, SIZE, SIZE, 0, jobs=jobs, clock_offset=ahead)
    it.handle(Observed(component.cluster, snapshot))


@pytest.mark.parametrize(("ran", "ahead"), [(186.0, 0.0), (float(LIMIT), 0.0), (186.0, 61.0)])
def test_a_script_that_had_too_little_time_left_after_the_barrier_was_not_over_its_limit(
    it: Bench, ran: float, ahead: float
) -> None:
    """The broker died when it had opened one gate, and was away for long. By a clock that is
    `ahead` nobody can tell for how long its script ran: its cluster's word counts."""
    it.handle(Started(FIRST, it.now, "node"))
    it.now += 300.0
    it.handle(Ended(FIRST, it.now, 0))
    it.now += 200.0
    it.handle(Started(SECOND, it.now, "node"))
    it.now += ran
    ended_at_its_limit(it, SECOND, ahead)
    it.handle(Cleaned(FIRST, started=True, exit_code=0))
    it.handle(Cleaned(SECOND, started=True, cause=Cause.OVERTIME))
    (row,) = it.store.jobs.rows(ids=[1])
    if ran == LIMIT or ahead:
        assert (row["state"], row["reason"]) == (JobState.TIMEOUT.value, "over its time limit")
    else:
        assert row["state"] == JobState.FAILED.value
        assert "before the job's time limit: it had waited at the barrier" in row["reason"]


def test_a_component_that_never_started_its_script_was_not_over_its_limit(it: Bench) -> None:
    """The same, but for longer: its cluster ended it at its gate."""
    it.handle(Started(FIRST, it.now, "node"))
    it.now += LIMIT + 60.0
    it.handle(Ended(FIRST, it.now - 300.0, 0))
    ended_at_its_limit(it, SECOND, 0.0)
    it.handle(Cleaned(FIRST, started=True, exit_code=0))
    it.handle(Cleaned(SECOND, cause=Cause.OVERTIME))
    (row,) = it.store.jobs.rows(ids=[1])
    assert row["state"] == JobState.FAILED.value
    assert "leiden" in row["reason"] and "before its script started" in row["reason"]
    assert "it had waited at the barrier for too long" in row["reason"]


def test_a_job_of_which_no_script_was_started_in_time_is_tried_again(it: Bench) -> None:
    """It is no fault of its own: it keeps its place."""
    it.now += LIMIT + 60.0
    for ref in (FIRST, SECOND):
        ended_at_its_limit(it, ref, 0.0)
    for ref in (FIRST, SECOND):
        it.handle(Cleaned(ref, cause=Cause.OVERTIME))
    (row,) = it.store.jobs.rows(ids=[1])
    assert (row["state"], row["submission_failures"]) == (JobState.QUEUED.value, 0)
    assert "before its script started" in row["reason"]


@pytest.mark.parametrize("began", [None, 400.0, 0.0])
def test_the_brokers_own_deadline_is_no_time_limit_of_what_has_not_had_it(
    it: Bench, began: float | None
) -> None:
    """One component has ended well. The other one never started its script, or `began` it so many
    seconds too late; the deadline of the job is for both."""
    started = it.now
    it.handle(Started(FIRST, started, "node"))
    if began is not None:
        it.now += began
        it.handle(Started(SECOND, it.now, "node"))
    it.handle(Ended(FIRST, it.now, 0))
    it.handle(Cleaned(FIRST, started=True, exit_code=0))
    it.ticks(started + LIMIT + 120.0 - it.now)
    component = it.broker.view.component(SECOND)
    assert component is not None and component.step is Step.CLEAN
    ended = None if began is None else it.now
    it.handle(Cleaned(SECOND, started=began is not None, cause=Cause.KILLED, end_time=ended))
    (row,) = it.store.jobs.rows(ids=[1])
    if began == 0.0:
        assert (row["state"], row["reason"]) == (JobState.TIMEOUT.value, "over its time limit")
        return
    assert row["state"] == JobState.FAILED.value
    when = "before its script started" if began is None else "before the job's time limit"
    assert f"{when}: it had waited at the barrier for too long" in row["reason"]


@pytest.mark.parametrize("began", [0.0, 400.0])
def test_what_was_killed_before_the_brokers_deadline_is_not_said_to_have_waited_too_long(
    it: Bench, began: float
) -> None:
    """The first one was killed, and could not be cleaned up until the deadline came for the other
    one, whose cluster was away too."""
    started = it.now
    it.now += began
    it.handle(Started(FIRST, it.now, "node"))
    it.now += 60.0
    killed = it.now
    it.handle(Started(SECOND, it.now, "node"))
    it.handle(Ended(SECOND, it.now, 0))
    it.handle(Cleaned(SECOND, started=True, exit_code=0))
    it.ticks(started + LIMIT + 400.0 - it.now)
    it.handle(Cleaned(FIRST, started=True, cause=Cause.KILLED, end_time=killed))
    (row,) = it.store.jobs.rows(ids=[1])
    assert row["state"] == JobState.FAILED.value
    assert "killed" in row["reason"] and "waited at the barrier" not in row["reason"]


def test_a_job_that_is_only_cleaned_up_is_not_over_its_time_limit(it: Bench) -> None:
    """Its scripts have ended, and for a while nobody can read how."""
    for ref in (FIRST, SECOND):
        it.handle(Started(ref, it.now, "node"))
    it.now += 60.0
    for cluster in (0, 1):
        it.handle(Observed(cluster, Snapshot(it.now, SIZE, SIZE, 0)))
        it.now += 60.0
        it.handle(Observed(cluster, Snapshot(it.now, SIZE, SIZE, 0)))
    for ref in (FIRST, SECOND):
        component = it.broker.view.component(ref)
        assert component is not None and component.step is Step.CLEAN
    it.ticks(2.0 * LIMIT)
    for ref, code in ((FIRST, 0), (SECOND, 3)):
        it.handle(Cleaned(ref, started=True, exit_code=code))
    (row,) = it.store.jobs.rows(ids=[1])
    assert (row["state"], row["exit_code"]) == (JobState.FAILED.value, 3)
