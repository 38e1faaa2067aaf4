"""What is asked of a whole array is done to some of its tasks each turn; here five are some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from metabroker.broker.events import (
    Arrived,
    CancelJob,
    ChangeJob,
    Cleaned,
    Discarded,
    Event,
    HoldJob,
    Observed,
    Refused,
    ReleaseJob,
    Reserved,
    SubmitJob,
)
from metabroker.broker.job import Job, NewJob
from metabroker.broker.observation import Snapshot
from metabroker.broker.states import Cause, Step
from metabroker.broker.tokens import Ref
from metabroker.broker.whole_arrays import WholeArrays
from metabroker.policy import Request
from metabroker.submission.tasks import parse_array

from .bench import Bench
from .test_arrays import SIZE, end, end_all, it, job_of, restart, state, submit, tasks
from .test_line import Site

__all__ = ["it"]

MANY, SLICE = 30, 5


@pytest.fixture
def many(it: Bench) -> Bench:
    """As many tasks as there are may wait."""
    it.settings = replace(it.settings, array_ahead=MANY)
    restart(it)
    return it


def jobs(it: Bench, array: int) -> list[Job]:
    return [job for job in it.broker.view.jobs.values() if job.of == array]


def waiting(it: Bench, array: int) -> list[Job]:
    return [job for job in jobs(it, array) if job.state.value in ("QUEUED", "HELD")]


def told(it: Bench, array: int, state: str) -> set[int]:
    """The tasks that are in that state by the store."""
    return {task for task, found in tasks(it, array).items() if found == state}


def held(it: Bench) -> int:
    """An array all tasks of which wait, and are held."""
    submit(it, size=SIZE)
    array = submit(it, f"0-{MANY - 1}")
    it.handle(HoldJob(array, "u"))
    it.ticks(0)
    assert told(it, array, "HELD") == set(range(MANY))
    return array


@pytest.mark.parametrize("ask", [HoldJob, ReleaseJob, lambda n, by: ChangeJob(n, by, 60)])
def test_it_is_done_to_so_many_tasks_in_a_turn(
    many: Bench, ask: Callable[[int, str], Event]
) -> None:
    array = held(many)
    if ask is HoldJob:
        many.handle(ReleaseJob(array, "u"))
        many.ticks(0)
    first = many.handle(ask(array, "u"))
    turns = [ready for _now, ready in many.ticks(0)]
    done = [sum(job.of == array for job in ready.jobs) for ready in (first, *turns)]
    assert sum(done) == MANY and max(done) == SLICE


def test_fewer_at_once_are_kept_back_some_each_turn(many: Bench) -> None:
    submit(many, size=SIZE)
    array = submit(many, f"0-{MANY - 1}")
    many.handle(ChangeJob(array, "u", most=2))
    assert sum(job.kept for job in jobs(many, array)) == SLICE
    many.ticks(0)
    assert [job.task for job in jobs(many, array) if not job.kept] == [0, 1]


def test_no_task_starts_after_a_hold_was_answered(many: Bench) -> None:
    array = submit(many, f"0-{MANY - 1}")
    begun = [job.id for job in jobs(many, array) if job.components]
    assert len(begun) == SIZE
    many.handle(HoldJob(array, "u"))  # no turn comes: all of the cluster is idle before
    for number in begun:
        end(many, number, looks=False)
    assert not [job for job in jobs(many, array) if job.components]
    many.ticks(0)
    assert told(many, array, "HELD") == set(range(SIZE, MANY))


def test_a_hold_goes_on_after_a_restart(many: Bench) -> None:
    array = submit(many, f"0-{MANY - 1}")
    many.handle(HoldJob(array, "u"))
    assert len(told(many, array, "HELD")) == SLICE
    restart(many)
    assert told(many, array, "HELD") == set(range(SIZE, MANY))
    assert state(many, array)[0] == "HELD"


def test_what_was_asked_of_one_task_since_is_not_undone(many: Bench) -> None:
    submit(many, size=SIZE)
    array = submit(many, f"0-{MANY - 1}")
    many.handle(HoldJob(array, "u"))
    early, late = job_of(many, array, 1), job_of(many, array, MANY - 1)
    many.handle(ReleaseJob(early, "u"), ReleaseJob(late, "u"))
    restart(many)
    assert told(many, array, "QUEUED") == {1, MANY - 1}


def test_nothing_is_left_to_do_once_all_is_done(many: Bench) -> None:
    submit(many, size=SIZE)
    array = submit(many, f"0-{MANY - 1}")
    many.handle(HoldJob(array, "u"))
    many.ticks(0)
    many.handle(ReleaseJob(job_of(many, array, 3), "u"))
    restart(many)
    assert told(many, array, "QUEUED") == {3}


@pytest.mark.parametrize("restarts", [False, True])
def test_released_tasks_go_before_whoever_comes_later_in_their_order(
    many: Bench, restarts: bool
) -> None:
    array = held(many)
    many.handle(ReleaseJob(array, "u"))
    if restarts:
        restart(many)
    later = submit(many)
    many.ticks(0)
    order = sorted(many.broker.view.jobs.values(), key=lambda job: job.seq)
    ordered = [job.task for job in order if job.of == array or job.id == later]
    assert ordered == [*range(MANY), -1]
    restart(many)
    assert told(many, array, "QUEUED") == set(range(MANY))


def test_a_release_overtakes_a_hold_that_is_not_done(many: Bench) -> None:
    submit(many, size=SIZE)
    array = submit(many, f"0-{MANY - 1}")
    many.handle(HoldJob(array, "u"), ReleaseJob(array, "u"))
    restart(many)
    assert told(many, array, "QUEUED") == set(range(MANY))


def test_a_task_starts_with_the_limit_that_was_answered(many: Bench) -> None:
    first = submit(many, size=SIZE)
    array = submit(many, f"0-{MANY - 1}")
    many.handle(ChangeJob(array, "u", 60))
    order = [job.id for job in sorted(waiting(many, array), key=lambda job: -job.task)]
    many.handle(ChangeJob(order[0], "u", 90))
    restart(many)
    end(many, first)
    limits = {job.task: job.time_limit for job in jobs(many, array)}
    assert limits == {**dict.fromkeys(range(MANY - 1), 60), MANY - 1: 90}


def test_nor_does_one_that_comes_up_in_a_clusters_own_queue() -> None:
    site = Site(slice=1)
    try:
        array = site.submit(1, array=parse_array("0-3"))
        site.pass_time(1)
        for _ in range(4):
            site.look()
            site.accept()
        standing = [job for job in jobs(site.bench, array.id) if job.line]
        assert len(standing) == 4
        site.bench.broker.handle(HoldJob(array.id, "u"), site.bench.now)
        last = standing[-1]
        site.bench.handle(Arrived(last.line[0].ref, "node"))
        assert not last.components
        site.bench.ticks(0)
        assert {job.state.value for job in jobs(site.bench, array.id)} == {"HELD"}
        assert not any(job.line for job in standing)
    finally:
        site.bench.close()


def test_a_task_that_cannot_be_held_fails_and_no_other(
    many: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(many, size=SIZE)
    array = submit(many, f"0-{MANY - 1}")
    broken = {job_of(many, array, task) for task in (1, MANY - 1)}
    hold = WholeArrays.hold_one

    def hold_one(self: WholeArrays, job: Job, by: str, now: float) -> None:
        if job.id in broken:
            raise ValueError
        hold(self, job, by, now)

    monkeypatch.setattr(WholeArrays, "hold_one", hold_one)
    many.contained = []
    many.handle(HoldJob(array, "u"))
    many.ticks(0)
    assert told(many, array, "FAILED") == {1, MANY - 1}
    assert told(many, array, "HELD") == set(range(MANY)) - {1, MANY - 1}
    assert state(many, array)[0] == "HELD"


def test_a_task_that_starts_before_its_release_is_not_lost(many: Bench) -> None:
    first = submit(many, size=SIZE)
    other, array = submit(many, f"0-{SLICE - 1}"), submit(many, f"0-{MANY - 1}")
    many.handle(ReleaseJob(other, "u"), ReleaseJob(array, "u"), CancelJob(other, "u"))
    end(many, first)
    assert end_all(many, array) == list(range(MANY))


def test_nor_is_one_that_is_not_too_many_any_more(many: Bench) -> None:
    first = submit(many, size=SIZE)
    array = submit(many, f"0-{MANY - 1}")
    many.handle(ChangeJob(array, "u", most=2), ChangeJob(array, "u", most=MANY))
    end(many, first, looks=False)  # no turn comes before
    many.ticks(0)
    end_all(many, array)
    assert set(tasks(many, array).values()) == {"COMPLETED"}


def test_a_task_in_an_attempt_is_held_also_if_its_turn_comes_later() -> None:
    it = Bench({"a": SIZE, "b": SIZE}, slice=SLICE)
    try:
        for cluster in range(2):
            it.handle(Observed(cluster, Snapshot(it.now, SIZE, SIZE, 0)))
        array = it.broker.next_job
        it.handle(SubmitJob(NewJob("u", "j", Request((1, 1)), 600, array=parse_array("0-1"))))
        it.ticks(0)
        begun = [part for job in jobs(it, array) for part in job.components]
        assert len(begun) == 4
        other = submit(it, f"0-{MANY - 1}", size=SIZE)
        came = [Reserved(part.ref) for part in begun]
        it.handle(HoldJob(other, "u"), HoldJob(array, "u"), *came)  # the first takes all there is
        it.ticks(0)
        assert told(it, array, "HELD") == {0, 1}
    finally:
        it.close()


@pytest.mark.parametrize("then", ["", "restart", "release"])
def test_a_task_that_its_cluster_refuses_after_the_hold_is_held(many: Bench, then: str) -> None:
    array = submit(many, f"0-{SIZE}")
    many.handle(HoldJob(array, "u"))
    many.ticks(0)
    if then == "restart":
        restart(many)
    elif then == "release":
        many.handle(ReleaseJob(array, "u"))
        many.ticks(0)
    refused, started = job_of(many, array, 0), job_of(many, array, 1)
    ref = Ref(refused, 1, 0)
    many.handle(Refused(ref, Step.SUBMIT, Cause.REFUSED, "no"), Cleaned(ref), Discarded(ref))
    end(many, started)
    assert told(many, array, "HELD") == (set() if then == "release" else {0, SIZE})
    assert told(many, array, "COMPLETED") == {1}
