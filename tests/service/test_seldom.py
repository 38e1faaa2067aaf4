"""What costs much is worked out seldom, what costs little each time."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from metabroker.api.service import Json
from metabroker.service import status
from metabroker.service.seldom import Seldom
from metabroker.service.status import Status
from tests.daemon.harness import eventually


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


def test_what_fails_has_failed_for_all_who_waited_for_it() -> None:
    """A core that hangs is waited for once, and not by each of them after the other."""
    begun, go_on, times = threading.Event(), threading.Event(), itertools.count()
    asked: list[float] = []

    def clock() -> float:
        asked.append(float(next(times)))
        return asked[-1]

    def work() -> int:
        begun.set()
        assert go_on.wait(30)
        works.append(1)
        raise TimeoutError

    works: list[int] = []
    value = Seldom(work, spent=lambda: 0.0, clock=clock)
    with ThreadPoolExecutor(5) as pool:
        waiting = [pool.submit(value)]
        assert begun.wait(30)
        waiting += [pool.submit(value) for _ in range(4)]
        eventually(lambda: len(asked) == 5)
        go_on.set()
        assert all(isinstance(one.exception(30), TimeoutError) for one in waiting)
    assert len(works) == 1
    with pytest.raises(TimeoutError):
        value()
    assert len(works) == 2, "who comes later tries again"


def test_clusters_in_which_very_much_is_under_way_are_looked_at_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is the core's thread that they cost."""
    looks: list[int] = []
    view = SimpleNamespace(view=None)
    loop: Any = SimpleNamespace(ask=lambda ask: ask(), engine=SimpleNamespace(broker=view))

    def seen(_view: object, _now: float) -> list[Json]:
        looks.append(1)
        return [{}]

    monkeypatch.setattr(status, "cluster_views", seen)
    none: Any = None
    for seconds, expected in ((0.001, 5), (1.0, 1)):
        looks.clear()
        spent = itertools.count(0.0, seconds)
        monkeypatch.setattr(status, "thread_time", lambda spent=spent: next(spent))
        it = Status(loop, none, none, lambda: 7.0)
        assert [it.clusters() for _ in range(5)] == [[{}]] * 5
        assert len(looks) == expected
