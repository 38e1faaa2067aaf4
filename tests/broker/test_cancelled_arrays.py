"""Arrays that are cancelled."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from metabroker.broker.events import CancelJob, Cleaned, Discarded, Ended, Started, Submitted
from metabroker.broker.rejected import Rejected
from metabroker.broker.tokens import Ref
from metabroker.submission.tasks import TaskSet

from .bench import Bench
from .test_arrays import SIZE, it, job_of, restart, state, submit, tasks

__all__ = ["it"]


def test_an_array_is_cancelled_some_tasks_in_each_turn_also_over_a_restart(it: Bench) -> None:
    it.settings = replace(it.settings, array_ahead=30)
    restart(it)
    array = submit(it, "0-29")
    it.broker.handle(CancelJob(array, "u"), it.now)
    it.settle()
    ended = [task for task, told in tasks(it, array).items() if told == "CANCELLED"]
    assert len(ended) == 5 and min(ended) >= SIZE  # none that waits is started meanwhile
    restart(it)
    for number in list(it.broker.view.jobs):
        if number != array:
            it.handle(Cleaned(Ref(number, 1, 0)), Discarded(Ref(number, 1, 0)))
    it.ticks(0)
    assert set(tasks(it, array).values()) == {"CANCELLED"}
    assert state(it, array)[0] == "CANCELLED"


def test_to_cancel_an_array_costs_as_much_for_each_task_however_many_there_are(
    it: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    it.settings = replace(it.settings, array_ahead=60)
    restart(it)
    number = submit(it, "0-99")
    array = it.broker.view.jobs[number].array
    assert array is not None and len(array.live) > 50
    joined = []
    union = TaskSet.__or__

    def counted(one: TaskSet, other: TaskSet) -> TaskSet:
        joined.append(one)
        return union(one, other)

    monkeypatch.setattr(TaskSet, "__or__", counted)
    it.broker.handle(CancelJob(number, "u", TaskSet.parse("0-98:2")), it.now)
    assert len(joined) < 10
    assert array.ending == TaskSet.of(task for task in array.live if task % 2 == 0)


def test_to_cancel_one_task_does_not_go_through_all_that_are_left(
    it: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = submit(it, "0-9999")
    it.handle(CancelJob(number, "u", TaskSet.parse("5000")))
    array = it.broker.view.jobs[number].array
    assert array is not None
    looked = []
    has = TaskSet.__contains__

    def counted(tasks: TaskSet, task: object) -> bool:
        looked.append(task)
        return has(tasks, task)

    monkeypatch.setattr(TaskSet, "__contains__", counted)
    it.broker.handle(CancelJob(number, "u", TaskSet.parse("7000-7002")), it.now)
    assert len(looked) < 100
    monkeypatch.undo()
    assert array.cancelled == TaskSet.parse("5000,7000-7002")


def test_an_array_goes_on_at_the_same_cost_however_many_of_its_tasks_are_waited_for(
    it: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = submit(it, "0-99%1")
    for first in range(20, 100, 10):
        submit(it, on=f"afterok:{':'.join(f'{number}_{n}' for n in range(first, first + 10))}")
    gone = submit(it, on=f"afterok:{number}_50")
    it.handle(CancelJob(number, "u", TaskSet.parse("50")))
    it.ticks(0)
    assert it.broker.view.jobs[gone].never == f"afterok:{number}_50"
    looked: list[object] = []
    inside = TaskSet.__contains__

    def counted(one: TaskSet, task: object) -> bool:
        looked.append(task)
        return inside(one, task)

    monkeypatch.setattr(TaskSet, "__contains__", counted)
    ref = Ref(job_of(it, number, 0), 1, 0)
    it.handle(Submitted(ref, "7"), Started(ref, it.now), Ended(ref, it.now, 0))
    it.handle(Cleaned(ref, True, it.now, it.now, 0), Discarded(ref))
    it.ticks(0)
    assert tasks(it, number)[1] == "SUBMITTING" and len(looked) < 60
    monkeypatch.undo()
    last = submit(it, on=f"afterok:{number}_51")
    it.handle(CancelJob(number, "u", TaskSet.parse("51")))
    it.ticks(0)
    assert it.broker.view.jobs[last].never == f"afterok:{number}_51"


def test_who_waits_for_a_task_of_an_array_that_failed_before_it_was_made_is_told(
    it: Bench,
) -> None:
    it.contained = []
    array = submit(it, "0-29")
    waits = submit(it, on=f"afterany:{array}_20")
    it.broker.contain(array, ValueError(), it.now)
    it.settle()
    it.ticks(0)
    assert it.broker.view.jobs[waits].after is None


def test_all_that_is_left_can_be_cancelled_however_many_were_one_by_one(it: Bench) -> None:
    number = submit(it, "0-9999")
    array = it.broker.view.jobs[number].array
    assert array is not None
    array.cancel(TaskSet.of(Random(1).sample(range(100, 10000), 3000)))
    with pytest.raises(Rejected, match="one by one"):
        it.handle(CancelJob(number, "u", TaskSet.parse("100-9999")))
    it.handle(CancelJob(number, "u"))
    assert not array.left and len(array.cancelled.ranges) < 10
