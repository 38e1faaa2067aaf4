"""Intervals hold nine times in ten, whatever the expectation is worth and however load changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from math import exp

import pytest

from metabroker.prediction.conformal import (
    LEAST,
    NOTHING,
    Calibration,
    Estimate,
    Expected,
    _quantiles,
    expectation,
)
from metabroker.prediction.forward import _mixed


def drawn(seed: int) -> Iterator[float]:
    """Numbers between 0 and 1, always the same."""
    return (_mixed(seed * 10**6 + number) / 2**64 for number in count())


def normal(numbers: Iterator[float]) -> float:
    return sum(next(numbers) for _ in range(12)) - 6


def expected_of(wait: float) -> Expected:
    return expectation([wait * 0.7, wait, wait * 1.5])


BASES: dict[str, Callable[[float, float], Expected]] = {
    "fair": lambda true, noise: expected_of(true),
    "ten times too long": lambda true, noise: expected_of(10 * true),
    "always the same": lambda true, noise: expected_of(500.0),
    "of nothing": lambda true, noise: NOTHING,
    "noise": lambda true, noise: expected_of(3000 * noise),
}


def told(
    base: Callable[[float, float], Expected], jobs: int, load: Callable[[int], float]
) -> list[bool | None]:
    """Of each job whether its wait was within what had been told; None: nothing was."""
    numbers, calibration, found = drawn(7), Calibration(), []
    longest = 0.0
    for number in range(jobs):
        true = 600 * load(number) * exp(normal(numbers))
        wait = true * exp(0.8 * normal(numbers))
        expected = base(true / load(number), next(numbers))
        interval = calibration.interval(expected, longest)
        found.append(None if interval is None else interval.earliest <= wait <= interval.latest)
        if interval is not None:
            calibration.follow(wait < interval.earliest, wait > interval.latest)
        calibration.learn(expected.score(wait))
        longest = max(longest, wait)
    return found


@pytest.mark.parametrize("base", BASES)
def test_intervals_are_kept_nine_times_in_ten_whatever_is_expected(base: str) -> None:
    found = told(BASES[base], 1500, lambda number: 1.0)
    assert found[:LEAST] == [None] * LEAST, "too little is known of so few"
    kept = found[LEAST:]
    assert None not in kept and 0.85 <= sum(map(bool, kept)) / len(kept) <= 0.95


@pytest.mark.parametrize("factor", [8.0, 0.125])
@pytest.mark.parametrize("base", ["fair", "always the same"])
def test_fifty_jobs_after_a_change_of_load_they_are_again(base: str, factor: float) -> None:
    found = told(BASES[base], 900, lambda number: factor if number >= 600 else 1.0)
    kept = found[650:850]
    assert 0.85 <= sum(map(bool, kept)) / len(kept) <= 0.97


def test_a_row_of_good_intervals_makes_the_next_no_narrower_than_the_last_scores() -> None:
    calibration, expected = Calibration(), expected_of(600.0)
    for number in range(2 * LEAST):
        calibration.learn(number / LEAST)
    first = calibration.interval(expected, 1e6)
    for _ in range(10 * LEAST):
        calibration.follow(early=False, late=False)
    assert calibration.interval(expected, 1e6) == first
    calibration.follow(early=False, late=True)
    wider = calibration.interval(expected, 1e6)
    assert first is not None and wider is not None
    assert (wider.earliest, wider.latest > first.latest) == (first.earliest, True)


def test_a_surer_expectation_makes_a_narrower_interval() -> None:
    calibration = Calibration()
    for number in range(100):
        calibration.learn((number - 50) / 50)
    sure, unsure = (expectation([600 / part, 600, 600 * part]) for part in (1.1, 3.0))
    widths = []
    for expected in (sure, unsure):
        found = calibration.interval(expected, 10**6)
        assert found is not None
        widths.append(found.latest - found.earliest)
    assert widths[0] < widths[1]


@pytest.mark.parametrize(("bias", "corrected"), [(0.1, False), (2.0, True), (-0.9, True)])
def test_a_good_expectation_is_not_corrected_by_noise(bias: float, corrected: bool) -> None:
    calibration, expected = Calibration(), expected_of(600.0)
    for number in range(101):
        calibration.learn(bias + (number - 50) / 50)
    found = calibration.interval(expected, 10**6)
    assert found is not None and found.earliest <= found.likely < found.latest
    assert (found.likely != pytest.approx(600.0)) == corrected
    assert not corrected or (found.likely > 600) == (bias > 0)


def test_who_has_waited_for_long_is_judged_by_those_who_did_too() -> None:
    calibration, expected = Calibration(), expected_of(600.0)
    for wait in range(100, 1100, 10):
        calibration.learn(expected.score(float(wait)))
    first = calibration.interval(expected, 1090.0)
    later = calibration.later(expected, 800.0, 1090.0)
    assert first is not None and later is not None
    assert first.earliest < 300 and 800 <= later.earliest < later.likely < later.latest
    assert 900 < later.likely < 1000
    assert calibration.later(expected, 1060.0, 1090.0) is None, "of so few nothing is known"


def test_who_still_waits_counts_as_far_as_it_is_known() -> None:
    """By hand, after Kaplan and Meier: 1/4 each, then what is left at once."""
    known, parts = [1.0, 2.0, 3.0], (0.25, 0.5, 0.75)
    assert _quantiles(known, [2.5], parts) == [1.0, 2.0, 3.0]
    assert _quantiles(known, [1.5, 1.6], (0.2, 0.6, 0.9)) == [1.0, 2.0, 3.0]
    assert _quantiles(known, [0.0], parts) == [1.0, 2.0, 3.0], "it tells nothing"
    assert _quantiles(known, [9.0], (0.25, 0.5)) == [1.0, 2.0]
    assert _quantiles(known, [9.0], (0.9,)) is None, "it may become longer than all that are known"


def test_where_many_wait_longer_than_anybody_did_nothing_is_known() -> None:
    calibration, expected = Calibration(), expected_of(600.0)
    for number in range(100):
        calibration.learn((number - 50) / 50)
    still = [2.0] * 4
    assert calibration.interval(expected, 10**4, still) is not None
    assert calibration.interval(expected, 10**4, still * 3) is None
    first, second = (calibration.interval(expected, 10**4, each) for each in ((), [0.9] * 9))
    assert first is not None and second is not None and second.latest > first.latest
    waited = expected.wait(0.5)
    assert calibration.later(expected, waited, 10**4) is not None
    assert calibration.later(expected, waited, 10**4, [2.0] * 4) is None


def test_no_interval_goes_far_beyond_the_longest_wait_that_is_known() -> None:
    calibration = Calibration()
    for _ in range(50):
        calibration.learn(50.0)
    found = calibration.interval(expected_of(60.0), 1000.0)
    assert found is not None
    assert found.earliest <= found.likely <= found.latest <= 4000.0


def test_memory_is_bounded() -> None:
    calibration = Calibration()
    for number in range(2000):
        calibration.learn(float(number % 7))
    assert len(calibration) == 500 and len(calibration._ordered) == 500


def test_an_estimate_is_moved_to_a_moment() -> None:
    assert Estimate(1.0, 2.0, 3.0).after(10.0) == Estimate(11.0, 12.0, 13.0)
