"""Moments to look again: none that matters is missed, and few others are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker import outbox
from metabroker.broker.events import Cleaned, Ended, Observed, Started, SubmitJob, Submitted
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Snapshot
from metabroker.broker.outbox import Timers
from metabroker.policy import Request

from .bench import Bench


def submit(it: Bench) -> int:
    """A job's number; it is to be started."""
    it.handle(SubmitJob(NewJob("anna", "job", Request((1,)), 600)))
    return it.broker.next_job - 1


def run(it: Bench) -> int:
    """The number of a job that has run, and left nothing."""
    job = submit(it)
    (component,) = it.broker.view.jobs[job].components
    it.handle(Submitted(component.ref, "77"), Started(component.ref, it.now))
    it.handle(Ended(component.ref, it.now, 0), Cleaned(component.ref))
    return job


def test_jobs_that_have_ended_leave_no_timers_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "_FEW", 16)
    it = Bench({"delft": 8})
    it.handle(Observed(0, Snapshot(it.now, 8, 8, 0, ours={})))
    silent = submit(it)  # its cluster does not answer
    for _ in range(100):
        assert run(it) not in it.broker.view.jobs
    assert 1 <= len(it.broker._state.timers) <= 16
    it.ticks(it.settings.submit_timeout + 1.0)
    assert "not submitted in time" in {row["what"] for row in it.store.jobs.events(silent)}
    it.close()


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), max_size=200))
def test_what_is_awaited_is_due_whatever_is_forgotten(timers: list[tuple[int, int]]) -> None:
    awaited = {(float(time), what) for time, what in timers if what % 3}
    kept, all_of_them = Timers(lambda time, what: (time, what) in awaited), Timers()
    kept._most = 4
    for time, what in timers:
        kept.set(float(time), what)
        all_of_them.set(float(time), what)
    for now in range(51):
        due = [what for what in kept.due(now, 999) if (float(now), what) in awaited]
        assert due == [what for what in all_of_them.due(now, 999) if (float(now), what) in awaited]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from([None, None, None, 1, 2])), min_size=1)
)
def test_what_is_due_many_times_keeps_nothing_waiting(
    moments: list[tuple[int, int | None]],
) -> None:
    timers = Timers()
    for time, what in moments:
        timers.set(float(time), what)
    rounds = 0
    while len(timers):
        assert len(timers.due(9.0, 1)) == 1
        rounds += 1
    assert rounds <= 2 * sum(1 for _, what in moments if what is not None) + 1
