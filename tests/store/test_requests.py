"""Requests that are passed on: taken once in each term, answered once, read once."""

from __future__ import annotations

import threading
import time as real_time

from metabroker.store import Store
from metabroker.store.requests import ANSWERED, ASKED

from .making import Time

ANNA = {"uid": 1001, "user": "anna", "token": None}


def asked(store: Store, body: object = None, seconds: float = 10.0) -> int:
    return store.requests.ask("b", "submit", ANNA, body, seconds)


def test_a_request_is_taken_carried_out_and_answered(store: Store) -> None:
    number = asked(store, {"script": "it's"})
    assert store.requests.collect([number]) == {}
    (taken,) = store.requests.take(1)
    assert (taken.id, taken.kind, taken.caller, taken.again) == (number, "submit", ANNA, False)
    assert taken.body == {"script": "it's"}
    assert store.requests.take(1) == [], "once in a term"
    assert not store.requests.withdraw(number), "it has been begun"
    store.requests.answer(1, [(number, {"job": 7})])
    assert store.requests.collect([number, 99]) == {number: {"job": 7}}
    assert store.requests.collect([number]) == {}, "an answer is read once"


def test_they_are_taken_in_the_order_in_which_they_were_asked(store: Store) -> None:
    numbers = [asked(store, n) for n in range(5)]
    assert [taken.id for taken in store.requests.take(1)] == numbers
    assert [taken.body for taken in store.requests.take(2)] == list(range(5))


def test_what_a_former_leader_did_not_answer_is_taken_again(store: Store) -> None:
    first, second = asked(store), asked(store)
    store.requests.take(1)
    store.requests.answer(1, [(first, "done")])
    (taken,) = store.requests.take(2)
    assert (taken.id, taken.again) == (second, True)
    assert store.requests.take(1) == [], "a former leader takes nothing"
    store.requests.answer(1, [(second, "too late")])
    assert store.requests.collect([first, second]) == {first: "done"}
    store.requests.answer(2, [(second, "done too")])
    assert store.requests.collect([second]) == {second: "done too"}


def test_what_nobody_waits_for_is_not_begun(store: Store, time: Time) -> None:
    late, withdrawn = asked(store), asked(store, seconds=100)
    assert store.requests.withdraw(withdrawn)
    time.now += 10
    assert store.requests.take(1) == []
    assert store.requests.withdraw(late)


def test_what_was_left_is_removed(store: Store, time: Time) -> None:
    left = asked(store)
    store.requests.take(1)
    store.requests.answer(1, [(left, "nobody reads it")])
    time.now += 69
    store.requests.tidy()
    assert store.requests.collect([left])
    left = asked(store)
    time.now += 71
    store.requests.tidy()
    assert not store.requests.withdraw(left), "it is gone"


def test_bells_ring_for_who_leads_and_for_who_waits(database: str) -> None:
    store = Store(database)
    for name in (ASKED, ANSWERED):
        listener = store.listener(name)
        listener.wait(0.01)  # it listens from now on
        heard = threading.Event()
        waiting = threading.Thread(target=lambda b=listener, h=heard: (b.wait(60), h.set()))
        waiting.start()
        real_time.sleep(0.05)
        assert not heard.is_set()
        number = asked(store) if name == ASKED else store.requests.take(1)[0].id
        if name == ANSWERED:
            store.requests.answer(1, [(number, "done")])
        assert heard.wait(20)
        waiting.join()
        listener.close()
    store.close()
