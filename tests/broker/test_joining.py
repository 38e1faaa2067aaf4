"""Jobs that join another job: when they start, and that they end with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from metabroker.broker.events import (
    CancelJob,
    Cleaned,
    Discarded,
    DrainCluster,
    Ended,
    HoldJob,
    Observed,
    ReleaseJob,
    ResumeCluster,
    Started,
    SubmitJob,
    Submitted,
    Tick,
)
from metabroker.broker.job import NewJob
from metabroker.broker.joining import MOST_JOINING
from metabroker.broker.observation import Snapshot
from metabroker.broker.rejected import Rejected
from metabroker.broker.tokens import Ref
from metabroker.policy import Request
from metabroker.submission.dependency import parse_dependency
from metabroker.submission.tasks import parse_array
from tests.broker.bench import Bench

SIZE = 100


@pytest.fixture
def it() -> Iterator[Bench]:
    bench = Bench({"a": SIZE}, slice=2, completion_retries=1)
    look(bench)
    yield bench
    bench.close()


def look(it: Bench) -> None:
    it.handle(Observed(0, Snapshot(it.now, SIZE, SIZE, 0)))
    it.ticks(0)


def restart(it: Bench) -> None:
    it.restart()
    look(it)


def submit(it: Bench, joins: int = 0, *, after: str = "", **more: Any) -> int:
    number = it.broker.next_job
    new = NewJob("u", "j", Request((1,)), 600, joins=joins, **more)
    if after:
        new = replace(new, after=parse_dependency(after))
    it.broker.handle(SubmitJob(new, {}), it.now)
    it.settle()
    it.ticks(0)
    return number


def start(it: Bench, job: int, attempt: int = 1) -> None:
    ref = Ref(job, attempt, 0)
    it.handle(Submitted(ref, str(job)), Started(ref, it.now))
    it.ticks(0)


def end(it: Bench, job: int, code: int = 0, attempt: int = 1) -> None:
    ref = Ref(job, attempt, 0)
    it.handle(Ended(ref, it.now, code))
    gone(it, job, code, attempt)


def gone(it: Bench, job: int, code: int | None = None, attempt: int = 1) -> None:
    ref = Ref(job, attempt, 0)
    it.handle(Cleaned(ref, True, it.now, it.now, code), Discarded(ref))
    it.ticks(0)


def state(it: Bench, job: int) -> str:
    found = it.broker.view.jobs.get(job)
    if found is None:
        return str(it.store.jobs.rows(ids=[job])[0]["state"])
    waits = found.after is not None and found.state.value == "QUEUED"
    return "WAITS" if waits else found.state.value


def reason(it: Bench, job: int) -> str:
    return str(it.store.jobs.rows(ids=[job])[0]["reason"])


@pytest.mark.parametrize("again", [False, True])
def test_a_joining_job_waits_for_the_start_of_the_one_it_joins(it: Bench, again: bool) -> None:
    job = submit(it)
    joining = submit(it, job)
    assert state(it, joining) == "WAITS"
    if again:
        restart(it)
    start(it, job)
    assert state(it, joining) == "SUBMITTING"
    assert state(it, submit(it, job)) == "SUBMITTING"  # it runs already


def prepared(it: Bench, job: int, how: str) -> int:
    """A job that has joined it, in this state."""
    if how == "WAITS":
        return submit(it, job)
    start(it, job)
    if how == "QUEUED":
        submit(it, job)
        it.handle(Observed(0, Snapshot(it.now, 1, 0, 0)))
        return submit(it, job)
    joining = submit(it, job, hold=how == "HELD")
    if how == "RUNNING":
        start(it, joining)
    return joining


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("how", ["WAITS", "QUEUED", "HELD", "SUBMITTING", "RUNNING"])
def test_it_ends_with_the_job_that_it_has_joined(
    it: Bench, how: str, code: int, again: bool
) -> None:
    it.settings = replace(it.settings, completion_retries=0)
    restart(it)
    job = submit(it)
    joining = prepared(it, job, how)
    assert state(it, joining) == how
    ref = Ref(job, 1, 0)
    if how == "WAITS":
        it.handle(Submitted(ref, "1"), CancelJob(job, "u"))
        it.handle(Cleaned(ref, False, None, None, None), Discarded(ref))
    else:
        it.handle(Ended(ref, it.now, code))
        it.handle(Cleaned(ref, True, it.now, it.now, code), Discarded(ref))
    assert job not in it.broker.view.jobs
    if again:
        restart(it)
    it.ticks(0)
    # After a restart one that was in its queue may have been placed on what the other one has left.
    under_way = ("SUBMITTING", "RUNNING", "QUEUED") if again else ("SUBMITTING", "RUNNING")
    if how in under_way and joining in it.broker.view.jobs:
        assert it.broker.view.jobs[joining].goal is not None
        gone(it, joining)
    assert state(it, joining) == "CANCELLED"
    assert f"job {job}, which it had joined, has ended" in reason(it, joining)


def test_very_many_end_with_it_some_in_each_turn(it: Bench) -> None:
    job = submit(it)
    start(it, job)
    found = [submit(it, job, hold=True) for _ in range(9)]
    it.handle(Ended(Ref(job, 1, 0), it.now, 0))
    it.handle(Cleaned(Ref(job, 1, 0), True, it.now, it.now, 0))
    it.handle(Tick())
    ended = [state(it, each) for each in found].count("CANCELLED")
    assert 0 < ended < len(found)
    it.ticks(0)
    assert {state(it, each) for each in found} == {"CANCELLED"}


def test_its_own_end_is_none_of_the_other_job(it: Bench) -> None:
    job = submit(it)
    start(it, job)
    fails, released = submit(it, job), submit(it, job)
    start(it, released)
    it.handle(CancelJob(released, "u"))
    gone(it, released)
    assert reason(it, released) == "cancelled by u"
    start(it, fails)
    end(it, fails, 1)
    start(it, fails, 2)
    end(it, fails, 1, 2)
    assert [state(it, each) for each in (job, fails, released)] == [
        "RUNNING", "FAILED", "CANCELLED"
    ]  # fmt: skip


@pytest.mark.parametrize("again", [False, True])
def test_while_the_other_one_is_tried_again_it_waits_again(it: Bench, again: bool) -> None:
    job = submit(it)
    start(it, job)
    runs, held = submit(it, job), submit(it, job, hold=True)
    start(it, runs)
    it.handle(Observed(0, Snapshot(it.now, 2, 0, 0)))
    waits = submit(it, job)
    assert state(it, waits) == "QUEUED"
    it.handle(DrainCluster(0, "root", "service"))
    end(it, job, 1)
    if again:
        restart(it)
    assert state(it, job) == "QUEUED"
    assert state(it, waits) == "WAITS"
    assert [state(it, each) for each in (runs, held)] == ["RUNNING", "HELD"]
    it.handle(ResumeCluster(0, "root"))
    look(it)
    start(it, job, 2)
    assert state(it, waits) == "SUBMITTING"


def test_what_else_it_waits_for_it_waits_for_too(it: Bench) -> None:
    job, other = submit(it), submit(it)
    joining = submit(it, job, after=f"afterok:{other}")
    start(it, job)
    assert state(it, joining) == "WAITS"
    start(it, other)
    end(it, other)
    assert state(it, joining) == "SUBMITTING"


def test_a_held_one_is_released_into_the_waiting(it: Bench) -> None:
    job = submit(it)
    joining = submit(it, job)
    it.handle(HoldJob(joining, "u"))
    it.handle(ReleaseJob(joining, "u"))
    assert state(it, joining) == "WAITS"
    start(it, job)
    assert state(it, joining) == "SUBMITTING"


def refused(it: Bench, joins: int, user: str = "u") -> str:
    with pytest.raises(Rejected) as caught:
        it.broker.handle(SubmitJob(NewJob(user, "j", Request((1,)), 600, joins=joins), {}), it.now)
    assert it.broker.next_job not in it.broker.view.jobs
    return str(caught.value)


def test_what_cannot_be_joined_is_refused(it: Bench) -> None:
    job = submit(it)
    joining = submit(it, job)
    array = submit(it, array=parse_array("0-3"))
    assert "another user's" in refused(it, job, "v")
    assert f"joins job {job} itself" in refused(it, joining)
    assert "an array" in refused(it, array)
    assert "has ended, or is not known" in refused(it, 999)
    start(it, job)
    end(it, job)
    assert "has ended" in refused(it, job)


def test_so_many_may_join_a_job_at_a_time(it: Bench) -> None:
    job = submit(it)
    found = [submit(it, job) for _ in range(MOST_JOINING)]
    restart(it)
    assert f"{MOST_JOINING} jobs have joined it" in refused(it, job)
    it.handle(CancelJob(found[7], "u"))
    assert state(it, submit(it, job)) == "WAITS"
