"""Limits and flexible requests: BE07 2.4.1, 4.2, 4.3, 5.1."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metabroker.policy import (
    Limit,
    Limits,
    Request,
    RequestRefusal,
    ever_fits,
    split_total,
    why_never,
    worst_fit_reuse,
)
from tests.share import share

DAS = (32, 32, 32, 32)


@pytest.mark.parametrize(
    ("limit", "sizes"),
    [(16, (16, 16, 16, 16)), (24, (22, 21, 21)), (32, (32, 32)), (None, (32, 32))],
)
def test_a_job_of_size_64_as_in_be07_4_2(limit: int | None, sizes: tuple[int, ...]) -> None:
    assert split_total(64, DAS, Limits(component=limit)) == sizes


def test_the_component_limit_may_be_exceeded_in_as_many_components_as_clusters_be07_2_4_1() -> None:
    assert split_total(128, DAS, Limits(component=16)) == (32, 32, 32, 32)
    assert split_total(70, DAS, Limits(component=16)) == (18, 18, 17, 17)


def test_as_few_components_as_possible_of_sizes_as_equal_as_possible_be07_2_4_1() -> None:
    assert split_total(16, DAS, Limits(component=16)) == (16,)
    assert split_total(17, DAS, Limits(component=16)) == (9, 8)
    assert split_total(1, DAS, Limits()) == (1,)


def test_a_split_that_never_fits_is_no_answer_more_components_are_taken() -> None:
    assert split_total(72, (64, 36, 36), Limits(component=40)) == (36, 36)
    assert split_total(72, (64, 30, 30), Limits(component=40)) == (24, 24, 24)


def test_where_equal_sizes_never_fit_the_clusters_are_filled_evenly() -> None:
    assert split_total(200, (144, 64, 32), Limits()) == (104, 64, 32)
    assert split_total(200, (32, 144, 64), Limits(component=64, components=4)) == (104, 64, 32)
    assert split_total(200, (144, 64, 32), Limits(components=2)) == (136, 64)
    assert split_total(240, (144, 64, 32), Limits()) == (144, 64, 32)


def test_rule_no_coallocation_be07_5_1() -> None:
    limits = Limits(components=1)
    assert split_total(32, DAS, limits) == (32,)
    assert split_total(33, DAS, limits) == RequestRefusal(Limit.CAPACITY, 33, 32)
    assert limits.check((8, 8)) == RequestRefusal(Limit.COMPONENTS, 2, 1)


def test_rule_fully_restricted_coallocation_be07_5_1() -> None:
    limits = Limits(component=16, components=2)
    assert split_total(32, DAS, limits) == (16, 16)
    assert split_total(33, DAS, limits) == RequestRefusal(Limit.CAPACITY, 33, 32)


def test_a_total_beyond_the_limit_is_refused_with_the_largest_be07_4_3() -> None:
    refusal = split_total(65, DAS, Limits(total=64))
    assert refusal == RequestRefusal(Limit.TOTAL, 65, 64)
    assert str(refusal) == "65 processors in one job; the largest that could run is 64"


def test_a_total_beyond_the_system_is_refused_with_the_largest() -> None:
    assert split_total(129, DAS, Limits(total=500)) == RequestRefusal(Limit.CAPACITY, 129, 128)
    assert split_total(1, (0, 0), Limits()) == RequestRefusal(Limit.CAPACITY, 1, 0)


def test_a_cluster_without_processors_is_no_cluster_to_split_over() -> None:
    assert split_total(40, (32, 0, 32), Limits(component=16)) == (20, 20)


def test_a_total_below_one_makes_no_sense() -> None:
    with pytest.raises(ValueError, match="not 0"):
        split_total(0, DAS, Limits())


@settings(max_examples=share(100), deadline=None)
@given(
    st.integers(1, 130),
    st.lists(st.integers(0, 32), min_size=1, max_size=5),
    st.builds(
        Limits,
        component=st.none() | st.integers(1, 40),
        components=st.none() | st.integers(1, 6),
        total=st.none() | st.integers(1, 100),
    ),
)
def test_a_split_adds_up_fits_the_empty_system_and_respects_the_limits(
    total: int, capacities: list[int], limits: Limits
) -> None:
    answer = split_total(total, capacities, limits)
    if isinstance(answer, RequestRefusal):
        assert answer.asked == total > answer.largest
        if answer.largest:
            assert not isinstance(split_total(answer.largest, capacities, limits), RequestRefusal)
        return
    assert sum(answer) == total
    assert list(answer) == sorted(answer, reverse=True)
    assert ever_fits(Request(answer), capacities)
    assert limits.components is None or len(answer) <= limits.components
    assert limits.total is None or total <= limits.total
    if limits.component is not None and len(answer) < sum(room > 0 for room in capacities):
        assert answer[0] <= limits.component


def test_the_first_limit_that_a_request_is_beyond_is_named_with_the_largest() -> None:
    limits = Limits(component=16, components=3, total=40)
    assert limits.check((16, 16, 8)) is None
    assert limits.check((4, 17)) == RequestRefusal(Limit.COMPONENT, 17, 16, component=1)
    assert limits.check((1, 1, 1, 1)) == RequestRefusal(Limit.COMPONENTS, 4, 3)
    assert limits.check((16, 16, 16)) == RequestRefusal(Limit.TOTAL, 48, 40)
    assert Limits().check((1000, 1000)) is None


@pytest.mark.parametrize("name", ["component", "components", "total"])
def test_a_limit_below_one_makes_no_sense(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is at least 1"):
        Limits(**{name: 0})


def test_a_component_larger_than_every_cluster_can_never_run() -> None:
    refusal = why_never(Request((8, 200)), (144, 64, 32))
    assert refusal == RequestRefusal(Limit.CAPACITY, 200, 144, component=1)
    assert "component 1" in str(refusal)


def test_the_second_largest_component_must_fit_on_the_second_largest_cluster() -> None:
    refusal = why_never(Request((100, 100)), (144, 64, 32))
    assert refusal == RequestRefusal(Limit.CAPACITY, 100, 64, component=1)


def test_more_components_than_clusters_can_never_run_without_reuse() -> None:
    request = Request((8, 8, 8, 8))
    assert why_never(request, (144, 64, 32)) == RequestRefusal(Limit.PLACES, 4, 3)
    assert why_never(request, (144, 64, 32), worst_fit_reuse) is None


def test_an_ordered_request_larger_than_its_cluster_can_never_run() -> None:
    refusal = why_never(Request((8, 60), (1, 2)), (144, 64, 32))
    assert refusal == RequestRefusal(Limit.CLUSTER, 60, 32, cluster=2)
    assert "in cluster 2" in str(refusal)
    assert why_never(Request((8,), (3,)), (144, 64, 32)) == RequestRefusal(
        Limit.CLUSTER, 8, 0, cluster=3
    )


def test_what_fits_on_the_empty_system_is_not_refused() -> None:
    assert why_never(Request((144, 64, 32)), (32, 144, 64)) is None
    assert ever_fits(Request((144, 64, 32)), (32, 144, 64))
    assert not ever_fits(Request((144, 65, 32)), (32, 144, 64))
