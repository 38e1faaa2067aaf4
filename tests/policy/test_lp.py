"""LP-LF, LP-GF, LP-RD: the local queues have priority: BE03 2.5, BE07 2.3."""

import pytest

from tests.policy.hand import Coin, Hand, full


def test_lf_enables_the_local_queues_first() -> None:
    hand = full("LP-LF", 0)
    assert hand.departure(2, 2) == ["l0"]


def test_gf_enables_the_global_queue_first() -> None:
    hand = full("LP-GF", 0)
    assert hand.departure(2, 2) == ["g"]


@pytest.mark.parametrize(("coin", "first"), [(0, "l0"), (1, "g")])
def test_rd_throws_a_fair_coin_per_departure(coin: int, first: str) -> None:
    rng = Coin(coin)
    hand = full("LP-RD", 0, rng=rng)
    assert hand.departure(2, 2) == [first]
    assert rng.asked == [2]


def test_rd_throws_no_coin_where_there_is_nothing_to_choose() -> None:
    hand = full("LP-RD", rng=Coin())
    assert hand.departure(2, 2) == ["g"]


@pytest.mark.parametrize("policy", ["LP-LF", "LP-GF"])
def test_the_global_queue_is_disabled_while_no_local_queue_is_empty(policy: str) -> None:
    hand = full(policy, 0, 1)
    hand.submit("more0", 5, local=0)
    hand.submit("more1", 5, local=1)
    assert hand.departure(4, 4) == ["l0", "l1"]
    assert hand.departure() == []


@pytest.mark.parametrize("policy", ["LP-LF", "LP-GF"])
def test_it_is_appended_when_a_local_queue_becomes_empty_during_the_pass(policy: str) -> None:
    hand = full(policy, 0, 1)
    hand.submit("more1", 1, local=1)
    assert hand.departure(5, 5) == ["l0", "l1", "g", "more1"]


def test_a_global_arrival_is_tried_only_if_a_local_queue_is_empty() -> None:
    hand = Hand("LP-GF", [1, 1])
    hand.submit("l0", 2, local=0)
    assert hand.submit("g", 1, 1) == ["g"]
    hand.submit("l1", 2, local=1)
    hand.idle[:] = [1, 1]
    assert hand.submit("h", 1, 1) == []


def test_a_local_arrival_that_starts_lets_a_global_one_of_the_same_instant_be_tried() -> None:
    hand = Hand("LP-LF", [1, 3])
    hand.submit("l0", 2, local=0)
    assert hand.departure() == []
    hand.arrive("g", 1, 1)
    hand.arrive("l1", 2, local=1)
    assert hand.run() == ["l1", "g"]
