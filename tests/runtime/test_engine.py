"""Core and store as one: nothing leaves before it is durable."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import update

from metabroker.broker.effects import Submit, Watch
from metabroker.broker.events import CancelJob, HoldJob, Submitted, Tick
from metabroker.broker.observation import NativeJob, NativeState
from metabroker.broker.outbox import Ready
from metabroker.broker.rejected import Rejected
from metabroker.broker.tokens import Ref, make
from metabroker.runtime.asked import Ask
from metabroker.store import MustRestart, StoreUnavailable
from metabroker.store.tables import facts
from metabroker.submission.model import Processors
from tests.daemon_units.making import Answers, Failing, ask, engine, looked

NOW = 1000.0


@pytest.fixture
def answers() -> Answers:
    return Answers()


def test_answers_and_effects_come_when_it_is_written(store: Failing, answers: Answers) -> None:
    written: list[Ready] = []
    it = engine(store, written=written.append)
    effects = it.process([looked(0, NOW), looked(1, NOW, 32), ask(answers.to("a"))], NOW)
    assert [type(e) for e in effects] == [Watch, Submit]
    assert answers.jobs() == {"a": 1}
    assert store.jobs.rows()[0]["state"] == "SUBMITTING"
    assert len(written) == 1
    assert store.known_clusters() == {"delft": 64, "leiden": 32}


@pytest.mark.parametrize("fails", ["before", "after"])
def test_while_the_store_fails_nothing_is_handed_out(
    store: Failing, answers: Answers, fails: str
) -> None:
    written: list[Ready] = []
    it = engine(store, written=written.append)
    it.process([looked(0, NOW), looked(1, NOW, 32)], NOW)
    written.clear()
    store.down = fails
    with pytest.raises(StoreUnavailable):
        it.process([ask(answers.to("a"))], NOW)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            it.flush()
    assert not answers.said and not written
    store.down = ""
    effects = it.flush()
    assert [type(e) for e in effects] == [Watch, Submit]
    assert answers.jobs() == {"a": 1} and len(written) == 1
    assert it.flush() == (), "once"
    assert len(store.jobs.rows()) == 1
    assert store.jobs.script(1)[0] == b"#!/bin/sh\necho hello\n"


def test_what_is_refused_is_told_and_the_others_are_not_disturbed(
    store: Failing, answers: Answers
) -> None:
    it = engine(store)
    it.process(
        [
            ask(answers.to("small")),
            ask(answers.to("large"), processors=Processors(single=999)),
            ask(answers.to("nowhere"), processors=Processors(single=1, cluster="gone")),
            Ask(CancelJob(7, "anna"), 7, answers.to("unknown")),
            ask(answers.to("last")),
        ],
        NOW,
    )
    told = answers.jobs()
    assert (told["small"], told["last"]) == (1, 2)
    for name in ("large", "nowhere", "unknown"):
        assert isinstance(told[name], Rejected)
    assert len(store.jobs.rows()) == 2


def test_the_same_request_gives_the_same_job(store: Failing, answers: Answers) -> None:
    it = engine(store)
    first = [ask(answers.to(name), request_id="r") for name in ("a", "b")]
    it.process([*first, ask(answers.to("c"), user="bob", request_id="r")], NOW)
    it.process([ask(answers.to("d"), request_id="r"), ask(answers.to("e"), request_id="s")], NOW)
    assert answers.jobs() == {"a": 1, "b": 1, "c": 2, "d": 1, "e": 3}
    again = engine(store)
    again.recover(NOW)
    again.process([ask(answers.to("f"), request_id="r"), ask(answers.to("g"))], NOW)
    assert answers.jobs().keys() == set("abcde"), "no number is given before the clusters are seen"
    again.process([looked(0, NOW), looked(1, NOW, 32)], NOW)
    assert (answers.jobs()["f"], answers.jobs()["g"]) == (1, 4)


def test_a_refused_request_may_be_repeated(store: Failing, answers: Answers) -> None:
    it = engine(store)
    large = ask(answers.to("a"), request_id="r", processors=Processors(single=999))
    it.process([large, ask(answers.to("b"), request_id="r")], NOW)
    assert isinstance(answers.jobs()["a"], Rejected)
    assert answers.jobs()["b"] == 1


def test_a_request_that_cannot_be_looked_up_is_refused_and_the_others_are_done(
    store: Failing, answers: Answers
) -> None:
    it = engine(store)
    store.blind = "yes"
    it.process(
        [ask(answers.to("a")), ask(answers.to("b"), request_id="r"), ask(answers.to("c"))], NOW
    )
    told = answers.jobs()
    assert (told["a"], told["c"]) == (1, 2)
    assert isinstance(told["b"], StoreUnavailable)
    store.blind = ""
    assert [row["id"] for row in store.jobs.rows()] == [1, 2]
    assert store.jobs.script(2)[0]


def test_several_asks_of_one_job_in_one_batch(store: Failing, answers: Answers) -> None:
    it = engine(store)
    it.process([ask(answers.to("a"), hold=True)], NOW)
    cancel = CancelJob(1, "anna")
    it.process(
        [Ask(HoldJob(1, "anna"), 1, answers.to("hold")), Ask(cancel, 1, answers.to("one")),
         Ask(cancel, 1, answers.to("two"))],
        NOW,
    )  # fmt: skip
    told = answers.jobs()
    assert (told["hold"], told["one"]) == (1, 1)
    assert isinstance(told["two"], Rejected) and told["two"].missing


def test_after_a_restart_all_that_was_owed_comes_out_again(
    store: Failing, answers: Answers
) -> None:
    it = engine(store)
    it.process([looked(0, NOW), looked(1, NOW, 32), ask(answers.to("a"))], NOW)
    again = engine(store)
    assert not [e for e in again.recover(NOW + 5) if isinstance(e, Submit)]
    effects = again.process([looked(0, NOW + 5), looked(1, NOW + 5, 32)], NOW + 5)
    (owed,) = [e for e in effects if isinstance(e, Submit)]
    assert (owed.ref, owed.again) == (Ref(1, 1, 0), True)
    again.process([Submitted(Ref(1, 1, 0), "77", NOW)], NOW + 6)
    assert store.jobs.attempt(1, 1)[0]["native_id"] == "77"


def test_who_asks_a_store_that_is_behind_is_told_so_at_once(
    store: Failing, answers: Answers
) -> None:
    it = engine(store)
    it.process([looked(0, NOW), looked(1, NOW, 32), ask(answers.to("a"))], NOW)
    again = engine(store, mishap=lambda _mishap: None)
    again.recover(NOW)
    ahead = NativeJob("9", NOW, NativeState.RUNNING, "RUNNING", 4)
    shown = {make(store.instance, Ref(7, 1, 0)): ahead}
    first = looked(0, NOW)
    first = replace(first, snapshot=replace(first.snapshot, jobs=shown))
    again.process([ask(answers.to("b")), first], NOW)
    assert isinstance(answers.jobs()["b"], Rejected)


def test_a_number_is_never_given_twice(store: Failing, answers: Answers) -> None:
    it = engine(store)
    it.process([ask(answers.to("a"))], NOW)
    it.process([Ask(CancelJob(1, "anna"), 1, answers.to("b"))], NOW)
    again = engine(store)
    again.recover(NOW)
    again.process([ask(answers.to("c")), looked(0, NOW), looked(1, NOW, 32)], NOW)
    assert answers.jobs()["c"] == 2


def test_the_size_of_a_cluster_is_kept_for_the_next_start(store: Failing) -> None:
    it = engine(store)
    for size in (64, 48):
        it.process([looked(0, NOW, size)], NOW)
        assert store.known_clusters()["delft"] == size


def test_nothing_new_writes_nothing(store: Failing) -> None:
    it = engine(store)
    it.process([looked(0, NOW)], NOW)
    store.down = "before"
    assert it.process([Tick(), looked(0, NOW + 1)], NOW + 1) == []


def test_a_store_that_went_back_is_noticed_though_nothing_is_written(store: Failing) -> None:
    it = engine(store)
    it.process([looked(0, NOW)], NOW)
    with store._engine.begin() as connection:
        older = update(facts).where(facts.c.name == "batch").values(value="that of another time")
        connection.execute(older)
    it.confirm()  # it was asked by a transaction since
    store.blind = "yes"
    with pytest.raises(StoreUnavailable):
        it.confirm()
    with pytest.raises(StoreUnavailable):
        it.flush()
    store.blind = ""
    with pytest.raises(MustRestart, match="has lost what was written into it"):
        it.flush()
    with pytest.raises(MustRestart, match="has lost what was written into it"):
        it.confirm()


def test_one_that_leads_no_more_refuses_nothing(store: Failing, answers: Answers) -> None:
    it = engine(store)
    it.process([looked(0, NOW), looked(1, NOW, 32)], NOW)
    store.term = 7  # which is over: another leads, and has written what is not known here
    it.process([Ask(CancelJob(1, "u"), 1, answers.to("cancel"))], NOW)
    assert isinstance(dict(answers.said)["cancel"], StoreUnavailable)
    store.term = None
    it.process([Ask(CancelJob(1, "u"), 1, answers.to("again"))], NOW)
    assert isinstance(dict(answers.said)["again"], Rejected)
