"""EASY, by worked examples (ER 2.4)."""

import pytest

from metabroker.policy import Request
from metabroker.policy.easy import Easy
from tests.policy.planner_hand import PlannerHand


def busy(policy: str = "EASY") -> PlannerHand:
    """10 processors: a runs on 6 until 10, b on 2 until 20; head wants 8 and is promised 10."""
    hand = PlannerHand(policy, [10])
    assert hand.submit("a", 6, 10) == ["a"]
    assert hand.submit("b", 2, 20) == ["b"]
    assert hand.submit("head", 8, 5) == []
    return hand


def promise(hand: PlannerHand) -> tuple[int, float] | None:
    planner = hand.planner
    assert isinstance(planner, Easy)
    return planner.promise


def test_the_head_is_promised_the_earliest_time_by_the_estimates() -> None:
    hand = busy()
    assert promise(hand) == (hand.keys["head"], 10.0)


def test_a_job_that_ends_by_then_may_start() -> None:
    hand = busy()
    assert hand.submit("short", 2, 10) == ["short"]


def test_a_job_that_would_postpone_the_head_may_not() -> None:
    hand = busy()
    assert hand.submit("long", 1, 10.5) == []
    assert hand.end("a", at=9) == ["head"]


def test_a_long_job_beside_the_head_may_start_while_extra_processors_last() -> None:
    hand = PlannerHand("EASY", [10])
    hand.submit("a", 6, 10)
    hand.submit("head", 8, 5)
    assert hand.submit("beside", 1, 100) == ["beside"]
    assert hand.submit("too wide", 2, 100) == []
    assert hand.submit("the last", 1, 100) == ["the last"]
    assert hand.submit("one more", 1, 100) == []
    assert hand.submit("short", 1, 9) == ["short"]
    assert hand.end("a", "short", at=10) == ["head"]


def test_when_a_job_ends_early_the_queue_is_looked_at_from_the_head() -> None:
    hand = busy()
    assert hand.submit("long", 1, 100) == []
    assert hand.submit("small", 2, 6) == ["small"]
    # Two more are idle, the head is still promised 10: now "long" would leave room for it? No.
    assert hand.end("b", at=5) == ["long"]
    assert promise(hand) == (hand.keys["head"], 10.0)
    assert hand.end("small", "a", at=6) == ["head"]


def test_a_job_that_outlives_its_estimate_is_expected_to_end_at_any_moment() -> None:
    hand = busy()
    hand.now = 12.0
    assert hand.submit("short", 1, 1) == []
    # At any moment a's processors are free too, and then there is room beside the head.
    assert hand.end("b", at=13) == ["short"]
    assert promise(hand) == (hand.keys["head"], 13.0)
    assert hand.end("a", at=14) == ["head"]


def test_the_head_of_several_clusters_is_promised_a_place_too() -> None:
    hand = PlannerHand("EASY", [4, 4])
    hand.submit("a", 3, 10)
    hand.submit("b", 2, 20)
    assert hand.where["b"] == ((1,), (2,))
    assert hand.submit("head", 4, 5) == []
    assert promise(hand) == (hand.keys["head"], 10.0)
    # Cluster 0 is the head's at 10; cluster 1 is free for all.
    assert hand.submit("short", 1, 10) == ["short"]
    assert hand.where["short"] == ((1,), (1,))
    assert hand.submit("long", 1, 11) == ["long"]
    assert hand.where["long"] == ((1,), (1,))
    assert hand.submit("another", 1, 11) == []
    assert hand.end("a", at=10) == ["head"]
    assert hand.where["head"] == ((0,), (4,))


def test_job_sharing_takes_the_tightest_machine_and_backfills_on_all() -> None:
    hand = PlannerHand("JOB-SHARING", [8, 4, 2])
    hand.submit("a", 3, 10)
    hand.submit("b", 2, 10)
    assert (hand.where["a"], hand.where["b"]) == (((1,), (3,)), ((2,), (2,)))
    hand.submit("c", 5, 10)
    assert hand.submit("head", 8, 1) == []
    assert hand.submit("one", 1, 100) == ["one"]
    assert hand.where["one"] == ((1,), (1,))
    assert hand.submit("long", 3, 11) == []
    assert hand.submit("short", 3, 10) == ["short"]
    assert hand.where["short"] == ((0,), (3,))


@pytest.mark.parametrize("policy", ["EASY", "CONSERVATIVE"])
def test_a_system_has_clusters_with_processors(policy: str) -> None:
    with pytest.raises(ValueError, match="at least one cluster"):
        PlannerHand(policy, [])
    with pytest.raises(ValueError, match="at least one processor, not 0"):
        PlannerHand(policy, [4, 0])


@pytest.mark.parametrize("policy", ["EASY", "CONSERVATIVE"])
def test_on_one_pool_the_components_of_a_job_stand_side_by_side(policy: str) -> None:
    hand = PlannerHand(policy, [8])
    assert hand.submit("a", Request((4, 3)), 5) == ["a"]
    assert hand.where["a"] == ((0, 0), (4, 3))
    assert hand.submit("b", Request((1, 1)), 5) == []
    assert hand.end("a", at=5) == ["b"]
    assert hand.planner.ever_fits(Request((4, 4)))
    assert not hand.planner.ever_fits(Request((5, 4)))
    assert not hand.planner.ever_fits(Request((1,), (1,)))
