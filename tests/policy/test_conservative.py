"""CONSERVATIVE, by worked examples: every job has a promise, and nobody is delayed."""

from random import Random

import pytest

from metabroker.policy import Request
from metabroker.policy.conservative import Conservative
from metabroker.policy.placement import worst_fit
from metabroker.policy.whole_nodes import in_whole_nodes
from tests.policy.planner_hand import PlannerHand
from tests.policy.test_easy import busy


def starts(hand: PlannerHand) -> dict[str, float]:
    assert isinstance(hand.planner, Conservative)
    promised = hand.planner.promises()
    return {name: promised[key][0] for name, key in hand.keys.items() if key in promised}


def test_every_job_is_promised_the_earliest_slot_left_by_those_in_front() -> None:
    hand = busy("CONSERVATIVE")
    hand.submit("wide", 10, 5)
    hand.submit("narrow", 2, 3)
    assert starts(hand) == {"head": 10.0, "wide": 20.0}
    assert hand.where["narrow"] == ((0,), (2,))
    hand.submit("long", 2, 7)
    assert starts(hand) == {"head": 10.0, "wide": 20.0, "long": 3.0}


def test_unlike_easy_it_protects_the_second_in_the_queue() -> None:
    for policy, expected in (("EASY", ["long"]), ("CONSERVATIVE", [])):
        hand = PlannerHand(policy, [10])
        hand.submit("a", 6, 10)
        hand.submit("head", 8, 5)
        hand.submit("second", 10, 5)
        assert hand.submit("long", 2, 100) == expected


def test_an_early_end_moves_the_promises_forward_in_order() -> None:
    hand = busy("CONSERVATIVE")
    hand.submit("wide", 10, 5)
    assert hand.end("a", at=4) == ["head"]
    assert starts(hand) == {"wide": 20.0}
    assert hand.end("b", at=6) == []
    assert starts(hand) == {"wide": 9.0}
    assert hand.end("head", at=9) == ["wide"]


def test_after_a_job_outlived_its_estimate_promises_are_made_anew() -> None:
    hand = busy("CONSERVATIVE")
    hand.now = 11.0
    assert hand.submit("short", 2, 5) == []
    assert 11.0 < starts(hand)["head"] < 11.1
    assert hand.end("a", at=12) == ["head"]
    assert starts(hand) == {"short": 17.0}


@pytest.mark.parametrize("processors", [[16], [8, 5, 7]])
def test_no_promise_is_ever_broken(processors: list[int]) -> None:
    for seed in range(40):
        rng = Random(seed)
        planner = Conservative(processors)
        promised: dict[int, float] = {}
        estimates: dict[int, float] = {}
        ends: dict[int, float] = {}
        key = 0
        for moment in range(400):
            now = float(moment)
            for done in [job for job, end in ends.items() if end == now]:
                planner.end(done, now)
                del ends[done]
            if rng.random() < 0.4:
                estimates[key] = float(rng.randint(1, 20))
                planner.submit(key, Request((rng.randint(1, 7),)), 0, estimates[key], now)
                key += 1
            for started, _, _ in planner.run(now):
                assert now <= promised.get(started, now)
                ends[started] = now + rng.randint(1, int(estimates[started]))
            for waiting, (start, _) in planner.promises().items():
                assert now < start <= promised.get(waiting, start)
                promised[waiting] = start
        assert key > 100 and promised


def test_where_whole_nodes_leave_less_than_was_promised_the_pass_ends() -> None:
    """They were moved forward and back in turn, for ever."""
    planner = Conservative([8, 16], in_whole_nodes(worst_fit, [4, 8]))
    for key, sizes, estimate, now in (
        (1, (6,), 20.0, 10.0),
        (2, (2,), 60.0, 20.0),
        (3, (3, 2), 60.0, 30.0),
        (4, (6,), 60.0, 35.0),
        (5, (1, 3), 20.0, 45.0),
        (6, (5,), 10.0, 50.0),
        (7, (3, 2), 20.0, 60.0),
    ):
        planner.submit(key, Request(sizes), 0, estimate, now)
        planner.run(now)
    planner.end(1, 61.0)
    planner.run(61.0)
    planner.submit(8, Request((3,)), 0, 10.0, 62.0)
    planner.run(62.0)
    planner.end(3, 63.0)
    planner.run(63.0)
    assert all(start > 63.0 for start, _ in planner.promises().values())
    assert set(planner.promises()) == {6, 7, 8}
