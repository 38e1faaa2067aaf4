"""What has become of the jobs that a new one depends on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from metabroker.broker.array import Array
from metabroker.broker.events import Outcome
from metabroker.broker.states import JobState
from metabroker.runtime.outcomes import corresponding, ended_since
from metabroker.submission.dependency import Named, parse_dependency
from metabroker.submission.tasks import TaskSet, parse_array
from tests.store.making import job

DONE = Outcome(JobState.COMPLETED, 5.0)


class Store:
    """It has what is `over`, and keeps what it was asked for."""

    def __init__(self, *over: Named) -> None:
        self.over = over
        self.asked: list[Named] = []

    def outcomes(self, named: Collection[Named]) -> dict[Named, Outcome]:
        self.asked += named
        return {each: DONE for each in named if each in self.over}


def found(store: Store, live: Any, *named: Named, over: Any = ()) -> set[Named]:
    known = dict.fromkeys(over, DONE)
    return set(ended_since(store, live, named, known))  # type: ignore[arg-type]


def test_tasks_of_a_live_array_that_are_to_come_or_under_way_are_not_asked_for() -> None:
    array = Array(TaskSet.parse("0-9"), next=3, live={1: 17})
    store = Store(Named(1, 0), Named(1, 2))
    tasks = [Named(1, task) for task in range(10)]
    assert found(store, {1: job(1, array=array), 17: job(17)}, *tasks) == {Named(1, 0), Named(1, 2)}
    assert store.asked == [Named(1, 0), Named(1, 2)]


def test_what_was_known_before_is_not_asked_for_again() -> None:
    tasks = [Named(1, task) for task in range(5)]
    store = Store(*tasks)
    assert found(store, {}, *tasks, over=tasks[:4]) == set(tasks)
    assert [each for each in store.asked if each.task >= 0] == tasks[4:]


def test_of_an_array_that_there_is_not_no_task_is_asked_for() -> None:
    store = Store(Named(2), Named(2, 1))
    named = [Named(1, task) for task in range(1000)] + [Named(2, 1), Named(2)]
    assert found(store, {}, *named) == {Named(2), Named(2, 1)}
    assert not [each for each in store.asked if each.job == 1 and each.task >= 0]


def test_of_a_job_that_is_live_nothing_is_asked_for() -> None:
    store = Store()
    assert found(store, {4: job(4)}, Named(4), Named(4, 0)) == set()
    assert not store.asked


class Many(dict[int, Any]):
    """Jobs of whom one may be looked up, and never all be gone through."""

    def __iter__(self) -> Iterator[int]:
        raise AssertionError("every submission would cost a look at all jobs")

    keys = items = values = __iter__  # type: ignore[assignment]


def test_what_a_submission_costs_does_not_depend_on_how_many_jobs_wait() -> None:
    store, live = Store(Named(2)), Many({4: job(4)})
    assert found(store, live) == set()
    assert found(store, live, Named(4), Named(2), Named(3), Named(3, 1)) == {Named(2)}


def corresponds(live: Any, ended: Any, known: Any, *, array: str = "0-9") -> list[int]:
    after = parse_dependency("aftercorr:1")
    named = corresponding(after, parse_array(array), live, ended, known)
    assert all(each.job == 1 for each in named)
    return [each.task for each in named]


def test_of_a_live_array_no_task_is_named_that_cannot_have_ended() -> None:
    live = {1: job(1, array=Array(TaskSet.parse("0-9"), next=4, live={1: 17}))}
    assert corresponds(live, {}, {}) == [0, 2, 3]
    assert corresponds(live, {}, {Named(1, 2): DONE}) == [0, 3]
    assert corresponds(live, {}, {}, array="1-99999:2") == [3]


def test_of_an_array_that_has_ended_each_task_is_named_once() -> None:
    over = {Named(1): Outcome(JobState.COMPLETED, 5.0, array=True)}
    assert corresponds({}, over, {}) == list(range(10))
    assert corresponds({}, over, {Named(1, 3): DONE}) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert corresponds({}, over, over) == [], "they were asked for where that was found"


def test_of_a_job_that_is_no_array_or_not_there_no_task_is_named() -> None:
    assert corresponds({1: job(1)}, {}, {}) == []
    assert corresponds({}, {Named(1): DONE}, {}) == []
    assert corresponds({}, {}, {}) == []
