"""EQ-LF, EQ-GF, EQ-RD: all queues are enabled at each departure: BE03 2.5."""

import pytest

from tests.policy.hand import Coin, Hand, full


@pytest.mark.parametrize(
    ("policy", "coin", "started"),
    [
        ("EQ-LF", None, ["l0", "l1"]),
        ("EQ-GF", None, ["g"]),
        ("EQ-RD", 0, ["l0", "l1"]),
        ("EQ-RD", 1, ["g"]),
    ],
)
def test_the_order_at_a_departure(policy: str, coin: int | None, started: list[str]) -> None:
    hand = full(policy, 0, 1, rng=None if coin is None else Coin(coin))
    assert hand.departure(2, 2) == started


@pytest.mark.parametrize("policy", ["EQ-LF", "EQ-GF"])
def test_all_queues_are_visited_in_rounds(policy: str) -> None:
    hand = full(policy, 0, 1)
    hand.submit("h", 1, 1)
    hand.submit("m0", 1, local=0)
    hand.idle[:] = [9, 9]
    hand.scheduler.depart()
    first = ["l0", "l1", "g"] if policy == "EQ-LF" else ["g", "l0", "l1"]
    assert hand.run() == first + (["m0", "h"] if policy == "EQ-LF" else ["h", "m0"])


def test_rd_throws_no_coin_where_there_is_nothing_to_choose() -> None:
    hand = Hand("EQ-RD", [0, 0], rng=Coin())
    hand.submit("g", 1, 1)
    assert hand.departure(1, 1) == ["g"]
    hand.submit("l", 1, local=0)
    assert hand.freed(0, 1) == ["l"]


def test_no_rule_forbids_an_arrival_to_an_empty_queue() -> None:
    hand = Hand("EQ-LF", [1, 1])
    hand.submit("wide", 2, 2)
    assert hand.submit("l0", 1, local=0) == ["l0"]
    hand = Hand("EQ-LF", [1, 1])
    for local in (0, 1):
        hand.submit(f"l{local}", 2, local=local)
    assert hand.submit("g", 1, 1) == ["g"]
