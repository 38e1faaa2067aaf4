"""Where components go for the sake of their files (Mohamed and Epema 2004)."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metabroker.policy import Request, make, transfer_time, worst_fit, worst_fit_reuse
from metabroker.policy.close_to_files import close_to_files, close_to_files_reuse
from metabroker.policy.placement import Place
from tests.share import share

idles = st.lists(st.integers(-1, 9), min_size=6, max_size=6)
sizes = st.lists(st.integers(1, 9), min_size=1, max_size=5).map(tuple)
costs = st.lists(st.sampled_from([0.0, 1.0, 5.0, 60.0]), min_size=6, max_size=6).map(tuple)
groups = st.lists(
    st.sets(st.integers(0, 5), min_size=1, max_size=4).map(lambda each: tuple(sorted(each))),
    max_size=4,
    unique=True,
).map(tuple)
BOTH = [(close_to_files, worst_fit), (close_to_files_reuse, worst_fit_reuse)]


@pytest.mark.parametrize("place", [close_to_files, close_to_files_reuse])
def test_the_cluster_with_the_files_is_taken_though_another_has_more_idle(place: Place) -> None:
    assert place(Request((4,), costs=(30.0, 0.0, 30.0)), [16, 4, 8]) == (1,)
    assert place(Request((4,), costs=(30.0, 0.0, 20.0)), [16, 3, 8]) == (2,)


@pytest.mark.parametrize("place", [close_to_files, close_to_files_reuse])
def test_among_equally_near_clusters_it_is_worst_fit_then_the_lowest_index(place: Place) -> None:
    assert place(Request((4,), costs=(9.0, 2.0, 2.0)), [16, 5, 8]) == (2,)
    assert place(Request((4,), costs=(9.0, 2.0, 2.0)), [16, 8, 8]) == (1,)


def test_components_go_to_distinct_clusters_the_largest_first() -> None:
    request = Request((2, 6), costs=(0.0, 5.0, 9.0))
    assert close_to_files(request, [8, 8, 8]) == (1, 0)
    assert close_to_files(request, [4, 4, 8]) == (0, 2)


def test_with_reuse_all_components_go_where_the_files_are_as_long_as_there_is_room() -> None:
    request = Request((2, 6, 3), costs=(0.0, 5.0, 9.0))
    assert close_to_files_reuse(request, [11, 8, 8]) == (0, 0, 0)
    assert close_to_files_reuse(request, [9, 8, 8]) == (1, 0, 0)


def test_with_reuse_files_keep_no_job_waiting() -> None:
    """By cost, 3 goes to the first cluster, and no 2 can be added there; by Worst Fit all fit."""
    request = Request((2, 2, 2, 3), costs=(0.0, 1.0))
    assert close_to_files_reuse(request, [4, 5]) == worst_fit_reuse(request, [4, 5]) == (0, 0, 1, 1)


@pytest.mark.parametrize(("close", "worst"), BOTH)
@settings(deadline=None)
@given(sizes, idles)
def test_without_files_every_placement_is_that_of_worst_fit(
    close: Place, worst: Place, components: tuple[int, ...], idle: list[int]
) -> None:
    request = Request(components, exclude=(1,), bounds=((2, 3),))
    assert close(request, idle) == worst(request, idle)
    assert close(Request(components), idle) == worst(Request(components), idle)


@pytest.mark.parametrize(("close", "worst"), BOTH)
@settings(deadline=None)
@given(sizes, idles, costs, groups)
def test_files_decide_where_and_never_whether(
    close: Place,
    worst: Place,
    components: tuple[int, ...],
    idle: list[int],
    each: tuple[float, ...],
    near: tuple[tuple[int, ...], ...],
) -> None:
    """And what is placed has room, in clusters that it may go to."""
    plain = Request(components, exclude=(1,), bounds=((2, 3),), groups=near)
    request = Request(components, exclude=(1,), bounds=((2, 3),), groups=near, costs=each)
    before = list(idle)
    found = close(request, idle)
    assert (found is None) == (worst(plain, idle) is None)
    assert request.shape == plain.shape, "FPFS tries each shape once in a pass"
    assert idle == before
    if found is None:
        return
    used = [sum(n for n, c in zip(components, found, strict=True) if c == k) for k in range(6)]
    assert used[1] == 0 and used[2] <= 3
    assert all(n <= max(0, idle[c]) for c, n in enumerate(used))
    assert not near or any(set(found) <= set(group) for group in near)


@settings(deadline=None, max_examples=share(60))
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple), idles, costs, groups)
def test_no_other_distinct_clusters_get_the_files_sooner(
    components: tuple[int, ...],
    idle: list[int],
    each: tuple[float, ...],
    near: tuple[tuple[int, ...], ...],
) -> None:
    """Held against all choices that there are: the last file, and all of them together."""
    request = Request(components, groups=near, costs=each)
    found = close_to_files(request, idle)
    able = [
        chosen
        for chosen in permutations(range(6), len(components))
        if all(idle[c] >= n for c, n in zip(chosen, components, strict=True))
        and (not near or any(set(chosen) <= set(group) for group in near))
    ]
    if found is None:
        assert not able
        return
    assert transfer_time(request, found) == min(transfer_time(request, one) for one in able)
    if not near:
        every = sum(each[c] for c in found)
        assert every == min(sum(each[c] for c in one) for one in able)


@pytest.mark.parametrize("place", [close_to_files, close_to_files_reuse])
def test_an_ordered_request_goes_to_its_clusters_wherever_its_files_are(place: Place) -> None:
    assert place(Request((3,), (0,), costs=(50.0, 0.0)), [9, 9]) == (0,)
    assert transfer_time(Request((3,), (0,), costs=(50.0, 0.0)), (0,)) == 50.0


def test_files_come_to_all_components_at_once() -> None:
    request = Request((1, 1), costs=(3.0, 8.0, 1.0))
    assert transfer_time(request, (0, 2)) == 3.0
    assert transfer_time(Request((1, 1)), (0, 2)) == 0.0


@pytest.mark.parametrize("wrong", [(1.0, -1.0), (float("inf"), 0.0), (1.0, float("nan"))])
def test_a_cost_is_a_number_of_seconds(wrong: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="seconds"):
        Request((1,), costs=wrong)


def test_a_policy_starts_a_job_where_its_files_are() -> None:
    for policy, name in (("GS", "close-to-files"), ("FPFS", "close-to-files-reuse")):
        scheduler = make(policy, 3, placement=name)
        request = Request((4,), costs=(30.0, 0.0, 30.0))
        scheduler.arrive(1, request, scheduler.queue_of(request, 0), 0.0)
        scheduler.arrive(2, Request((4,)), scheduler.queue_of(request, 0), 0.0)
        assert scheduler.run([16, 8, 8], 0.0) == [(1, (1,)), (2, (0,))]
