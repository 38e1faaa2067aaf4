"""The availability profile: steps, and the earliest slot, against counting moment by moment."""

from math import inf
from random import Random

from metabroker.policy import Request, worst_fit
from metabroker.policy.profile import Profile


def test_the_steps_of_a_pool() -> None:
    pool = Profile([10])
    pool.take(0, 5, (0,), (4,))
    pool.take(2, 8, (0,), (4,))
    assert (pool.times, pool.free) == ([-inf, 0, 2, 5, 8], [[10], [6], [2], [6], [10]])
    pool.give(2, 8, (0,), (4,))
    assert (pool.times, pool.free) == ([-inf, 0, 5], [[10], [6], [10]])
    pool.forget(5)
    assert (pool.times, pool.free) == ([5], [[10]])


def test_the_earliest_slot_lasts_long_enough() -> None:
    pool = Profile([10])
    pool.take(0, 2, (0,), (4,))
    pool.take(5, 8, (0,), (9,))
    assert pool.earliest(Request((6,)), 5, 0) == (0, (0,))
    assert pool.earliest(Request((7,)), 3, 0) == (2, (0,))
    assert pool.earliest(Request((7,)), 3.5, 0) == (8, (0,))
    assert pool.earliest(Request((1,)), 100, 0) == (0, (0,))
    assert pool.earliest(Request((11,)), 1, 0) == (inf, ())


def test_on_several_clusters_one_place_is_kept_for_all_the_time() -> None:
    both = Profile([4, 4], worst_fit)
    both.take(0, 3, (0,), (2,))
    both.take(3, 6, (1,), (2,))
    assert both.earliest(Request((3,)), 3, 0) == (0, (1,))
    assert both.earliest(Request((3,)), 4, 0) == (3, (0,))
    assert both.earliest(Request((3, 3)), 1, 0) == (6, (0, 1))
    assert both.earliest(Request((3,), (1,)), 4, 1) == (6, (1,))
    assert both.earliest(Request((5,)), 1, 0) == (inf, ())


def test_random_histories_against_counting() -> None:
    for seed in range(60):
        rng = Random(seed)
        profile = Profile([12])
        free = [12] * 1000
        for now in range(0, 60, rng.randint(1, 3)):
            request, duration = Request((rng.randint(1, 12),)), rng.randint(1, 9)
            expected = next(
                t for t in range(now, 1000) if min(free[t : t + duration]) >= request.total
            )
            profile.forget(now)
            assert profile.earliest(request, duration, now) == (expected, (0,))
            profile.take(expected, expected + duration, (0,), request.sizes)
            for moment in range(expected, expected + duration):
                free[moment] -= request.total
