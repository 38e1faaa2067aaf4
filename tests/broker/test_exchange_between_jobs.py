"""What a job and those that have joined it tell each other."""

from __future__ import annotations

from metabroker.broker.exchange import BYTES, BYTES_AT_ONCE, SETTLED, Deliver, Exchange, Read
from metabroker.broker.tokens import Ref

OLD = SETTLED + 1.0
A, B = Ref(12, 1, 0), Ref(12, 1, 1)
JOINING = Ref(13, 2, 1, 5)
"""A component that was one of several that stood in line: it is component 0 of its job."""


def linked() -> Exchange:
    exchange = Exchange(0.0)
    exchange.enter(A, {0: 0, 1: 1}, OLD)
    exchange.enter(JOINING, {1: 2}, OLD)
    exchange.link(A, JOINING)
    return exchange


def carried(exchange: Exchange, reads: list[Read], now: float = OLD) -> list[Deliver]:
    found = [one for read in reads for one in exchange.was_read(read, b"x", now)]
    for one in found:
        exchange.delivered(one, now, sure=True)
    return found


def told(found: list[Deliver]) -> list[tuple[Ref, int, str]]:
    return [(one.to, one.cluster, one.name) for one in found]


def test_what_a_job_puts_reaches_who_has_joined_it_by_another_name() -> None:
    exchange = linked()
    found = carried(exchange, exchange.seen(B, 1, OLD))
    assert told(found) == [(A, 0, "1"), (JOINING, 2, "12.1")]


def test_what_a_joining_job_puts_reaches_the_other_one() -> None:
    exchange = linked()
    found = carried(exchange, exchange.seen(JOINING, 1, OLD))
    assert told(found) == [(A, 0, "13.0"), (B, 1, "13.0")]


def test_who_joins_later_gets_what_was_put_before() -> None:
    exchange = Exchange(0.0)
    exchange.enter(A, {0: 0}, OLD)
    assert carried(exchange, exchange.seen(A, 3, OLD)) == []
    exchange.enter(JOINING, {1: 2}, OLD)
    exchange.link(JOINING, A)
    assert told(carried(exchange, exchange.seen(A, 3, OLD))) == [(JOINING, 2, "12.0")]
    exchange.link(A, JOINING)  # once more
    assert exchange.seen(A, 3, OLD) == []


def test_joining_jobs_do_not_hear_each_other() -> None:
    exchange = linked()
    other = Ref(14, 1, 0)
    exchange.enter(other, {0: 0}, OLD)
    exchange.link(other, A)
    assert {one.to for one in carried(exchange, exchange.seen(JOINING, 1, OLD))} == {A, B}


def test_who_has_left_gets_nothing_more_and_the_others_go_on() -> None:
    exchange = linked()
    (read,) = exchange.seen(A, 1, OLD)
    to_b, to_joining = exchange.was_read(read, b"x", OLD)
    exchange.leave(JOINING)
    exchange.delivered(to_joining, OLD, sure=False)
    exchange.delivered(to_b, OLD, sure=True)
    assert exchange.waiting == 0 and not exchange.knows(JOINING)
    assert told(carried(exchange, exchange.seen(A, 2, OLD))) == [(B, 1, "0")]
    exchange.leave(A)
    assert not exchange.active


def test_last_words_of_a_job_wait_for_none_that_has_joined_it() -> None:
    exchange = linked()
    last = exchange.last_words(A, 1)
    assert last is not None
    to_b, _hangs = exchange.was_read(last, b"x", OLD)
    exchange.delivered(to_b, OLD, sure=True)
    assert exchange.is_passed_on(A, {B})


def test_last_words_of_a_joining_job_come_one_way() -> None:
    exchange = Exchange(0.0)
    exchange.enter(A, {0: 0, 1: 1}, OLD)
    carried(exchange, exchange.seen(A, 1, OLD))
    exchange.enter(JOINING, {1: 2}, OLD)
    exchange.link(JOINING, A, back=False)
    last = exchange.last_words(JOINING, 4)
    assert last is not None
    assert told(carried(exchange, [last])) == [(A, 0, "13.0"), (B, 1, "13.0")]
    assert exchange.is_passed_on(JOINING, {A, B})
    assert exchange.seen(A, 1, OLD) == []


def test_another_attempt_is_linked_anew() -> None:
    exchange = linked()
    exchange.leave(A)
    again = Ref(12, 2, 0)
    exchange.enter(again, {0: 1}, OLD)
    exchange.link(again, JOINING)
    assert told(carried(exchange, exchange.seen(again, 1, OLD))) == [(JOINING, 2, "12.0")]


def test_who_has_joined_counts_into_what_a_job_may_send() -> None:
    exchange, size, sent = Exchange(0.0), 65536, 0
    exchange.enter(A, {0: 0}, OLD)
    for number in range(64):
        joining = Ref(100 + number, 1, 0)
        exchange.enter(joining, {0: 1}, OLD)
        exchange.link(joining, A)
    for step in range(6000):
        now = OLD + step / 100
        for read in exchange.seen(A, step + 1, now):
            found = exchange.was_read(read, b"x" * size, now)
            sent += size * len(found)
            for one in found:
                exchange.delivered(one, now, sure=True)
    assert sent <= BYTES_AT_ONCE + 60.0 * BYTES + 64 * size
