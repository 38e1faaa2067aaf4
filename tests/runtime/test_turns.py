"""A turn takes over so many items at most; what it leaves comes first in the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from metabroker.broker.effects import Effect
from metabroker.broker.events import Arrived, ClusterUnreachable, HoldJob, Observed, Tick
from metabroker.broker.observation import Snapshot
from metabroker.broker.tokens import Ref
from metabroker.runtime.asked import Ask
from metabroker.runtime.turns import BATCH, CONFIRM, Question, Turns
from metabroker.store import StoreUnavailable


class Engine:
    """Takes over whatever comes, and has more to do if `busy`."""

    def __init__(self) -> None:
        self.busy = False
        self.turns: list[list[Any]] = []
        self.confirmed = 0
        self.away = 4  # times that the store cannot be written again
        self.broker = SimpleNamespace(next_time=lambda: 0.0 if self.busy else None)

    def process(self, items: Iterable[Any], _now: float) -> Sequence[Effect]:
        self.turns.append(list(items))
        return ()

    def flush(self) -> Sequence[Effect]:
        self.away -= 1
        if self.away > 0:
            raise StoreUnavailable("the disk is full")
        return ()

    def leave_open(self, _why: str) -> None:
        """Nobody waits for an answer."""

    def confirm(self) -> None:
        self.confirmed += 1


@pytest.fixture
def engine() -> Engine:
    return Engine()


def made(engine: Engine, batch: int = BATCH) -> Turns:
    return Turns(engine, lambda: 100.0, lambda _effects: None, batch)  # type: ignore[arg-type]


def test_many_items_are_taken_over_in_their_order_in_several_turns(engine: Engine) -> None:
    turns = made(engine, 3)
    items = [ClusterUnreachable(0, str(number)) for number in range(8)]
    for item in items:
        turns.add(item)
    assert [turns.turn() for _ in range(3)] == [0.0, 0.0, 1.0]
    assert engine.turns == [items[:3], items[3:6], items[6:]]


def test_what_the_core_has_left_is_gone_on_with_at_once_beside_what_comes_in(
    engine: Engine,
) -> None:
    turns, item = made(engine), ClusterUnreachable(0, "gone")
    engine.busy = True
    assert turns.turn() == 0.0
    turns.add(item)
    turns.turn()
    engine.busy = False
    assert turns.turn() == 1.0
    assert engine.turns == [[Tick()], [item, Tick()]]


def test_questions_do_not_keep_what_has_been_taken_over_from_being_written(
    engine: Engine,
) -> None:
    turns, item = made(engine), ClusterUnreachable(0, "gone")
    futures: list[Future[int]] = [Future() for _ in range(BATCH)]
    turns.add(item)
    for future in futures:
        turns.add(Question(lambda: 1, future))
    assert turns.turn() == 0.0
    assert engine.turns == [[item]]
    answered = sum(future.done() for future in futures)
    assert 0 < answered < len(futures)


def test_when_no_turn_is_taken_any_more_nobody_who_asks_is_kept_waiting(engine: Engine) -> None:
    turns, before, after = made(engine), Future[int](), Future[int]()
    turns.add(Question(lambda: 1, before))
    turns.end()
    turns.add(Question(lambda: 2, after))
    assert before.cancelled() and after.cancelled()


def test_the_store_is_asked_from_time_to_time_whether_it_went_back(engine: Engine) -> None:
    now = 1.8e9
    turns = Turns(engine, lambda: now, lambda _effects: None)  # type: ignore[arg-type]
    asked = []
    for seconds in (0.0, CONFIRM - 1, 2.0, 1.0, CONFIRM, -10 * CONFIRM, 1.0):
        now += seconds
        turns.turn()
        asked.append(engine.confirmed)
    assert asked == [0, 0, 1, 1, 2, 3, 3], "where the clock was set back too"


def test_that_the_store_is_away_is_told_though_nothing_happens(engine: Engine) -> None:
    now = 1.8e9
    turns = Turns(engine, lambda: now, lambda _effects: None)  # type: ignore[arg-type]

    def confirm() -> None:
        raise StoreUnavailable("no server there")

    engine.confirm = confirm  # type: ignore[method-assign]
    now += CONFIRM + 1
    told: list[int | Exception] = []
    arrived = Arrived(Ref(1, 1, 0))
    turns.add(Ask(HoldJob(1, "anna"), 1, told.append))
    turns.add(arrived)
    assert turns.turn() > 0
    troubles = [turns.trouble]
    assert [str(each) for each in told] == ["no server there"]
    for _ in range(engine.away):
        now += 1
        turns.turn()
    assert [*troubles, turns.trouble] == ["no server there", None]
    turns.turn()
    assert engine.turns == [[arrived]], "what came in meanwhile is not lost"


def test_while_the_store_is_away_the_last_listing_of_each_cluster_is_kept(engine: Engine) -> None:
    times = count(100.0, 60.0)
    turns = Turns(engine, lambda: next(times), lambda _effects: None)  # type: ignore[arg-type]
    turns.trouble, arrived = "the disk is full", Arrived(Ref(1, 1, 0))
    last = [Observed(cluster, Snapshot(9.0, 8, 8, 0)) for cluster in (0, 1)]
    for number in range(3):
        for cluster in (0, 1):
            turns.add(Observed(cluster, Snapshot(float(number), 8, 8, 0)))
            turns.add(ClusterUnreachable(cluster, str(number)))
        turns.turn()
    turns.add(arrived)
    for look in last:
        turns.add(look)
    turns.turn()
    turns.turn()
    assert engine.turns[-1][:5] == [
        *(ClusterUnreachable(cluster, "2") for cluster in (0, 1)),
        arrived,
        *last,
    ]


def test_who_asks_of_an_array_with_very_many_tasks_has_most_of_a_turn(engine: Engine) -> None:
    array = SimpleNamespace(array=SimpleNamespace(live=range(100_000)))
    engine.broker.view = SimpleNamespace(jobs={7: array, 8: SimpleNamespace(array=None)})
    turns = made(engine)
    asked = [Ask(HoldJob(number, "u"), number, print) for number in (8, 8, 7, 7, 8)]
    for ask in asked:
        turns.add(ask)
    turns.turn()
    assert engine.turns == [asked[:3]]
    turns.turn()
    assert engine.turns[1:] == [asked[3:4]]
