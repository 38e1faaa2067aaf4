"""Warm-up, intervals, batch means, saturation and capacity, on data whose answers are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from metabroker.simulation.statistics.batch_means import batch_means
from metabroker.simulation.statistics.capacity import capacity
from metabroker.simulation.statistics.intervals import paired, precise_enough, t_interval
from metabroker.simulation.statistics.saturation import growth, saturated
from metabroker.simulation.statistics.series import Floats, Series
from metabroker.simulation.statistics.warmup import FLOOR, cut, mser


def noise(count: int, seed: int) -> Floats:
    return np.random.default_rng(seed).normal(0, 1, count)


def simple_mser(values: list[float]) -> int:
    """Word by word from its definition."""

    def error(d: int) -> float:
        rest = values[d:]
        mean = sum(rest) / len(rest)
        return sum((v - mean) ** 2 for v in rest) / len(rest) ** 2

    return min(range(len(values) // 2 + 1), key=error)


# --- warm-up ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_mser_is_what_its_definition_says(seed: int) -> None:
    values = noise(60, seed) + np.where(np.arange(60) < seed, 4.0, 0.0)
    assert mser(values) == simple_mser(values.tolist())


def test_a_transient_is_cut_where_it_ends() -> None:
    values = noise(2000, 1) + 30 * np.exp(-np.arange(2000) / 40)
    assert 100 < mser(values) < 400


def test_never_more_than_half_is_cut() -> None:
    assert mser(np.linspace(0, 1, 100)) <= 50
    assert mser(np.array([3.0, 1.0, 2.0])) == 0


def test_rules_for_the_warm_up() -> None:
    series = Series(["response"], rows=1000)
    series.add(np.ones((5000, 1)))
    assert cut(series, "none") == 0
    assert cut(series, 0.25) == 250
    assert cut(series, "auto") == FLOOR * 1000  # MSER-5 would keep all
    for wrong in ("most", 1.0, -0.1):
        with pytest.raises(ValueError, match="warm-up"):
            cut(series, wrong)


# --- intervals --------------------------------------------------------------------------------


def test_a_t_interval_by_hand() -> None:
    found = t_interval([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.half == pytest.approx(4.302652729911275 / math.sqrt(3))
    assert 2.0 in found and 5.0 not in found


def test_one_value_has_a_mean_and_no_interval() -> None:
    found = t_interval([4.0])
    assert found.mean == 4.0 and math.isnan(found.half)
    with pytest.raises(ValueError, match="at least one"):
        t_interval([])


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_an_interval_covers_the_truth_as_often_as_it_says(level: float) -> None:
    draws = np.random.default_rng(7).exponential(1.0, (4000, 12))
    covered = sum(1.0 in t_interval(list(map(float, row)), level) for row in draws) / 4000
    assert level - 0.06 < covered <= level + 0.02


def test_paired_differences_lose_what_the_runs_have_in_common() -> None:
    common = noise(10, 3) * 100
    first, second = common + 1, common
    assert paired(first.tolist(), second.tolist()).half < 1e-9
    with pytest.raises(ValueError, match=r"shorter|longer"):
        paired([1.0], [1.0, 2.0])


def test_precision_needs_enough_values() -> None:
    assert not precise_enough([5.0, 5.0], 0.01)
    assert precise_enough([5.0, 5.0, 5.0], 0.01)
    assert not precise_enough([4.0, 5.0, 6.0], 0.01)


# --- one long run -----------------------------------------------------------------------------


def autocorrelated(count: int, seed: int, phi: float = 0.9) -> Floats:
    values, last = np.empty(count), 0.0
    for i, shock in enumerate(noise(count, seed)):
        last = phi * last + shock
        values[i] = last
    return values


def test_batch_means_cover_where_a_naive_interval_does_not() -> None:
    covered = naive = 0
    for seed in range(200):
        values = autocorrelated(3000, seed)
        covered += 0.0 in batch_means(values).interval
        naive += 0.0 in t_interval(values.tolist())
    assert covered > 170 > 100 > naive


def test_short_batches_show_in_their_correlation() -> None:
    values = autocorrelated(3000, 5)
    assert batch_means(values, batches=1000).lag1 > 0.5
    assert abs(batch_means(values, batches=30).lag1) < 0.45
    with pytest.raises(ValueError, match="too few"):
        batch_means(values[:40], batches=30)


# --- saturation and capacity ------------------------------------------------------------------


def test_a_straight_rise_from_nothing_grows_by_two() -> None:
    assert growth(np.linspace(0, 10, 1000)) == pytest.approx(2.0)
    assert growth(np.ones(1000)) == pytest.approx(0.0, abs=1e-9)


def waits(load: float, seed: int, jobs: int = 20_000) -> Floats:
    """Waiting times of M/M/1 by Lindley's recursion."""
    rng = np.random.default_rng(seed)
    service, gaps = rng.exponential(load, jobs), rng.exponential(1.0, jobs)
    found, wait = np.empty(jobs), 0.0
    for i in range(jobs):
        found[i] = wait + service[i]
        wait = max(0.0, wait + service[i] - gaps[i])
    return found


@pytest.mark.parametrize(("load", "expected"), [(0.5, False), (0.9, False), (1.1, True)])
def test_saturation_of_a_single_server(load: float, expected: bool) -> None:
    assert saturated([growth(waits(load, seed)) for seed in range(5)]) is expected


def test_capacity_by_bisection() -> None:
    found = capacity(lambda utilization: utilization < 0.7312, 0.1, 1.2, 0.001)
    assert found.low < 0.7312 <= found.high and found.high - found.low <= 0.002
    with pytest.raises(ValueError, match="begin with more"):
        capacity(lambda _: True, 0.1, 1.0)
    with pytest.raises(ValueError, match="begin with less"):
        capacity(lambda _: False, 0.1, 1.0)
    with pytest.raises(ValueError, match="are not a range"):
        capacity(lambda _: True, 1.0, 0.1)
