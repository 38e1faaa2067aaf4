"""AFCFS, AFCFS-BS, LG-SS and LG-SS-BS, by worked examples (KH 2.2)."""

import pytest

from metabroker.policy import Request, Sequential, sequential
from tests.policy.planner_hand import PlannerHand

ALL = ["AFCFS", "AFCFS-BS", "LG-SS", "LG-SS-BS"]


def full(policy: str) -> PlannerHand:
    """8 processors: a gang of 5 and one of 3 run; gangs of 6 and 4 and a sequential job wait."""
    hand = PlannerHand(policy, [8])
    assert hand.submit("five", 5) == ["five"]
    assert hand.submit("three", 3) == ["three"]
    assert hand.submit("six", 6) == []
    assert hand.submit("tasks", sequential(8)) == []
    assert hand.submit("four", 4) == []
    return hand


@pytest.mark.parametrize("policy", ALL)
def test_a_sequential_job_takes_one_processor(policy: str) -> None:
    hand = PlannerHand(policy, [2])
    assert hand.submit("a", sequential(64)) == ["a"]
    assert hand.submit("b", sequential(1)) == ["b"]
    assert hand.submit("c", sequential(1)) == []


def test_afcfs_starts_all_that_fit_in_order_of_arrival() -> None:
    assert full("AFCFS").end("three") == ["tasks"]
    assert full("AFCFS").end("five") == ["tasks", "four"]
    assert full("AFCFS").end("five", "three") == ["six", "tasks"]


def test_afcfs_bs_examines_only_gangs_when_the_first_is_a_gang_that_cannot_start() -> None:
    assert full("AFCFS-BS").end("three") == []
    assert full("AFCFS-BS").end("five") == ["four"]
    assert full("AFCFS-BS").end("five", "three") == ["six", "tasks"]


def test_lg_ss_takes_larger_gangs_first_and_shorter_sequential_jobs() -> None:
    hand = full("LG-SS")
    assert hand.submit("two tasks", sequential(2)) == []
    assert hand.submit("seven", 7) == []
    assert hand.end("three") == ["two tasks", "tasks"]
    assert hand.end("five") == ["six"]
    assert full("LG-SS").end("five", "three") == ["six", "tasks"]


def test_lg_ss_starts_equals_in_order_of_arrival() -> None:
    hand = PlannerHand("LG-SS", [4])
    hand.submit("all", 4)
    for name in ("first", "second", "third"):
        hand.submit(name, 2)
    assert hand.end("all") == ["first", "second"]


def test_lg_ss_bs_blocks_sequential_jobs_behind_the_largest_gang() -> None:
    hand = full("LG-SS-BS")
    assert hand.end("three") == []
    assert hand.end("five") == ["six", "tasks"]
    assert full("LG-SS-BS").end("five") == ["four"]


@pytest.mark.parametrize("policy", ALL)
def test_what_arrives_while_a_gang_is_first(policy: str) -> None:
    """A gang that fits starts; a sequential job where gangs do not block it."""
    hand = PlannerHand(policy, [8])
    hand.submit("five", 5)
    hand.submit("six", 6)
    assert hand.submit("tasks", sequential(2)) == ([] if policy.endswith("-BS") else ["tasks"])
    assert hand.submit("two", 2) == ["two"]


def test_a_sequential_job_in_front_blocks_nobody() -> None:
    hand = PlannerHand("AFCFS-BS", [4])
    hand.submit("all", 4)
    hand.submit("tasks", sequential(2))
    hand.submit("four", 4)
    hand.submit("more tasks", sequential(2))
    assert hand.end("all") == ["tasks", "more tasks"]


def test_a_job_mix_has_one_cluster_and_gangs_no_larger() -> None:
    with pytest.raises(ValueError, match="one cluster, not on 2"):
        PlannerHand("AFCFS", [4, 4])
    planner = PlannerHand("LG-SS", [4]).planner
    assert planner.ever_fits(sequential(128))
    assert not planner.ever_fits(Request((5,)))


def test_a_sequential_request() -> None:
    assert sequential(8) == Sequential((1,), None, 8)
    assert sequential(8) != sequential(4)
    assert sequential(8).total == 1
    with pytest.raises(ValueError, match="one processor, not"):
        Sequential((2,))
    with pytest.raises(ValueError, match="at least one task, not 0"):
        sequential(0)
