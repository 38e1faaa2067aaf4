"""Arrays of jobs: their tasks become jobs as they may be started."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from metabroker.broker.events import (
    CancelJob,
    ChangeJob,
    Cleaned,
    Discarded,
    Ended,
    HoldJob,
    Observed,
    ReleaseJob,
    Started,
    SubmitJob,
    Submitted,
    Tick,
)
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Snapshot
from metabroker.broker.rejected import Rejected
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.broker.tokens import Ref
from metabroker.policy import Request
from metabroker.submission.dependency import parse_dependency
from metabroker.submission.tasks import TaskSet, parse_array
from tests.broker.bench import Bench

SIZE, AHEAD = 4, 3


@pytest.fixture
def it() -> Iterator[Bench]:
    bench = Bench({"a": SIZE}, slice=5)
    bench.settings = replace(bench.settings, array_ahead=AHEAD)
    bench.broker = bench._new()
    look(bench)
    yield bench
    bench.close()


def look(it: Bench) -> None:
    it.handle(Observed(0, Snapshot(it.now, SIZE, SIZE, 0)))
    it.ticks(0)


def restart(it: Bench) -> None:
    it.restart()
    look(it)


def submit(
    it: Bench, tasks: str = "", *, size: int = 1, on: str = "", hold: bool = False,
    kill: bool = False,
) -> int:  # fmt: skip
    number = it.broker.next_job
    array = parse_array(tasks) if tasks else None
    after = parse_dependency(on, kill=kill) if on else None
    new = NewJob("u", "j", Request((size,)), 600, hold=hold, after=after, array=array)
    named = after.named_by(array.tasks if array else ()) if after else ()
    it.handle(SubmitJob(new, it.store.jobs.outcomes(named)))
    it.ticks(0)
    return number


def tasks(it: Bench, array: int) -> dict[int, str]:
    """The states of its tasks that are jobs, or were."""
    rows = it.store.jobs.rows(ids=it.store.jobs.tasks([array]))
    return {row["task"]: row["state"] for row in rows}


def job_of(it: Bench, array: int, task: int) -> int:
    return it.store.jobs.tasks([array], {task})[0]


def end(it: Bench, job: int, code: int = 0, attempt: int = 1, *, looks: bool = True) -> None:
    ref = Ref(job, attempt, 0)
    told = (Submitted(ref, str(job)), Started(ref, it.now), Ended(ref, it.now, code))
    it.handle(*told, Cleaned(ref, True, it.now, it.now, code), Discarded(ref))
    if looks:
        it.ticks(0)


def state(it: Bench, job: int) -> tuple[str, int | None]:
    row = it.store.jobs.rows(ids=[job])[0]
    return row["state"], row["exit_code"]


def end_all(it: Bench, array: int, codes: dict[int, int] | None = None) -> list[int]:
    """Run it to its end; the tasks in the order in which they began."""
    order: list[int] = []
    while True:
        begun = [t for t, s in tasks(it, array).items() if s == "SUBMITTING"]
        order += [task for task in begun if task not in order]
        if not begun:
            return order
        end(it, job_of(it, array, begun[0]), (codes or {}).get(begun[0], 0))


def kept(it: Bench, array: int) -> int:
    """Its second task was held, and has to wait for its turn now."""
    held = job_of(it, array, 1)
    it.handle(HoldJob(held, "u"))
    it.ticks(0)
    it.handle(ReleaseJob(held, "u"))
    it.ticks(0)
    assert it.broker.view.jobs[held].kept
    return held


def test_only_so_many_tasks_are_jobs_as_may_be_started(it: Bench) -> None:
    array = submit(it, "0-29")
    assert len(it.broker.view.jobs) == 1 + SIZE + AHEAD
    assert list(tasks(it, array).values()) == ["SUBMITTING"] * SIZE + ["QUEUED"] * AHEAD
    assert end_all(it, array) == list(range(30))
    assert set(tasks(it, array).values()) == {"COMPLETED"}
    assert (state(it, array), it.broker.view.jobs) == (("COMPLETED", 0), {})


@pytest.mark.parametrize("restarts", [False, True])
def test_at_most_so_many_are_under_way_as_its_user_wants(it: Bench, restarts: bool) -> None:
    array = submit(it, "1-9:2%2")
    order: list[int] = []
    for _ in range(5):
        live = {t: s for t, s in tasks(it, array).items() if s == "SUBMITTING"}
        assert len(live) == len(it.broker.view.jobs) - 1 <= 2
        order.append(min(live))
        end(it, job_of(it, array, min(live)))
        if restarts:
            restart(it)
    assert order == [1, 3, 5, 7, 9]
    assert state(it, array) == ("COMPLETED", 0)


def test_who_comes_later_stays_behind_all_tasks(it: Bench) -> None:
    array = submit(it, "0-19", size=SIZE)
    restart(it)
    later = submit(it, size=SIZE)
    assert end_all(it, array) == list(range(20))
    assert state(it, later)[0] == "SUBMITTING"


def test_no_task_is_lost_or_made_twice_though_the_broker_is_killed_at_any_moment(
    it: Bench,
) -> None:
    array = submit(it, "0-11")
    seen: dict[int, int] = {}
    while it.broker.view.jobs:
        for task, told in tasks(it, array).items():
            number = job_of(it, array, task)
            assert seen.setdefault(task, number) == number
            if told == "SUBMITTING":
                ref = Ref(number, 1, 0)
                it.handle(Submitted(ref, "1"), Started(ref, it.now), Ended(ref, it.now, 0))
                it.handle(Cleaned(ref, True, it.now, it.now, 0), Discarded(ref))
                it.restart()  # what follows from it has not been done
                break
        look(it)
    assert sorted(seen) == list(range(12))
    assert len(set(seen.values())) == 12


def test_what_becomes_of_it_is_what_becomes_of_the_worst_of_its_tasks(it: Bench) -> None:
    array = submit(it, "0-5")
    well, ill = submit(it, on=f"afterok:{array}"), submit(it, on=f"afternotok:{array}")
    begun = submit(it, on=f"after:{array}")
    ref = Ref(job_of(it, array, 0), 1, 0)
    it.handle(Submitted(ref, "1"), Started(ref, it.now), Ended(ref, it.now, 3))
    it.handle(Cleaned(ref, True, it.now, it.now, 3), Discarded(ref))
    restart(it)  # before the array was told
    assert it.broker.view.jobs[begun].after is not None
    end_all(it, array, {4: 7})
    assert state(it, array) == ("FAILED", 7)
    assert it.broker.view.jobs[well].never == f"afterok:{array}"
    assert [state(it, n)[0] for n in (ill, begun)] == ["SUBMITTING", "SUBMITTING"]


def test_who_waits_for_its_begin_waits_for_a_script_of_each_task(it: Bench) -> None:
    array = submit(it, "0-1")
    begun = submit(it, on=f"after:{array}")
    first, second = (Ref(job_of(it, array, task), 1, 0) for task in (0, 1))
    it.handle(Submitted(first, "1"), Submitted(second, "2"), Started(first, it.now))
    look(it)
    assert state(it, begun)[0] == "QUEUED"
    it.handle(Started(second, it.now))
    look(it)
    assert state(it, begun)[0] == "SUBMITTING"


def test_a_task_that_failed_is_not_forgotten_over_a_restart(it: Bench) -> None:
    array = submit(it, "0-2")
    ref = Ref(job_of(it, array, 1), 1, 0)
    it.handle(Submitted(ref, "1"), Started(ref, it.now), Ended(ref, it.now, 3))
    it.handle(Cleaned(ref, True, it.now, it.now, 3), Discarded(ref))
    restart(it)  # before the array was told
    end_all(it, array)
    assert state(it, array) == ("FAILED", 3)


def test_tasks_are_cancelled_one_by_one_in_ranges_and_all(it: Bench) -> None:
    array = submit(it, "0-19")
    it.handle(CancelJob(array, "u", TaskSet.parse("5-9,18")))
    it.ticks(0)
    assert tasks(it, array)[5] == tasks(it, array)[6] == "CANCELLED"
    assert 7 not in tasks(it, array)
    restart(it)
    with pytest.raises(Rejected, match="no such tasks"):
        it.broker.handle(CancelJob(array, "u", TaskSet.parse("7")), it.now)
    end(it, job_of(it, array, 0))
    assert max(tasks(it, array)) == 12
    it.handle(CancelJob(array, "u"))
    it.ticks(0)
    for number in list(it.broker.view.jobs):
        if number != array:
            it.handle(Cleaned(Ref(number, 1, 0)), Discarded(Ref(number, 1, 0)))
    it.ticks(0)
    assert state(it, array)[0] == "CANCELLED"
    assert not it.broker.view.jobs


def test_an_array_of_which_no_task_was_a_job_is_cancelled(it: Bench) -> None:
    first = submit(it)
    array = submit(it, "0-99999", on=f"afterok:{first}")
    assert tasks(it, array) == {}
    it.handle(CancelJob(array, "u"))
    it.ticks(0)
    assert state(it, array)[0] == "CANCELLED"


def test_a_held_array_makes_no_tasks_and_those_that_wait_are_held(it: Bench) -> None:
    array = submit(it, "0-19", hold=True)
    assert tasks(it, array) == {}
    it.handle(ReleaseJob(array, "u"))
    it.ticks(0)
    it.handle(HoldJob(array, "u"))
    restart(it)
    assert list(tasks(it, array).values()) == ["SUBMITTING"] * SIZE + ["HELD"] * AHEAD
    end_all(it, array)
    assert len(tasks(it, array)) == SIZE + AHEAD
    it.handle(ReleaseJob(array, "u"))
    it.ticks(0)
    end_all(it, array)
    assert state(it, array) == ("COMPLETED", 0)


def test_each_task_counts_for_the_limit_of_jobs_that_wait(it: Bench) -> None:
    it.broker.limit(ResourceLimits(per_user=ResourceLimit(waiting=20)))
    array = submit(it, "0-13", size=SIZE)  # one starts
    with pytest.raises(Rejected, match="has 13 jobs waiting, and at most 20"):
        submit(it, "0-7")
    submit(it, "0-5", hold=True)
    it.handle(CancelJob(array, "u", TaskSet.parse("10-13")))
    it.ticks(0)
    submit(it, "0-4", hold=True)
    with pytest.raises(Rejected, match="has 20 jobs waiting"):
        submit(it)


def test_a_large_array_is_one_row_and_says_how_far_it_has_come(it: Bench) -> None:
    array = submit(it, "0-99999")
    found = it.broker.view.jobs[array].array
    assert found is not None
    assert (len(it.broker.view.jobs), found.count) == (1 + SIZE + AHEAD, 100_000 - SIZE - AHEAD)
    assert str(found.left) == f"{SIZE + AHEAD}-99999"


def test_a_held_task_does_not_count_and_waits_for_its_turn_once_released(it: Bench) -> None:
    array = submit(it, "0-9%2", size=SIZE)  # one runs, one waits
    held = job_of(it, array, 1)
    it.handle(HoldJob(held, "u"))
    it.ticks(0)
    assert list(tasks(it, array).values()) == ["SUBMITTING", "HELD", "QUEUED"]
    it.handle(ReleaseJob(held, "u"))
    it.ticks(0)
    assert it.broker.view.jobs[held].kept
    restart(it)
    assert [number for number in it.broker.view.jobs if it.broker.view.jobs[number].kept] == [held]
    it.handle(HoldJob(held, "u"), ReleaseJob(held, "u"))
    it.ticks(0)
    assert it.broker.view.jobs[held].kept
    order = end_all(it, array)
    assert (sorted(order), order[:2]) == (list(range(10)), [0, 2])
    assert state(it, array) == ("COMPLETED", 0)


def test_a_task_that_is_held_in_the_turn_in_which_its_turn_has_come_stays_held(it: Bench) -> None:
    array = submit(it, "0-9%2", size=SIZE)
    held = kept(it, array)
    end(it, job_of(it, array, 0), looks=False)
    assert it.broker.view.jobs[held].kept  # the next turn looks who may go on
    it.handle(HoldJob(held, "u"), Tick())
    it.ticks(0)
    assert tasks(it, array)[1] == "HELD"
    it.handle(ReleaseJob(held, "u"))
    it.ticks(0)
    assert sorted(end_all(it, array)) == list(range(1, 10))
    assert state(it, array) == ("COMPLETED", 0)


def test_a_task_that_waits_for_its_turn_is_cancelled(it: Bench) -> None:
    array = submit(it, "0-3%2", size=SIZE)
    kept(it, array)
    it.handle(CancelJob(array, "u", TaskSet.parse("1")))
    it.ticks(0)
    assert tasks(it, array)[1] == "CANCELLED"
    assert end_all(it, array) == [0, 2, 3]
    assert state(it, array) == ("CANCELLED", 0)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_single_task_is_waited_for(it: Bench, restarts: bool) -> None:
    array = submit(it, "0-19")
    well, ill = submit(it, on=f"afterok:{array}_15"), submit(it, on=f"afternotok:{array}_15")
    begun, gone = submit(it, on=f"after:{array}_17"), submit(it, on=f"afterok:{array}_19")
    first = submit(it, on=f"afterok:{array}_1")
    with pytest.raises(Rejected, match=f"task {array}_20, which is not there"):
        submit(it, on=f"afterok:{array}_20")
    it.handle(CancelJob(array, "u", TaskSet.parse("19")))
    it.ticks(0)
    assert it.broker.view.jobs[gone].never == f"afterok:{array}_19"
    if restarts:
        restart(it)
    end(it, job_of(it, array, 1))
    assert it.broker.view.jobs[first].after is None
    late = submit(it, on=f"afterok:{array}_1,afternotok:{array}_19")
    assert it.broker.view.jobs[late].after is None  # they are over, and the array is not
    while state(it, job_of(it, array, 15) if 15 in tasks(it, array) else array)[0] == "QUEUED":
        begun_tasks = [t for t, s in tasks(it, array).items() if s == "SUBMITTING"]
        end(it, job_of(it, array, begun_tasks[0]))
    if restarts:
        restart(it)
    end(it, job_of(it, array, 15), 3)
    assert it.broker.view.jobs[well].never == f"afterok:{array}_15"
    assert it.broker.view.jobs[ill].after is None
    assert it.broker.view.jobs[begun].after is not None
    it.handle(CancelJob(well, "u"), CancelJob(gone, "u"))
    end_all(it, array)
    assert begun not in it.broker.view.jobs or it.broker.view.jobs[begun].after is None
    assert submit(it, on=f"afterok:{array}_3")
    with pytest.raises(Rejected, match=f"task {array}_20"):
        submit(it, on=f"afterany:{array}_20")
    assert not it.broker._dependencies._tasks and not it.broker._dependencies._ended


@pytest.mark.parametrize("restarts", [False, True])
def test_another_number_of_tasks_at_once(it: Bench, restarts: bool) -> None:
    array = submit(it, "0-29%6")
    assert list(tasks(it, array).values()) == ["SUBMITTING"] * SIZE + ["QUEUED"] * 2
    it.handle(ChangeJob(array, "u", most=2))
    it.ticks(0)
    if restarts:
        restart(it)
    kept = {job.task for job in it.broker.view.jobs.values() if job.kept}
    assert kept == {4, 5}
    for task in (0, 1, 2):
        end(it, job_of(it, array, task))
    assert [t for t, s in tasks(it, array).items() if s == "SUBMITTING"] == [3, 4]
    it.handle(ChangeJob(array, "u", most=0))
    it.ticks(0)
    assert list(tasks(it, array).values()).count("SUBMITTING") == SIZE
    end_all(it, array)
    assert state(it, array) == ("COMPLETED", 0)


def test_another_time_limit_at_the_same_place(it: Bench) -> None:
    runs, first, second = (submit(it, size=SIZE) for _ in range(3))
    array = submit(it, "0-9", size=SIZE)
    it.handle(ChangeJob(first, "u", time_limit=60), ChangeJob(array, "u", time_limit=30))
    restart(it)
    jobs = it.broker.view.jobs
    assert [jobs[n].time_limit for n in (first, second, array)] == [60, 600, 30]
    assert {jobs[n].time_limit for n in it.store.jobs.tasks([array])} == {30}
    with pytest.raises(Rejected, match="only the time limit of a job that waits"):
        it.broker.handle(ChangeJob(runs, "u", time_limit=60), it.now)
    with pytest.raises(Rejected, match="is no array"):
        it.broker.handle(ChangeJob(first, "u", most=1), it.now)
    end(it, runs)
    assert state(it, first)[0] == "SUBMITTING"
