"""Requests: BE03 2.4, DCS 2.3."""

from dataclasses import FrozenInstanceError

import pytest

from metabroker.policy import Request


def test_a_request_knows_its_components_by_decreasing_size() -> None:
    request = Request((2, 8, 5, 8))
    assert request.decreasing == (8, 8, 5, 2)
    assert request.order == (1, 3, 2, 0)
    assert request.rank == (3, 0, 2, 1)
    assert request.total == 23
    assert not request.single
    assert not request.sorted
    assert Request((8, 8, 2)).sorted


def test_equal_requests_are_equal_and_hash_alike() -> None:
    assert Request((4, 2)) == Request((4, 2))
    assert len({Request((4, 2)), Request((4, 2)), Request((4, 2), (0, 1))}) == 2


def test_the_shape_forgets_the_order_of_an_unordered_request_only() -> None:
    assert Request((4, 2)).shape == Request((2, 4)).shape
    assert Request((4, 2), (0, 1)).shape == Request((2, 4), (1, 0)).shape
    assert Request((4, 2), (0, 1)).shape != Request((4, 2), (1, 0)).shape


def test_components_of_an_ordered_request_on_one_cluster_add_up_dcs_2_3() -> None:
    request = Request((4, 2, 3), (1, 0, 1))
    assert request.needs == ((0, 2), (1, 7))
    assert request.mask == 0b11
    assert Request((4, 2)).needs == ()


def test_a_request_cannot_be_changed() -> None:
    request = Request((4,))
    with pytest.raises(FrozenInstanceError):
        request.total = 9  # type: ignore[misc]


@pytest.mark.parametrize(
    ("sizes", "clusters", "what"),
    [
        ((), None, "at least one component"),
        ((4, 0), None, "at least one processor, not 0"),
        ((-1,), None, "at least one processor, not -1"),
        ((4, 2), (1,), "2 components but 1 clusters"),
        ((4,), (-1,), "no cluster has the index -1"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    sizes: tuple[int, ...], clusters: tuple[int, ...] | None, what: str
) -> None:
    with pytest.raises(ValueError, match=what):
        Request(sizes, clusters)
