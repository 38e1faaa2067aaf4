"""What costs much is worked out seldom, what costs little each time."""

from __future__ import annotations

from metabroker.service.seldom import Seldom


class Costs:
    """A count that goes up each time, for so much processor time; time stands still meanwhile."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.now = self.spent = 0.0
        self.count = 0
        self.value = Seldom(self.work, spent=lambda: self.spent, clock=lambda: self.now)

    def work(self) -> int:
        self.spent += self.seconds
        self.count += 1
        return self.count


def test_what_costs_little_is_as_of_now() -> None:
    costs = Costs(0.004)
    assert [costs.value() for _ in range(3)] == [1, 2, 3]


def test_what_costs_much_takes_a_tenth_of_a_processor() -> None:
    costs = Costs(0.06)
    found = []
    for _ in range(100):
        found.append(costs.value())
        costs.now += 0.03
    assert costs.count == 5
    assert found == sorted(found)


def test_nothing_is_older_than_two_seconds() -> None:
    costs = Costs(30.0)
    assert costs.value() == 1
    costs.now += 1.9
    assert costs.value() == 1
    costs.now += 0.2
    assert costs.value() == 2
