"""One job's bad data never ends the core: it fails that job, says so, and touches no other."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from metabroker.broker import input_checks
from metabroker.broker.effects import Clean, Discard
from metabroker.broker.events import (
    Arrived,
    CancelJob,
    Cleaned,
    Ended,
    Event,
    Fetched,
    Observed,
    Refused,
    Staged,
    Started,
    Submitted,
    Tick,
    Unsure,
)
from metabroker.broker.observation import NativeJob, NativeState
from metabroker.broker.outbox import Mishap
from metabroker.broker.states import Cause, Step
from metabroker.broker.store_behind import StoreBehind
from metabroker.broker.tokens import Ref, make
from metabroker.runtime.asked import Ask
from metabroker.runtime.engine import Engine
from metabroker.runtime.executor import ClusterExecutor
from metabroker.store import LeadershipLost, Transaction
from metabroker.store.rows import ClusterNames

from .making import Answers, Failing, House, ask, engine, looked

NOW = time.time()
ONE = Ref(1, 1, 0)
BAD = "a\0b\udcff" + 10_000 * "c"


class Core:
    """An engine with two submitted jobs, and what was contained."""

    def __init__(self, store: Failing) -> None:
        self.store = store
        self.mishaps: list[Mishap] = []
        self.start()
        asked = [ask(Answers().to("a")), ask(Answers().to("b"))]
        self.engine.process([looked(0, NOW), looked(1, NOW, 32), *asked], NOW)
        self.tell(Submitted(ONE, "11", NOW), Submitted(Ref(2, 1, 0), "12", NOW))

    def start(self) -> None:
        self.engine: Engine = engine(self.store, mishap=self.mishaps.append)
        self.effects = list(self.engine.recover(NOW))
        self.effects += self.engine.process([looked(0, NOW), looked(1, NOW, 32)], NOW)

    def tell(self, *events: Event) -> list[Any]:
        found = self.engine.process(events, NOW)
        return list(found)

    def job(self, number: int) -> dict[str, Any]:
        (row,) = self.store.jobs.rows(ids=[number])
        return row


@pytest.fixture
def core(store: Failing) -> Core:
    return Core(store)


@pytest.mark.parametrize(
    "event",
    [
        Ended(ONE, NOW, 10**22),
        Ended(ONE, NOW, -1),
        Ended(ONE, float("nan"), 0),
        Ended(ONE, 10**400, 0),
        Started(ONE, float("inf")),
        Started(ONE, -1e9),
        Cleaned(ONE, exit_code=10**23),
        Submitted(ONE, "11", 1e300),
        Staged(ONE, 10**30, 0),
        Fetched(ONE, 0, -1),
        Started(ONE, "yesterday"),  # type: ignore[arg-type]
        Arrived(ONE, None),  # type: ignore[arg-type]
    ],
)
def test_a_record_that_cannot_be_fails_its_job_and_no_other(core: Core, event: Event) -> None:
    effects = core.tell(event, Started(Ref(2, 1, 0), NOW))
    assert core.job(1)["state"] == "FAILED"
    assert "an answer about it could not be used" in core.job(1)["reason"]
    assert [m.job for m in core.mishaps] == [1]
    assert [e.ref for e in effects if isinstance(e, Clean)] == [ONE], "nothing is left behind"
    assert core.job(2)["state"] == "RUNNING"
    # The same is told again after each start; the job has ended, and the others go on.
    core.start()
    core.tell(event, Ended(Ref(2, 1, 0), NOW, 0))
    assert (core.job(1)["state"], core.job(2)["state"]) == ("FAILED", "COMPLETED")
    assert any(isinstance(e, Discard) for e in core.tell(Cleaned(ONE)))


def test_text_is_cleaned_and_cut(core: Core) -> None:
    core.tell(Started(ONE, NOW, BAD), Unsure(Ref(2, 1, 0), Step.SUBMIT, BAD))
    core.tell(Refused(Ref(2, 1, 0), Step.NONE, Cause.DENIED, BAD))
    hosts = core.job(1)["components"][0]["hosts"]
    assert hosts.startswith("a\ufffdb?c") and len(hosts) == len(BAD)
    told = [word for event in core.store.jobs.events(2) for word in event["detail"].values()]
    longest = max(len(str(word)) for word in told)
    assert 0 <= longest - input_checks.LONGEST_DETAIL < 100, "with some words of ours before it"
    assert not core.mishaps and core.job(1)["state"] == "RUNNING"


def test_a_handler_that_fails_fails_its_job(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    saga = core.engine.broker._saga

    def breaks(*_given: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(saga.reconciliation, "_judge", breaks)
    token = make(core.store.instance, ONE)
    native = NativeJob("11", NOW, NativeState.RUNNING, "RUNNING")
    seen = looked(0, NOW + 60)
    core.tell(replace(seen, snapshot=replace(seen.snapshot, jobs={token: native})))
    assert {m.job for m in core.mishaps} == {1, 2}, "each by itself"
    monkeypatch.undo()
    core.mishaps.clear()
    answers = Answers()
    core.engine.process([ask(answers.to("c"))], NOW)
    monkeypatch.setattr(saga.rollback, "take_out", breaks)
    core.engine.process([Ask(CancelJob(3, "anna"), 3, answers.to("cancel"))], NOW)
    assert core.job(3)["state"] == "FAILED" and "ZeroDivisionError" in core.job(3)["reason"]
    assert answers.jobs()["cancel"] == 3, "it is over, whatever was asked"


def test_a_timer_that_fails_fails_its_job(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    core.tell(Unsure(ONE, Step.SUBMIT, "?"))
    broker = core.engine.broker
    monkeypatch.setattr(broker._state.timers, "due", lambda _now, _most: [ONE, 2])
    real = broker._saga.deadlines.due

    def breaks(what: Ref | int, now: float) -> None:
        if what == ONE:
            raise KeyError("gone")
        real(what, now)

    monkeypatch.setattr(broker._saga.deadlines, "due", breaks)
    core.tell(Tick())
    assert (core.job(1)["state"], core.job(2)["state"]) == ("FAILED", "SUBMITTING")


def test_an_attempt_that_cannot_be_begun_fails_its_job(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = core.engine.broker._saga.attempts
    begin = attempts.begin

    def breaks(job: Any, placement: Any, now: float) -> None:
        if job.id == 3:
            raise ValueError("what it asks for cannot be")
        begin(job, placement, now)

    monkeypatch.setattr(attempts, "begin", breaks)
    core.engine.process([ask(Answers().to("c")), ask(Answers().to("d"))], NOW)
    assert core.job(3)["state"] == "FAILED" and "ValueError" in core.job(3)["reason"]
    assert core.job(4)["state"] == "SUBMITTING"
    assert [mishap.job for mishap in core.mishaps] == [3]


def test_a_former_attempts_bad_answer_does_not_fail_the_present_one(core: Core) -> None:
    core.tell(Refused(ONE, Step.NONE, Cause.LOST, ""))
    job = core.engine.broker.view.jobs[1]
    job.attempt = 2  # it is tried again; the cleanup of the first is pending
    core.tell(Cleaned(ONE, exit_code=10**23))
    assert 1 in core.engine.broker.view.jobs and [m.job for m in core.mishaps] == [1]


def test_a_former_attempts_bad_answer_leaves_its_job_in_its_queue(core: Core) -> None:
    core.engine.process([ask(Answers().to("c"))], NOW)
    for attempt in (1, 2):
        core.tell(Refused(Ref(3, attempt, 0), Step.SUBMIT, Cause.BUSY, "full"))
    view = core.engine.broker.view
    (queue,) = view.in_queues.queues
    assert list(view.in_queues.keys(queue)) == [3] and view.jobs[3].attempt == 2
    core.tell(Cleaned(Ref(3, 1, 0), exit_code=10**23))
    assert list(view.in_queues.keys(queue)) == [3] and [m.job for m in core.mishaps] == [3]


def test_a_look_that_cannot_be_handled_is_as_if_the_cluster_were_silent(core: Core) -> None:
    seen = looked(0, NOW + 5)
    broken = Observed(0, replace(seen.snapshot, busy="all"))  # type: ignore[arg-type]
    core.tell(broken, looked(1, NOW + 5, 32))
    entries = core.engine.broker.view.entries
    assert (entries[0].reachable, entries[1].reachable) == (False, True)
    assert [m.cluster for m in core.mishaps] == [0]
    core.tell(looked(0, NOW + 6))
    assert entries[0].reachable


def test_what_a_former_leader_takes_for_a_mishap_is_not_told(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stopped, and another broker has begun later attempts since: no store is older."""
    token = make(core.engine.broker.settings.instance, Ref(2, 7, 0))
    native = NativeJob("19", NOW, NativeState.RUNNING, "RUNNING")

    def taken(_batch: Transaction, _names: ClusterNames) -> None:
        raise LeadershipLost("another broker leads")

    def look(at: float) -> Observed:
        seen = looked(0, at)
        return Observed(0, replace(seen.snapshot, jobs={token: native}))

    with monkeypatch.context() as patch:
        patch.setattr(core.store, "commit", taken)
        with pytest.raises(LeadershipLost):
            core.tell(look(NOW + 5))
    assert core.mishaps == []
    core.start()
    core.tell(look(NOW + 5))
    assert [type(mishap.error) for mishap in core.mishaps] == [StoreBehind], "of who leads it is"


def test_a_submission_that_breaks_the_core_is_refused(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Answers()

    def breaks(_new: Any) -> None:
        raise OverflowError

    monkeypatch.setattr(core.engine.broker._requests, "check_limits", breaks)
    core.engine.process([ask(answers.to("c"))], NOW)
    assert "OverflowError" in str(answers.jobs()["c"])
    monkeypatch.undo()
    core.engine.process([ask(answers.to("d"))], NOW)
    assert answers.jobs()["d"] == 3


def test_an_answer_that_cannot_be_told_keeps_no_effect_back(core: Core) -> None:
    def breaks(_outcome: object) -> None:
        raise RuntimeError("nobody is there")

    answers = Answers()
    effects = core.engine.process([ask(breaks), ask(answers.to("d"))], NOW)
    assert answers.jobs() == {"d": 4} and len(effects) == 4 and len(core.mishaps) == 1


def test_what_cannot_be_begun_is_begun_later(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[Any] = []
    real = ClusterExecutor.ask

    def once(self: ClusterExecutor, effect: Any) -> None:
        if not failed:
            failed.append(effect)
            raise RuntimeError("can't start new thread")
        real(self, effect)

    monkeypatch.setattr(ClusterExecutor, "ask", once)
    assert house.submit()["job"] == 1
    assert house.ended(1)["state"] == "COMPLETED" and failed
    assert house.loop.alive
