"""The planners decide as their slow and obvious twins do, pass by pass, over random histories."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metabroker.policy import ALL_PLACEMENTS, Planner, Request, make_planner, sequential, worst_fit
from metabroker.policy.easy import Easy
from tests.policy.slow_planners import (
    Slow,
    SlowConservative,
    SlowEasy,
    SlowJobMix,
    SlowMultiSite,
    SlowPoolEasy,
)
from tests.share import share

Draw = Callable[[Random], Request]


def step(planner: Planner, slow: Slow, draw: Draw, seed: int, jobs: int = 60) -> None:
    """Submissions and ends at small whole times, so that many coincide; every pass is compared."""
    rng = Random(seed)
    most = rng.choice((2, 6, 20))
    ends: dict[int, float] = {}
    estimates: dict[int, float] = {}
    key = 0
    for moment in range(100_000):
        now = float(moment)
        for done in [job for job, end in ends.items() if end == now]:
            del ends[done]
            planner.end(done, now)
            slow.end(done, now)
        for _ in range(min(rng.choice((0, 0, 1, 2)), jobs - key)):
            request = draw(rng)
            estimates[key] = float(rng.randint(1, most))
            planner.submit(key, request, 0, estimates[key], now)
            slow.submit(key, request, 0, estimates[key], now)
            key += 1
        launches = planner.run(now)
        assert sorted(launches) == sorted(slow.run(now)), f"at {now}"
        assert len(planner) == len(slow.queue)
        for started, _, _ in launches:
            ends[started] = now + rng.randint(1, int(estimates[started]))
        if key == jobs and not ends:
            assert not len(planner)
            return
    raise AssertionError("jobs wait for ever")


def one(largest: int) -> Draw:
    return lambda rng: Request((rng.randint(1, largest),))


def several(rng: Random) -> Request:
    sizes = tuple(rng.randint(1, 6) for _ in range(rng.choice((1, 1, 2, 3))))
    if rng.random() < 0.15:
        return Request(sizes, tuple(rng.sample(range(3), len(sizes))))
    return Request(sizes)


def mix(rng: Random) -> Request:
    size = 2 ** rng.randint(0, 4)
    return sequential(size) if size <= 4 else Request((size,))


SEEDS = st.integers(0, 10**9)


@given(SEEDS)
@settings(max_examples=share(30), deadline=None)
def test_easy_on_one_pool(seed: int) -> None:
    step(make_planner("EASY", [12]), SlowPoolEasy([12], worst_fit), one(12), seed)


@given(SEEDS)
@settings(max_examples=share(20), deadline=None)
def test_easy_over_clusters_is_the_same_on_one(seed: int) -> None:
    step(Easy([12]), SlowPoolEasy([12], worst_fit), one(12), seed)


@pytest.mark.parametrize("placement", ["worst-fit", "best-fit"])
@given(seed=SEEDS)
@settings(max_examples=share(20), deadline=None)
def test_easy_over_several_clusters(placement: str, seed: int) -> None:
    processors = [8, 6, 9]
    slow = SlowEasy(processors, ALL_PLACEMENTS[placement])
    step(make_planner("EASY", processors, placement=placement), slow, several, seed)


@given(SEEDS)
@settings(max_examples=share(20), deadline=None)
def test_job_sharing_is_easy_with_best_fit(seed: int) -> None:
    slow = SlowEasy([12, 6, 6], ALL_PLACEMENTS["best-fit"])
    step(make_planner("JOB-SHARING", [12, 6, 6]), slow, one(12), seed)


@pytest.mark.parametrize("overhead", [0.0, 0.25, 2.0])
@given(seed=SEEDS)
@settings(max_examples=share(30), deadline=None)
def test_multi_site(overhead: float, seed: int) -> None:
    processors = [8, 6, 9]
    slow = SlowMultiSite(processors, overhead)
    step(make_planner("MULTI-SITE", processors, overhead=overhead), slow, one(23), seed)


@given(SEEDS)
@settings(max_examples=share(20), deadline=None)
def test_conservative_on_one_pool(seed: int) -> None:
    step(make_planner("CONSERVATIVE", [12]), SlowConservative([12], worst_fit), one(12), seed)


@pytest.mark.parametrize("placement", ["worst-fit", "best-fit"])
@given(seed=SEEDS)
@settings(max_examples=share(12), deadline=None)
def test_conservative_over_several_clusters(placement: str, seed: int) -> None:
    processors = [8, 6, 9]
    slow = SlowConservative(processors, ALL_PLACEMENTS[placement])
    step(make_planner("CONSERVATIVE", processors, placement=placement), slow, several, seed)


@pytest.mark.parametrize("policy", ["AFCFS", "AFCFS-BS", "LG-SS", "LG-SS-BS"])
@given(seed=SEEDS)
@settings(max_examples=share(20), deadline=None)
def test_the_job_mix(policy: str, seed: int) -> None:
    step(make_planner(policy, [16]), SlowJobMix(policy, [16], worst_fit), mix, seed)
