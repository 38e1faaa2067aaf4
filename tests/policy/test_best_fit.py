"""Best Fit and fewest clusters, by examples and over all small cases."""

from itertools import permutations, product

import pytest

from metabroker.policy import Request
from metabroker.policy.best_fit import best_fit, fewest_clusters, split_over_fewest


def test_best_fit_leaves_the_least_free() -> None:
    assert best_fit(Request((3,)), [8, 4, 3, 5]) == (2,)
    assert best_fit(Request((6,)), [8, 4, 3, 5]) == (0,)
    assert best_fit(Request((9,)), [8, 4, 3, 5]) is None
    assert best_fit(Request((2,)), [3, 3]) == (0,)


def test_best_fit_puts_components_on_distinct_clusters() -> None:
    assert best_fit(Request((1, 4)), [8, 4, 1]) == (2, 1)
    assert best_fit(Request((1, 1, 1)), [8, 4]) is None
    assert best_fit(Request((2, 1), (0, 0)), [3, 4]) == (0, 0)


@pytest.mark.parametrize("sizes", [(1,), (2, 2), (3, 1), (1, 2, 3)])
def test_best_fit_finds_a_place_whenever_there_is_one(sizes: tuple[int, ...]) -> None:
    for idle in product(range(5), repeat=3):
        possible = any(
            all(free >= size for free, size in zip(chosen, sizes, strict=False))
            for chosen in permutations(idle, len(sizes))
        )
        placement = best_fit(Request(sizes), idle)
        assert (placement is not None) == possible
        if placement is not None:
            assert len(set(placement)) == len(sizes)
            assert all(idle[c] >= s for c, s in zip(placement, sizes, strict=True))


def test_fewest_clusters_takes_one_by_best_fit_else_the_most_idle() -> None:
    assert fewest_clusters(Request((2, 3)), [8, 5, 6]) == (1, 1)
    assert fewest_clusters(Request((4, 4, 1)), [5, 4, 0]) == (0, 1, 0)
    assert fewest_clusters(Request((4, 4, 2)), [5, 4, 0]) is None
    assert fewest_clusters(Request((2, 1), (1, 0)), [1, 2]) == (1, 0)


def test_a_split_uses_as_few_clusters_as_can_be() -> None:
    assert split_over_fewest(5, [8, 5, 6]) == ((1,), (5,))
    assert split_over_fewest(9, [8, 5, 6]) == ((0, 2), (8, 1))
    assert split_over_fewest(19, [8, 5, 6]) == ((0, 2, 1), (8, 6, 5))
    assert split_over_fewest(20, [8, 5, 6]) is None
    assert split_over_fewest(3, [2, 0]) is None
