"""`aftercorr` between arrays: tasks wait for the tasks of their numbers. What is expected is what
real Slurm does (22.05: tests/daemon/test_front_ends.py has the same beside it)."""

from __future__ import annotations

import pytest

from metabroker.broker.events import CancelJob, HoldJob, ReleaseJob
from metabroker.broker.rejected import Rejected
from metabroker.submission.tasks import TaskSet
from tests.broker.bench import Bench
from tests.broker.test_arrays import AHEAD, SIZE, end, end_all, it, job_of, restart, submit, tasks

__all__ = ["it"]


def waits(it: Bench, array: int, task: int) -> str:
    """`WAITS` for others, `NEVER`: in vain; else a task's state."""
    number = next(iter(it.store.jobs.tasks([array], {task})), None)
    if number is None:
        return "none yet"
    job = it.broker.view.jobs.get(number)
    if job is None or job.after is None or job.state.value != "QUEUED":
        return tasks(it, array)[task]
    return "NEVER" if job.never else "WAITS"


def all_of(it: Bench, array: int, most: int) -> list[str]:
    return [waits(it, array, task) for task in range(most)]


def test_each_task_waits_for_the_one_of_its_number(it: Bench) -> None:
    first = submit(it, "0-3")
    second = submit(it, "0-3", on=f"aftercorr:{first}")
    assert all_of(it, second, 4) == ["WAITS"] * 4
    restart(it)
    end(it, job_of(it, first, 2))
    end(it, job_of(it, first, 1), 3)
    assert all_of(it, second, 4) == ["WAITS", "NEVER", "SUBMITTING", "WAITS"]
    restart(it)
    assert all_of(it, second, 4) == ["WAITS", "NEVER", "SUBMITTING", "WAITS"]
    end_all(it, first)
    end_all(it, second)
    assert all_of(it, second, 4) == ["COMPLETED", "NEVER", "COMPLETED", "COMPLETED"]
    it.handle(CancelJob(second, "u"))
    it.ticks(0)
    assert it.broker.view.jobs == {}


@pytest.mark.parametrize("again", [False, True])
def test_those_that_have_ended_before_are_known(it: Bench, again: bool) -> None:
    first = submit(it, "0-5")
    end(it, job_of(it, first, 0))
    end(it, job_of(it, first, 1), 1)
    second = submit(it, "0-5", on=f"aftercorr:{first}", hold=True)
    end(it, job_of(it, first, 2), 1)
    if again:
        restart(it)
    end_all(it, first)
    if again:
        restart(it)
    assert tasks(it, second) == {}
    it.handle(ReleaseJob(second, "u"))
    it.ticks(0)
    end_all(it, second)
    expected = ["COMPLETED", "NEVER", "NEVER", "COMPLETED", "COMPLETED", "COMPLETED"]
    assert all_of(it, second, 6) == expected
    third = submit(it, "0-5", on=f"aftercorr:{first}")  # it is over
    end_all(it, third)
    assert all_of(it, third, 6) == expected


@pytest.mark.parametrize(("code", "then"), [(0, "COMPLETED"), (1, "NEVER")])
def test_a_task_that_the_other_has_not_waits_for_all_of_it(it: Bench, code: int, then: str) -> None:
    first = submit(it, "0-1")
    second = submit(it, "0-2", on=f"aftercorr:{first}")
    end(it, job_of(it, first, 0), code)
    end_all(it, second)
    assert waits(it, second, 2) == "none yet"
    end_all(it, first)
    end_all(it, second)
    assert waits(it, second, 2) == then


def test_what_waits_are_as_many_jobs_as_are_under_way(it: Bench) -> None:
    first = submit(it, "0-99")
    second = submit(it, "0-99", on=f"aftercorr:{first}")
    assert len(tasks(it, second)) == len(tasks(it, first)) == SIZE + AHEAD
    assert end_all(it, first) == list(range(100))
    assert len(tasks(it, second)) < 100
    assert sorted(end_all(it, second)) == list(range(100))


def test_a_task_that_takes_long_keeps_no_other_back(it: Bench) -> None:
    first = submit(it, "0-19")
    second = submit(it, "0-19%2", on=f"aftercorr:{first}")
    for task in range(1, 20):
        end(it, job_of(it, first, task))
    assert waits(it, second, 0) == "WAITS"
    end_all(it, second)
    assert all_of(it, second, 20) == ["WAITS"] + ["COMPLETED"] * 19


def test_all_else_is_waited_for_by_the_whole_array(it: Bench) -> None:
    other, first = submit(it), submit(it, "0-1")
    second = submit(it, "0-1", on=f"aftercorr:{first},afterok:{other}")
    end_all(it, first)
    restart(it)
    assert tasks(it, second) == {}
    end(it, other)
    assert all_of(it, second, 2) == ["SUBMITTING"] * 2


def test_one_of_several_is_enough_for_each_task(it: Bench) -> None:
    other, first = submit(it), submit(it, "0-1")
    second = submit(it, "0-1", on=f"aftercorr:{first}?afterok:{other}")
    end(it, job_of(it, first, 0), 1)
    end(it, job_of(it, first, 1))
    assert all_of(it, second, 2) == ["WAITS", "SUBMITTING"]
    restart(it)
    end(it, other)
    assert waits(it, second, 0) == "SUBMITTING"


def test_a_task_is_never_the_only_one_of_its_name(it: Bench) -> None:
    first = submit(it, "0-1")
    with pytest.raises(Rejected, match="a task is never the only one"):
        submit(it, "0-1", on=f"aftercorr:{first}?singleton")


def test_it_is_cancelled_if_its_user_wants_that(it: Bench) -> None:
    first = submit(it, "0-3")
    second = submit(it, "0-3", on=f"aftercorr:{first}", kill=True)
    end(it, job_of(it, first, 1), 1)
    restart(it)
    assert all_of(it, second, 4) == ["WAITS", "CANCELLED", "WAITS", "WAITS"]


def test_an_array_after_a_job_that_is_none_waits_for_its_good_end(it: Bench) -> None:
    first, second = submit(it), submit(it)
    well, ill = (submit(it, "0-1", on=f"aftercorr:{job}") for job in (first, second))
    end(it, first)
    end(it, second, 1)
    assert (len(tasks(it, well)), len(tasks(it, ill))) == (2, 0)
    assert it.broker.view.jobs[ill].never == f"aftercorr:{second}"


def test_a_cancelled_task_was_waited_for_in_vain(it: Bench) -> None:
    first = submit(it, "0-19")
    second = submit(it, "0-19", on=f"aftercorr:{first}")
    it.handle(CancelJob(first, "u", TaskSet.parse("9-10")))
    end_all(it, first)
    end_all(it, second)
    expected = ["NEVER" if task in (9, 10) else "COMPLETED" for task in range(20)]
    assert all_of(it, second, 20) == expected


def test_tasks_that_wait_can_be_held_and_cancelled(it: Bench) -> None:
    first = submit(it, "0-3")
    second = submit(it, "0-3", on=f"aftercorr:{first}")
    it.handle(HoldJob(second, "u"))
    end_all(it, first)
    assert all_of(it, second, 4) == ["HELD"] * 4
    it.handle(CancelJob(second, "u", TaskSet.parse("0")))
    it.handle(ReleaseJob(second, "u"))
    it.ticks(0)
    end_all(it, second)
    assert all_of(it, second, 4) == ["CANCELLED"] + ["COMPLETED"] * 3
    found = it.broker._dependencies
    assert not (found.corresponding._others or found.waiting or found._open or found._ended)
