"""Where components go: BE03 2.4, BE07 2.1, DCS 2.4."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metabroker.policy import PLACEMENTS, Request, worst_fit, worst_fit_reuse
from metabroker.policy.placement import Place, worst_fit_random_ties
from metabroker.policy.registry import ALL_PLACEMENTS
from tests.policy import reference
from tests.policy.hand import Coin

idles = st.lists(st.integers(0, 9), min_size=1, max_size=6)
sizes = st.lists(st.integers(1, 9), min_size=1, max_size=7).map(tuple)


def test_worst_fit_puts_the_ith_largest_on_the_ith_most_idle_be03_2_4() -> None:
    assert worst_fit(Request((3, 8, 5)), [4, 20, 9, 6]) == (3, 1, 2)


def test_worst_fit_sorts_the_clusters_once_be07_2_1() -> None:
    # After 8 of 9 on cluster 0 its one idle processor stays in the first place.
    assert worst_fit(Request((8, 3)), [9, 4]) == (0, 1)
    assert worst_fit(Request((2, 2)), [9, 1]) is None


def test_worst_fit_breaks_ties_by_the_lowest_index() -> None:
    assert worst_fit(Request((1, 1)), [5, 7, 5, 7]) == (1, 3)
    assert worst_fit(Request((1,)), [7, 5, 7]) == (0,)


def test_worst_fit_needs_distinct_clusters() -> None:
    assert worst_fit(Request((1, 1, 1)), [9, 9]) is None


def test_worst_fit_is_one_look_at_the_components_not_at_their_sum() -> None:
    assert worst_fit(Request((5, 5)), [9, 4]) is None
    assert worst_fit(Request((5,)), [4, 4]) is None


def test_with_reuse_the_fresh_clusters_come_first_dcs_2_4() -> None:
    assert worst_fit_reuse(Request((4, 4, 1)), [10, 4]) == (0, 1, 0)
    assert worst_fit_reuse(Request((1, 4, 4)), [10, 4]) == (0, 0, 1)


def test_with_reuse_the_most_idle_used_cluster_takes_what_fits_on_no_fresh_one_dcs_2_4() -> None:
    # 6 -> cluster 0 (14 left), 6 -> cluster 1 (2 left), 5 -> not on cluster 2 (3) but on cluster 0.
    assert worst_fit_reuse(Request((6, 6, 5)), [20, 8, 3]) == (0, 1, 0)


def test_with_reuse_a_job_that_fits_on_no_list_does_not_fit_dcs_2_4() -> None:
    assert worst_fit_reuse(Request((6, 6, 5)), [10, 8, 3]) is None
    assert worst_fit_reuse(Request((11,)), [10, 8, 3]) is None


def test_with_reuse_more_idle_processors_can_be_worse() -> None:
    """Why FPFS says that it does not try a shape again within a pass."""
    request = Request((14, 14, 8, 6, 5, 4, 1))
    assert worst_fit_reuse(request, [11, 28, 13]) is not None
    assert worst_fit_reuse(request, [11, 28, 15]) is None


@pytest.mark.parametrize("name", PLACEMENTS)
def test_an_ordered_request_goes_to_its_clusters_whatever_the_rule_dcs_2_3(name: str) -> None:
    place = PLACEMENTS[name]
    assert place(Request((3, 2, 4), (1, 1, 0)), [9, 5, 9]) == (1, 1, 0)
    assert place(Request((3, 3, 4), (1, 1, 0)), [9, 5, 9]) is None
    assert place(Request((1,), (3,)), [9, 9, 9]) is None


@pytest.mark.parametrize("name", PLACEMENTS)
def test_a_cluster_without_idle_processors_gets_nothing_even_below_zero(name: str) -> None:
    place = PLACEMENTS[name]
    assert place(Request((1,)), [0, -3]) is None
    assert place(Request((1, 1)), [0, 1, -3]) is None
    assert place(Request((1,), (1,)), [4, -3]) is None
    assert place(Request((2, 1)), [-3, 1, 2]) == (2, 1)


@pytest.mark.parametrize("name", PLACEMENTS)
def test_placing_changes_nothing(name: str) -> None:
    idle = [4, 9, 2]
    PLACEMENTS[name](Request((4, 4, 1)), idle)
    assert idle == [4, 9, 2]


@settings(deadline=None)
@given(sizes, idles)
def test_worst_fit_is_as_the_slow_one(components: tuple[int, ...], idle: list[int]) -> None:
    slow = reference.worst_fit(components, idle)
    assert worst_fit(Request(components), idle) == (slow and tuple(slow))


@settings(deadline=None)
@given(sizes, idles)
def test_with_reuse_is_as_the_slow_one(components: tuple[int, ...], idle: list[int]) -> None:
    slow = reference.worst_fit_reuse(components, idle)
    assert worst_fit_reuse(Request(components), idle) == (slow and tuple(slow))


def test_random_ties_differ_only_among_equally_idle_clusters() -> None:
    place = worst_fit_random_ties(Random(1))
    seen = {place(Request((2, 1)), [5, 3, 5, 5, 3]) for _ in range(200)}
    assert seen == {(a, b) for a in (0, 2, 3) for b in (0, 2, 3) if a != b}


def test_random_ties_are_fair() -> None:
    place = worst_fit_random_ties(Random(1))
    counts = Counter(place(Request((2, 1, 1)), [5, 5, 5]) for _ in range(6000))
    assert len(counts) == 6
    assert all(900 < count < 1100 for count in counts.values())


def test_random_ties_fit_exactly_where_worst_fit_does() -> None:
    rng = Random(1)
    place = worst_fit_random_ties(rng)
    for _ in range(500):
        request = Request(tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 4))))
        idle = [rng.randint(0, 6) for _ in range(3)]
        assert (place(request, idle) is None) == (worst_fit(request, idle) is None)


def test_random_ties_draw_nothing_for_an_ordered_request() -> None:
    assert worst_fit_random_ties(Coin())(Request((2,), (1,)), [5, 5]) == (1,)


@pytest.mark.parametrize("place", ALL_PLACEMENTS.values(), ids=ALL_PLACEMENTS)
def test_an_excluded_cluster_gets_nothing_and_keeps_what_it_has(place: Place) -> None:
    idle = [16, 8, 4]
    assert place(Request((4,), exclude=(0,)), idle) in ((1,), (2,))
    assert place(Request((9,), exclude=(0,)), idle) is None
    assert place(Request((4,), (0,), exclude=(0,)), idle) == (0,)  # its user's own choice
    assert idle == [16, 8, 4]
    assert Request((4,)).shape != Request((4,), exclude=(0,)).shape


groupings = st.lists(
    st.sets(st.integers(0, 5), min_size=1, max_size=4).map(lambda each: tuple(sorted(each))),
    min_size=1,
    max_size=5,
    unique=True,
).map(tuple)
RULES = [*ALL_PLACEMENTS.values(), worst_fit_random_ties(Random(7))]


@pytest.mark.parametrize("place", RULES)
@given(sizes, idles, groupings)
def test_all_clusters_are_of_one_group_and_none_is_left_out_that_would_do(
    place: Place, sizes: tuple[int, ...], idle: list[int], groups: tuple[tuple[int, ...], ...]
) -> None:
    """Held against each group by itself, with nothing idle elsewhere."""
    found = place(Request(sizes, groups=groups), idle)
    alone = [
        (sum(idle[c] for c in group if c < len(idle)), group)
        for group in groups
        if place(Request(sizes), [n if c in group else 0 for c, n in enumerate(idle)]) is not None
    ]
    assert (found is None) == (not alone)
    if found is not None:
        most = max(total for total, _ in alone)
        assert any(set(found) <= set(group) for total, group in alone if total == most)


@pytest.mark.parametrize("name", PLACEMENTS)
def test_an_ordered_request_whose_clusters_are_of_no_one_group_does_not_fit(name: str) -> None:
    place = PLACEMENTS[name]
    where = (0, 1)
    assert place(Request((1, 1), where, groups=((0, 1), (2,))), [9, 9, 9]) == where
    assert place(Request((1, 1), where, groups=((0, 2), (1, 2))), [9, 9, 9]) is None


def test_groups_exclusions_and_bounds_hold_together() -> None:
    request = Request((4, 2), exclude=(0,), bounds=((1, 3),), groups=((0, 1), (1, 2)))
    assert worst_fit(request, [9, 9, 9]) == (2, 1)
    assert worst_fit(request, [9, 9, 3]) is None


def test_requests_of_other_groups_are_of_another_shape() -> None:
    """FPFS does not try a shape again within a pass."""
    assert Request((1, 1), groups=((0, 1),)).shape != Request((1, 1)).shape
    where = (0, 1)
    assert Request((1, 1), where, groups=((0, 1),)).shape != Request((1, 1), where).shape
