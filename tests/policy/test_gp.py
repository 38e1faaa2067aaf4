"""GP: the global queue has priority: BE03 2.5, BE07 2.3."""

from metabroker.policy import Options, Request, SchedulerView, make
from tests.policy.hand import Hand


def test_one_component_joins_a_local_queue_several_the_global_one() -> None:
    scheduler = make("GP", 4)
    assert SchedulerView(scheduler).queues == (0, 1, 2, 3, 4)
    assert scheduler.queue_of(Request((1,)), 2) == 2
    assert scheduler.queue_of(Request((1, 1)), 2) == 4
    assert scheduler.queue_of(Request((1,), (3,)), 2) == 3
    assert scheduler.queue_of(Request((1, 1), (3, 3)), 2) == 4


def test_local_queues_are_enabled_only_while_the_global_queue_is_empty() -> None:
    hand = Hand("GP", [4, 4])
    hand.submit("wide", 5, 5)
    assert hand.submit("small", 1, local=0) == []
    assert hand.departure() == []
    hand.scheduler.remove(hand.key("wide"))
    assert hand.run() == ["small"]


def test_when_the_global_queue_empties_the_local_ones_are_enabled_in_the_same_pass() -> None:
    hand = Hand("GP", [4, 4])
    hand.submit("wide", 5, 5)
    for local in (1, 0):
        hand.submit(f"small{local}", 1, local=local)
    assert hand.departure(6, 6) == ["wide", "small0", "small1"]


def test_it_can_enable_them_at_the_next_departure_only() -> None:
    hand = Hand("GP", [4, 4], options=Options(gp="next-departure"))
    hand.submit("wide", 5, 5)
    hand.submit("small", 1, local=0)
    assert hand.departure(6, 6) == ["wide"]
    assert hand.departure() == ["small"]


def test_a_local_arrival_is_tried_while_the_global_queue_is_empty() -> None:
    hand = Hand("GP", [4, 4])
    assert hand.submit("a", 3, local=1) == ["a"]
    assert hand.submit("b", 3, local=1) == []
    assert hand.submit("c", 3, local=0) == ["c"]


def test_arrivals_at_one_instant_see_each_other_in_the_queues() -> None:
    hand = Hand("GP", [4, 4])
    hand.arrive("small", 1, local=0)
    hand.arrive("wide", 5, 5)
    assert hand.run() == []
    hand = Hand("GP", [4, 4])
    hand.arrive("small", 1, local=0)
    hand.arrive("global", 2, 2)
    assert hand.run() == ["global", "small"]
