"""What components tell each other: what is carried, how often, and when it is dropped."""

from __future__ import annotations

import random

import pytest

from metabroker.broker.exchange import (
    AGAIN,
    BYTES,
    BYTES_AT_ONCE,
    MOST_WAITING,
    READS,
    READS_AT_ONCE,
    SETTLED,
    Deliver,
    Exchange,
    Read,
)
from metabroker.broker.tokens import Ref

OLD = SETTLED + 1.0  # a broker that has led for long
A, B, C = (Ref(7, 1, n) for n in range(3))


def entered(components: int = 3, now: float = OLD) -> Exchange:
    exchange = Exchange(0.0)
    exchange.enter(A, dict(enumerate(range(components))), now)
    return exchange


def carried(exchange: Exchange, read: Read, content: bytes, now: float) -> list[Deliver]:
    found = exchange.was_read(read, content, now)
    for one in found:
        exchange.delivered(one, now, sure=True)
    return found


def test_what_one_puts_reaches_all_others_once() -> None:
    exchange = entered()
    (read,) = exchange.seen(B, 4, OLD)
    assert read == Read(B, 1, 4)
    assert exchange.seen(B, 4, OLD) == [], "it is being read"
    found = carried(exchange, read, b":k\n v\n", OLD)
    assert [(one.to, one.cluster, one.name) for one in found] == [(A, 0, "1"), (C, 2, "1")]
    assert exchange.seen(B, 4, OLD + 1) == []
    assert exchange.waiting == 0


def test_versions_between_two_looks_are_left_out() -> None:
    exchange = entered()
    (read,) = exchange.seen(A, 1, OLD)
    assert exchange.seen(A, 9, OLD) == []
    carried(exchange, read, b"", OLD)
    assert exchange.seen(A, 9, OLD) == [Read(A, 0, 9)]


def test_a_version_that_is_gone_is_looked_for_again_in_a_moment() -> None:
    exchange = entered()
    (read,) = exchange.seen(A, 1, OLD)
    assert exchange.was_read(read, None, OLD) == []
    assert exchange.seen(A, 2, OLD + AGAIN / 5) == [Read(A, 0, 2)]


def test_one_cluster_that_does_not_answer_holds_up_no_other() -> None:
    exchange = entered()
    (read,) = exchange.seen(A, 1, OLD)
    _hangs, other = exchange.was_read(read, b"x", OLD)
    exchange.delivered(other, OLD, sure=True)
    (read,) = exchange.seen(A, 2, OLD)
    (only,) = exchange.was_read(read, b"y", OLD)
    assert only.to == C


def test_what_may_come_late_is_put_right_again() -> None:
    exchange = entered(2)
    (read,) = exchange.seen(A, 1, OLD)
    (one,) = exchange.was_read(read, b"x", OLD)
    exchange.delivered(one, OLD, sure=False)
    assert exchange.seen(A, 2, OLD) == [], "not at once"
    now = OLD + AGAIN
    (read,) = exchange.seen(A, 2, now)
    assert len(carried(exchange, read, b"y", now)) == 1
    assert exchange.seen(A, 2, now + SETTLED - 1) == []
    (read,) = exchange.seen(A, 2, now + SETTLED)
    assert len(carried(exchange, read, b"y", now + SETTLED)) == 1
    assert exchange.seen(A, 2, now + 3 * SETTLED) == []


def test_what_cannot_be_delivered_is_tried_less_and_less_often() -> None:
    exchange = entered(2)
    tries = 0
    for second in range(600):
        for read in exchange.seen(A, 1, OLD + second):
            for one in exchange.was_read(read, b"x", OLD + second):
                tries += 1
                exchange.delivered(one, OLD + second, sure=False)
    assert 10 <= tries <= 15


def test_after_a_restart_the_newest_is_carried_again_and_once_more() -> None:
    exchange = entered(2, now=1.0)
    (read,) = exchange.seen(A, 5, 1.0)
    assert len(carried(exchange, read, b"x", 1.0)) == 1
    assert exchange.seen(A, 5, SETTLED) == []
    assert exchange.seen(A, 5, 1.0 + SETTLED) == [Read(A, 0, 5)]


def test_what_cannot_be_carried_is_not_tried_again() -> None:
    exchange = entered()
    (read,) = exchange.seen(A, 1, OLD)
    exchange.is_refused(read, OLD)
    assert exchange.seen(A, 1, OLD + 100) == []
    assert exchange.seen(A, 2, OLD + 100) == [Read(A, 0, 2)]


def test_who_is_gone_is_not_written_to_again() -> None:
    exchange = entered(2)
    (read,) = exchange.seen(A, 1, OLD)
    (one,) = exchange.was_read(read, b"x", OLD)
    exchange.is_gone(one)
    assert exchange.seen(A, 1, OLD + 100) == [] and exchange.waiting == 0


def test_who_has_ended_and_whose_gate_is_removed_is_not_written_to() -> None:
    exchange = entered()
    exchange.link(A, other := Ref(8, 1, 0))  # which takes no part
    exchange.enter(other, {0: 3}, OLD)
    exchange.link(A, other)
    exchange.is_over(C)
    exchange.is_over(other)
    (read,) = exchange.seen(A, 1, OLD)
    assert [one.to for one in carried(exchange, read, b"", OLD)] == [B]
    assert exchange.is_passed_on(A, [B, C, other])
    exchange.is_over(Ref(9, 1, 0))


def test_last_words_are_read_whatever_was_read_before() -> None:
    exchange = entered(2)
    for step in range(2000):
        for read in exchange.seen(A, step + 1, OLD):
            carried(exchange, read, b"x", OLD)
    assert exchange.seen(A, 5000, OLD) == []
    assert exchange.last_words(A, 5001) == (last := Read(A, 0, 5001))
    assert len(carried(exchange, last, b"y", OLD)) == 1
    assert exchange.last_words(A, 5001) is None
    assert exchange.last_words(B, 0) is None
    assert exchange.last_words(Ref(9, 1, 0), 1) is None


def test_last_words_are_passed_on_when_those_that_run_have_them() -> None:
    exchange = entered(3)
    last = exchange.last_words(A, 3)
    assert last is not None
    to_b, to_c = exchange.was_read(last, b"x", OLD)
    exchange.delivered(to_b, OLD, sure=True)
    assert exchange.is_passed_on(A, {B}) and not exchange.is_passed_on(A, {B, C})
    exchange.delivered(to_c, OLD, sure=False)
    assert not exchange.is_passed_on(A, {C})
    again = exchange.last_words(A, 3)
    assert again is not None
    (to_c,) = exchange.was_read(again, b"x", OLD + AGAIN)
    exchange.is_gone(to_c)
    assert exchange.is_passed_on(A, {B, C})
    exchange.leave(A)
    assert exchange.is_passed_on(A, {B, C})


def test_an_attempt_that_is_over_is_forgotten_with_what_is_on_its_way() -> None:
    exchange = entered(2)
    (read,) = exchange.seen(A, 1, OLD)
    (one,) = exchange.was_read(read, b"x", OLD)
    exchange.leave(B)
    exchange.delivered(one, OLD, sure=True)
    assert not exchange.active and exchange.waiting == 0
    assert exchange.seen(A, 2, OLD) == [] and exchange.was_read(read, b"x", OLD) == []
    late = Exchange(0.0)
    late.was_not_read(read, OLD)
    late.is_refused(read, OLD)


def flood(seconds: float, size: int, components: int = 2) -> tuple[int, int]:
    """How often a job that puts without end is read, and the bytes of it that are delivered."""
    exchange = entered(components)
    reads = sent = 0
    steps = round(seconds * 100)
    for step in range(steps):
        now = OLD + step / 100
        for read in exchange.seen(A, step + 1, now):
            reads += 1
            sent += sum(len(one.content) for one in carried(exchange, read, b"x" * size, now))
    return reads, sent


def test_who_floods_is_read_as_often_as_it_may() -> None:
    reads, _ = flood(60.0, 10)
    assert reads <= READS_AT_ONCE + 60.0 * READS + 1
    assert reads >= 60.0 * READS


def test_who_floods_sends_as_much_as_it_may() -> None:
    size = 65536
    _, sent = flood(60.0, size, components=9)
    assert sent <= BYTES_AT_ONCE + 60.0 * BYTES + 8 * size
    assert sent >= 60.0 * BYTES


def test_others_are_not_held_up_by_who_floods() -> None:
    exchange = entered(2)
    for step in range(2000):
        for read in exchange.seen(A, step + 1, OLD):
            carried(exchange, read, b"x", OLD)
    assert exchange.seen(A, 5000, OLD) == []
    other = Ref(8, 1, 0)
    exchange.enter(other, {0: 0, 1: 1}, OLD)
    assert exchange.seen(other, 1, OLD) == [Read(other, 0, 1)]


def test_what_waits_for_clusters_is_bounded() -> None:
    exchange = Exchange(0.0)
    size, waiting = 65536, 0
    for job in range(1, 3000):
        ref = Ref(job, 1, 0)
        exchange.enter(ref, {0: 0, 1: 1}, OLD)
        for read in exchange.seen(ref, 1, OLD):
            waiting += sum(len(o.content) for o in exchange.was_read(read, b"x" * size, OLD))
    assert waiting == exchange.waiting <= MOST_WAITING + size


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_all_have_the_newest_in_the_end(seed: int) -> None:
    """Random versions, lost and late answers: in the end each has what the others put last."""
    rng = random.Random(seed)
    count = rng.randint(2, 5)
    exchange = Exchange(0.0)
    exchange.enter(A, dict(enumerate(range(count))), 0.0)
    versions = [0] * count
    inboxes: dict[tuple[int, int], int] = {}
    late: list[tuple[float, tuple[int, int], int]] = []
    now = 0.0

    def lands(until: float) -> None:
        for one in [each for each in late if each[0] <= until]:
            late.remove(one)
            inboxes[one[1]] = one[2]

    for step in range(600):
        now += rng.random()
        lands(now)
        if step < 200:
            versions[rng.randrange(count)] += rng.randint(1, 3)
        sender = rng.randrange(count)
        for read in exchange.seen(A._replace(component=sender), versions[sender], now):
            chance = rng.random()
            if chance < 0.1 and step < 400:
                exchange.was_not_read(read, now)
                continue
            for one in exchange.was_read(read, b"%d" % read.version, now):
                where = (one.to.component, one.sender.component)
                if rng.random() < 0.2 and step < 400:
                    if rng.random() < 0.5:
                        late.append((now + rng.random() * SETTLED / 2, where, one.version))
                    exchange.delivered(one, now, sure=False)
                else:
                    inboxes[where] = one.version
                    exchange.delivered(one, now, sure=True)
    wanted = {
        (to, sender): versions[sender]
        for to in range(count)
        for sender in range(count)
        if to != sender and versions[sender]
    }
    assert inboxes == wanted
