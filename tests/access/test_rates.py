"""How often one may ask: the buckets, with any times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.access.rates import Buckets, Rate


def test_a_burst_then_the_rate() -> None:
    buckets = Buckets(Rate(per_second=2.0, burst=3))
    assert [buckets.take("anna", 10.0) is None for _ in range(4)] == [True, True, True, False]
    refusal = buckets.take("anna", 10.0)
    assert refusal is not None and refusal.wait == pytest.approx(0.5)
    assert buckets.take("anna", 10.0 + refusal.wait) is None
    assert buckets.take("anna", 10.6) is not None


def test_one_users_requests_are_not_anothers() -> None:
    buckets = Buckets(Rate(1.0, 1))
    assert buckets.take("anna", 0.0) is None
    assert buckets.take("anna", 0.0) is not None
    assert buckets.take("bob", 0.0) is None


def test_of_many_refusals_few_are_told() -> None:
    buckets = Buckets(Rate(0.001, 1))
    assert buckets.take("anna", 0.0) is None
    refusals = [buckets.take("anna", 0.0) for _ in range(100)]
    told = [r.refused for r in refusals if r is not None and r.worth_telling]
    assert told == [1, 2, 4, 8, 16, 32, 64]


def test_a_clock_set_back_lets_nobody_wait_longer() -> None:
    buckets = Buckets(Rate(1.0, 1))
    buckets.take("anna", 1000.0)
    refusal = buckets.take("anna", 5.0)
    assert refusal is not None and refusal.wait <= 1.0


@given(
    st.floats(0.01, 100.0),
    st.integers(1, 50),
    st.lists(st.floats(0.0, 5.0), min_size=1, max_size=100),
)
def test_never_more_than_burst_and_rate(per_second: float, burst: int, gaps: list[float]) -> None:
    buckets, now, passed = Buckets(Rate(per_second, burst)), 0.0, 0
    for gap in gaps:
        now += gap
        passed += buckets.take("anna", now) is None
    assert passed <= burst + now * per_second + 1e-6


@given(st.floats(0.01, 100.0), st.integers(1, 50), st.floats(0.0, 1e6))
def test_after_the_time_told_it_is_let_through(per_second: float, burst: int, at: float) -> None:
    buckets = Buckets(Rate(per_second, burst))
    while (refusal := buckets.take("anna", at)) is None:
        pass
    assert buckets.take("anna", at + refusal.wait * 1.000001 + 1e-6) is None


def test_crowds_do_not_fill_the_memory() -> None:
    for apart in (0.001, 0.0):  # seconds: some buckets are full again meanwhile, or none is
        buckets = Buckets(Rate(1.0, 1))
        for number in range(25_000):
            buckets.take(f"user {number}", number * apart)
            assert len(buckets._buckets) <= 10_000
