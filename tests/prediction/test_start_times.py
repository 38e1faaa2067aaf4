"""The book of a queue: what is expected of its jobs, and what is told."""

from __future__ import annotations

import pytest

from metabroker.policy import Request, make_planner
from metabroker.prediction import Asked, StartTimes, forward, start_times
from metabroker.prediction.conformal import LEAST
from metabroker.prediction.forward import Ahead, expected_waits
from metabroker.prediction.run_times import RunTimes

ALL = Asked(Request((4,)), 1000.0, "anna")


def play(times: StartTimes, jobs: int, wait: float = 100.0, asked: Asked = ALL) -> float:
    """One job after another on the whole system: each waits until the one before it ends."""
    now = 0.0
    times.submitted(0, asked, now)
    times.started(0, (0,), (4,), now)
    for key in range(1, jobs + 1):
        times.submitted(key, asked, now)
        times.predict(key, now)
        now += wait
        times.ended(key - 1, now)
        times.started(key, (0,), (4,), now)
    return now


def test_nothing_is_told_before_enough_has_come() -> None:
    times = StartTimes((4,))
    now = play(times, LEAST - 1)
    times.submitted(1000, ALL, now)
    assert times.predict(1000, now) is None and times.now(1000, now) is None
    assert times.preview(ALL, now) is None


def test_a_start_is_expected_when_jobs_end_and_not_when_their_limits_do() -> None:
    times = StartTimes((4,))
    now = play(times, LEAST + 20)
    times.submitted(1000, ALL, now)
    found = times.predict(1000, now)
    assert found is not None and times.now(1000, now + 1) == found
    assert now <= found.earliest <= now + 100 <= found.latest < now + 300
    assert found.likely == pytest.approx(now + 100, abs=5)
    achieved = times.achieved()
    assert achieved.told == 20 and achieved.kept >= 18 and achieved.width < 200


def test_a_preview_is_of_a_job_behind_all_others() -> None:
    times = StartTimes((4,))
    now = play(times, LEAST + 20)
    times.submitted(1000, ALL, now)
    found = times.preview(ALL, now)
    assert found is not None and found.likely > now + 150
    assert not times.waits(-1)


def test_behind_very_many_jobs_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_times, "MOST_AHEAD", 3)
    times = StartTimes((4,))
    now = play(times, LEAST + 5)
    for key in range(1000, 1005):
        times.submitted(key, ALL, now)
    told = [times.predict(key, now) is not None for key in range(1000, 1005)]
    assert told == [True] * 4 + [False]
    assert times.ask(1004, now) is None and times.preview(ALL, now) is None
    times.left(1000)
    assert times.ask(1004, now) is not None and times.predict(1004, now) is not None


def test_who_waits_beyond_its_interval_is_counted_before_it_starts() -> None:
    times = StartTimes((4,))
    now = play(times, LEAST + 100)
    times.submitted(1000, ALL, now)
    first = times.predict(1000, now)
    times.submitted(1001, ALL, now)
    before = times.predict(1001, now)
    assert first is not None and before is not None
    widths = []
    for key in (1002, 1003):
        times.submitted(key, ALL, now)
        found = times.predict(key, now)
        assert found is not None
        widths.append(found.latest - found.likely)
        now += 10_000
    assert widths[1] > widths[0], "1000 and 1001 still wait"
    kept, told = times.achieved().kept, times.achieved().told
    times.started(1000, (0,), (4,), now)
    assert (times.achieved().kept, times.achieved().told) == (kept, told + 1)


def test_cancelled_jobs_teach_nothing() -> None:
    times = StartTimes((4,))
    now = play(times, LEAST)
    told = times.achieved()
    times.submitted(1000, ALL, now)
    times.predict(1000, now)
    times.left(1000)
    times.ended(1000, now + 5)
    assert times.achieved() == told and not times.waits(1000)


def test_run_times_are_those_of_the_same_user_and_kind() -> None:
    known = RunTimes()
    known.ended(ALL, 100.0)
    known.ended(ALL, 300.0)
    known.ended(Asked(Request((1,)), 50.0, "anna"), 10.0)
    known.ended(Asked(Request((1,)), 50.0, "bob"), 40.0)
    assert known.possible(ALL, 0.0) == [100.0, 300.0]
    assert known.possible(ALL, 150.0) == [150.0]
    assert known.possible(ALL, 400.0) == [400.0], "as others: by their part of the limit"
    assert known.possible(Asked(Request((2,)), 70.0, "anna"), 0.0) == [70.0, 70.0, 10.0]
    assert known.possible(ALL, 5000.0) == [1.0], "over its limit: at any moment"


def test_run_times_are_those_of_jobs_of_the_same_name_where_there_were_some() -> None:
    known, wanted = RunTimes(), Asked(Request((4,)), 1000.0, "anna", name="fold-12")
    known.ended(ALL, 500.0)
    assert known.possible(wanted, 0.0) == [500.0]
    known.ended(Asked(Request((4,)), 1000.0, "bob", name="fold-1"), 300.0)
    assert known.possible(wanted, 0.0) == [500.0], "which is bob's"
    known.ended(Asked(Request((2,)), 70.0, "anna", name="fold-3"), 60.0)
    assert known.possible(wanted, 0.0) == [60.0]
    known.ended(Asked(Request((4,)), 1000.0, "anna", name="fold-11"), 90.0)
    assert known.possible(wanted, 0.0) == [90.0]
    assert known.possible(ALL, 0.0) == [500.0, 90.0], "of those of any name"


def test_the_same_question_has_the_same_answer() -> None:
    running = [Ahead(1, Request((4,), (0,)), 1000.0, [50.0, 70.0, 90.0])]
    waiting = [Ahead(2, Request((4,)), 1000.0, [10.0, 20.0]), Ahead(3, Request((4,)), 9.0, [9.0])]
    first = expected_waits((4,), running, waiting)
    assert first == expected_waits((4,), running, waiting)
    assert first == sorted(first) and 60 <= first[0] <= first[-1] <= 110 and len(set(first)) > 1
    assert expected_waits((3,), running, waiting) == [], "it never fits"


def test_a_co_allocated_job_waits_for_all_its_clusters() -> None:
    running = [
        Ahead(1, Request((4,), (0,)), 100.0, [40.0]),
        Ahead(2, Request((4,), (1,)), 100.0, [70.0]),
    ]
    both = Ahead(3, Request((4, 4)), 100.0, [10.0])
    assert set(expected_waits((4, 4), running, [both])) == {70.0}


def behind_a_wide_job(running: int) -> tuple[list[Ahead], list[Ahead]]:
    """So many jobs of one processor run, each of which ends at a moment of its own; a job on all
    of them waits, and one more."""
    ends = (3600.0 + 60 * number for number in range(running))
    jobs = [Ahead(key, Request((1,), (0,)), 2 * end, [end]) for key, end in enumerate(ends)]
    wide = Ahead(running, Request((running,)), 3600.0, [1800.0])
    return jobs, [wide, Ahead(running + 1, Request((1,)), 1e6, [1e6])]


def looks(running: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, float]:
    """How often the last job is looked for room for, and how long it waits."""
    found = 0

    def counting(name: str, processors: tuple[int, ...]) -> object:
        planner = make_planner(name, processors)
        run = planner.run

        def counted(now: float) -> object:
            nonlocal found
            found += 1
            return run(now)

        planner.run = counted  # type: ignore[assignment, method-assign]
        return planner

    with monkeypatch.context() as patch:
        patch.setattr(forward, "make_planner", counting)
        patch.setattr(forward, "TIMES", 1)
        (wait,) = expected_waits((running,), *behind_a_wide_job(running))
    return found, wait


def test_behind_a_wide_job_not_all_that_runs_is_looked_at_at_each_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The work grew with the square of the running jobs."""
    assert looks(1500, monkeypatch)[0] < 200


def test_ends_that_are_taken_together_delay_a_start_by_a_tenth_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    true = 3600.0 + 60 * 199 + 1800
    few, wait = looks(200, monkeypatch)
    assert few > 100 and true <= wait < 1.01 * true, "of few jobs each end counts"
    monkeypatch.setattr(forward, "_STEP", 1.0)
    coarse, wait = looks(200, monkeypatch)
    assert coarse < 60 and true <= wait < 1.1 * (true + 300)


def test_what_is_worked_out_is_of_the_moment_at_which_it_was_asked() -> None:
    times = StartTimes((4,))
    now = play(times, LEAST + 20)
    times.submitted(1000, ALL, now)
    question = times.ask(1000, now)
    assert question is not None
    at_once = question.expected()
    times.ended(LEAST + 20, now + 1)
    times.submitted(1001, ALL, now + 1)
    times.resize((9,))
    assert question.expected() == at_once
    found = times.settle(question, at_once)
    assert found is not None and times.now(1000, now + 1) == found


def test_a_job_that_leaves_while_its_start_is_worked_out_teaches_nothing() -> None:
    times = StartTimes((4,))
    now = play(times, LEAST + 20)
    times.submitted(1000, ALL, now)
    question, told = times.ask(1000, now), times.achieved()
    assert question is not None
    times.left(1000)
    assert times.settle(question, question.expected()) is None
    times.started(1000, (0,), (4,), now + 1)
    assert times.achieved() == told and times.ask(1000, now + 1) is None
