"""LQ: the global queue works while it is the longest: BE03 2.5."""

from metabroker.policy import Options
from tests.policy.hand import Hand


def full(global_: int, *local: int, lq: str = "start", size: int = 1) -> Hand:
    """Full clusters, `global_` jobs 'g0', ... in the global queue, local ones 'l0.0', ..."""
    hand = Hand("LQ", [0] * len(local), options=Options(lq=lq))
    for number in range(global_):
        hand.arrive(f"g{number}", size, size)
    for cluster, jobs in enumerate(local):
        for number in range(jobs):
            hand.arrive(f"l{cluster}.{number}", size, local=cluster)
    hand.run()
    hand.scheduler.depart()
    return hand


def test_the_global_queue_must_be_strictly_longer_than_every_local_one() -> None:
    hand = full(2, 2, 1, size=2)
    hand.idle[:] = [2, 2]
    assert hand.run() == ["l0.0"]  # then 2 > 1, and g0 does not fit
    hand = full(3, 2, 1, size=2)
    hand.idle[:] = [2, 2]
    assert hand.run() == ["g0"]


def test_a_global_head_that_does_not_fit_keeps_the_local_queues_waiting() -> None:
    hand = full(3, 2, 1)
    hand.idle[:] = [0, 5]
    assert hand.run() == []


def test_the_rule_is_evaluated_after_each_start() -> None:
    hand = full(2, 1, 1)
    hand.idle[:] = [9, 9]
    # g: 2 > 1, start; 1 = 1: the local ones, l0.0; 1 = 1: l1.0; 1 > 0: the global one.
    assert hand.run() == ["g0", "l0.0", "l1.0", "g1"]


def test_a_queue_disabled_by_a_misfit_stays_so_when_the_rule_turns_back() -> None:
    hand = Hand("LQ", [0, 0])
    hand.arrive("l0", 5, local=0)
    for number in range(3):
        hand.arrive(f"l1.{number}", 1, local=1)
    hand.arrive("g0", 2, 2)
    hand.arrive("g1", 9, 9)
    hand.run()
    # Local: l0 misfits; l1.0, l1.1; then 2 > 1: g0; 1 = 1: l1.2; 1 = 1: l0 stays disabled.
    assert hand.departure(4, 9) == ["l1.0", "l1.1", "g0", "l1.2"]


def test_it_can_be_evaluated_once_per_departure() -> None:
    hand = full(2, 1, 1, lq="departure")
    hand.idle[:] = [9, 9]
    assert hand.run() == ["g0", "g1"]
    assert hand.departure() == ["l0.0", "l1.0"]


def test_an_arrival_to_an_empty_queue_is_tried_if_the_rule_permits() -> None:
    hand = Hand("LQ", [1, 1])
    hand.submit("wide", 9, 9)  # longer than the empty local queues
    assert hand.submit("l0", 1, local=0) == ["l0"]  # 1 against 1
    hand.submit("wider", 9, 9)
    assert hand.submit("l1", 1, local=1) == []  # 2 against 1


def test_a_global_arrival_is_tried_only_while_all_local_queues_are_empty() -> None:
    hand = Hand("LQ", [1, 1])
    hand.submit("l0", 5, local=0)
    assert hand.submit("g", 1, 1) == []
    assert hand.submit("h", 1, 1) == []
    assert hand.departure() == ["g"]


def test_it_can_be_evaluated_at_every_arrival() -> None:
    hand = Hand("LQ", [1, 1], options=Options(lq="arrival"))
    hand.submit("l0", 5, local=0)
    assert hand.submit("g", 1, 1) == []
    assert hand.submit("h", 1, 1) == ["g"]


def test_arrivals_at_one_instant_see_each_other_in_the_queues() -> None:
    hand = Hand("LQ", [1, 2])
    hand.arrive("g", 1, 1)
    hand.arrive("l", 1, local=1)
    assert hand.run() == ["l", "g"]  # 1 against 1; once l has started, 1 against 0
