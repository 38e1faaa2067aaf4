"""A cluster's own queue that keeps reservations: without any it is EASY or FCFS, start by start."""

from __future__ import annotations

import random
from heapq import heappop, heappush

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.policy import Request
from metabroker.policy.availability import Booked
from metabroker.policy.local_queue import LocalEasy
from metabroker.policy.local_reserving import RESERVING, LocalReserving
from metabroker.simulation.local_users import SCHEDULERS

SIZE = 16


def of(scheduler: str = "EASY") -> LocalReserving:
    return RESERVING[scheduler]((SIZE,))


def submitted(pool: LocalReserving | LocalEasy, key: int, size: int, estimate: float) -> list[int]:
    """A job comes at 0; the keys of those that start."""
    pool.submit(key, Request((size,)), 0, estimate, 0.0)
    return [start[0] for start in pool.run(0.0)]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(seed=st.integers(0, 10**9))
def test_without_reservations_all_start_as_by_the_other(scheduler: str, seed: int) -> None:
    """Jobs end by their estimates, or before."""
    rng = random.Random(seed)
    ours, other = of(scheduler), SCHEDULERS[scheduler]((SIZE,))
    lengths: dict[int, float] = {}
    ends: list[tuple[float, int]] = []
    now = 0.0

    def passes(now: float) -> None:
        found = ours.run(now)
        assert found == other.run(now)
        for key, _, _ in found:
            heappush(ends, (now + lengths[key] * rng.choice((0.3, 1.0)), key))

    for key in range(40):
        now += rng.choice((0, 0, 1, 2, 5))
        while ends and ends[0][0] <= now:
            end, ended = heappop(ends)
            for pool in (ours, other):
                pool.end(ended, end)
            passes(end)
        size, lengths[key] = rng.choice((1, 2, 3, 8, 16)), float(rng.choice((1, 4, 10, 30)))
        for pool in (ours, other):
            pool.submit(key, Request((size,)), 0, lengths[key], now)
        passes(now)
        assert ours.idle == other.idle
        for size in (1, 2, 5, 11, 16):
            for estimate in (1.0, 7.0, 40.0):
                asked = (size, estimate, now)
                assert ours.starts_now(*asked) == other.starts_now(*asked)


@pytest.mark.parametrize(
    ("size", "estimate", "starts"), [(8, 90, True), (9, 90, False), (16, 10, True), (16, 11, False)]
)
def test_a_job_starts_only_where_it_leaves_a_reservation_alone(
    size: int, estimate: float, starts: bool
) -> None:
    pool = of()
    pool.book(7, Booked(8, 10.0, 50.0), 0.0)
    assert (submitted(pool, 1, size, estimate) == [1]) is starts


def test_who_waits_for_a_reservation_is_overtaken_by_what_is_shorter() -> None:
    pool = of()
    pool.book(7, Booked(16, 10.0, 20.0), 0.0)
    assert submitted(pool, 1, 4, 11.0) == []
    assert pool.idle_for_reservations() == 16
    assert submitted(pool, 2, 16, 10.0) == [2]
    assert pool.idle_for_reservations() == 0


def test_under_fcfs_nothing_overtakes_it() -> None:
    pool = of("FCFS")
    pool.book(7, Booked(16, 10.0, 20.0), 0.0)
    assert submitted(pool, 1, 4, 11.0) == [] and submitted(pool, 2, 1, 1.0) == []
    assert pool.idle == 0 and not pool.starts_now(1, 1.0, 0.0)


def test_its_job_starts_in_it_and_others_when_it_is_over() -> None:
    pool = of()
    pool.book(7, Booked(16, 10.0, 20.0), 0.0)
    assert submitted(pool, 1, 4, 11.0) == []
    pool.begin(7, 10.0, 10.0)
    assert pool.run(10.0) == [] and pool.idle == 0
    pool.end(7, 15.0)
    assert [start[0] for start in pool.run(15.0)] == [1]


def test_it_may_begin_earlier_where_no_other_reservation_is_in_the_way() -> None:
    pool = of()
    pool.book(7, Booked(10, 30.0, 40.0), 0.0)
    assert pool.may_begin(7, 10.0, 0.0)
    pool.book(8, Booked(10, 9.0, 12.0), 0.0)
    assert not pool.may_begin(7, 10.0, 0.0) and pool.may_begin(7, 9.0, 0.0)
    assert submitted(pool, 1, 7, 5.0) == [1]
    assert not pool.may_begin(7, 9.0, 0.0) and pool.booked(7) and not pool.booked(9)


def test_a_released_reservation_keeps_nothing() -> None:
    pool = of()
    pool.book(7, Booked(16, 10.0, 20.0), 0.0)
    assert pool.release(7, 5.0) == Booked(16, 10.0, 20.0)
    assert submitted(pool, 1, 16, 100.0) == [1]
    with pytest.raises(KeyError):
        pool.release(7, 5.0)


def test_what_is_known_of_the_time_to_come() -> None:
    pool = of()
    pool.book(7, Booked(16, 10.0, 20.0), 0.0)
    assert submitted(pool, 1, 4, 9.0) == [1] and submitted(pool, 2, 16, 11.0) == []
    told = pool.outlook()
    assert (told.processors, list(told.held), list(told.booked)) == (
        SIZE, [(4, 9.0)], [(16, 10.0, 20.0)]
    )  # fmt: skip
    assert list(told.wanted) == [(16, 11.0, 0.0)]
