"""MULTI-SITE, by worked examples (ER 2.4)."""

import pytest

from metabroker.policy import Request
from tests.policy.planner_hand import PlannerHand


def test_one_machine_by_best_fit_if_one_has_room() -> None:
    hand = PlannerHand("MULTI-SITE", [8, 4, 6])
    assert hand.submit("a", 4) == ["a"]
    assert hand.where["a"] == ((1,), (4,))
    assert hand.submit("b", 5) == ["b"]
    assert hand.where["b"] == ((2,), (5,))


def test_else_it_is_split_over_the_fewest() -> None:
    hand = PlannerHand("MULTI-SITE", [8, 4, 6])
    assert hand.submit("wide", 13) == ["wide"]
    assert hand.where["wide"] == ((0, 2), (8, 5))
    assert hand.submit("rest", 5) == ["rest"]
    assert hand.where["rest"] == ((1, 2), (4, 1))


def test_a_job_may_surpass_queued_jobs_at_its_submission() -> None:
    hand = PlannerHand("MULTI-SITE", [4, 4])
    hand.submit("a", 6, 10)
    assert hand.submit("queued", 3, 10) == []
    # By EASY it would postpone the job that is queued: 2 of 8 are idle, 3 are needed at 10.
    assert hand.submit("b", 2, 100) == ["b"]
    assert hand.end("a", at=10) == ["queued"]


def test_queued_jobs_are_backfilled_on_the_total() -> None:
    hand = PlannerHand("MULTI-SITE", [4, 4], overhead=0.5)
    hand.submit("a", 4, 10)
    hand.submit("b", 4, 4)
    assert hand.submit("head", 8, 5) == []
    assert hand.submit("short", 4, 6) == []
    assert hand.submit("long", 4, 7) == []
    assert hand.end("b", at=4) == ["short"]
    assert hand.end("a", "short", at=10) == ["head"]
    assert hand.where["head"] == ((0, 1), (4, 4))


def test_the_estimate_of_a_split_job_is_longer_too() -> None:
    for estimate, starts in ((4.0, ["split"]), (4.1, [])):
        hand = PlannerHand("MULTI-SITE", [4, 4], overhead=0.5)
        hand.submit("a", 2, 10)
        hand.submit("b", 2, 4)
        hand.submit("c", 2, 10)
        hand.submit("d", 2, 4)
        assert (hand.where["b"], hand.where["d"]) == (((0,), (2,)), ((1,), (2,)))
        hand.submit("head", 8, 5)
        hand.submit("split", 4, estimate)
        assert hand.end("b", "d", at=4) == starts


def test_at_one_instant_those_that_waited_come_first() -> None:
    hand = PlannerHand("MULTI-SITE", [4])
    hand.submit("a", 4)
    hand.submit("queued", 4)
    hand.planner.end(hand.keys["a"], 1.0)
    hand.now = 1.0
    assert hand.submit("new", 4) == ["queued"]


def test_a_job_larger_than_all_machines_can_never_run() -> None:
    planner = PlannerHand("MULTI-SITE", [4, 4]).planner
    assert planner.ever_fits(Request((8,)))
    assert not planner.ever_fits(Request((9,)))
    with pytest.raises(ValueError, match=r"at least 0, not -0\.1"):
        PlannerHand("MULTI-SITE", [4], overhead=-0.1)
