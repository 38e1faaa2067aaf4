"""Jobs that wait for other jobs."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from metabroker.broker.events import (
    Armed,
    Arrived,
    CancelJob,
    Cleaned,
    Discarded,
    Ended,
    HoldJob,
    Observed,
    Opened,
    ReleaseJob,
    Reserved,
    Started,
    SubmitJob,
    Submitted,
    Tick,
)
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Snapshot
from metabroker.broker.rejected import Rejected
from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref
from metabroker.policy import Request
from metabroker.submission.dependency import Named, parse_dependency
from tests.broker.bench import Bench

SIZE = 8


@pytest.fixture
def it() -> Iterator[Bench]:
    bench = Bench({"a": SIZE}, slice=2)
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
    it: Bench, on: str = "", *, size: int = 1, name: str = "j", user: str = "u",
    kill: bool = False, hold: bool = False,
) -> int:  # fmt: skip
    number = it.broker.next_job
    after = parse_dependency(on, kill=kill) if on else None
    new = NewJob(user, name, Request((size,)), 600, hold=hold, after=after)
    ended = {} if after is None else it.store.jobs.outcomes(after.named)
    it.broker.handle(SubmitJob(new, ended), it.now)
    it.settle()
    it.ticks(0)
    return number


def start(it: Bench, job: int) -> None:
    ref = Ref(job, 1, 0)
    it.handle(Submitted(ref, str(job)), Started(ref, it.now))
    it.ticks(0)


def end(it: Bench, job: int, code: int = 0) -> None:
    """Also of one that has not started."""
    ref = Ref(job, 1, 0)
    told = (Submitted(ref, str(job)), Started(ref, it.now), Ended(ref, it.now, code))
    it.handle(*told, Cleaned(ref, True, it.now, it.now, code), Discarded(ref))
    it.ticks(0)


def state(it: Bench, job: int) -> str:
    """Its state; of one that waits for others `WAITS`, or `NEVER`."""
    found = it.broker.view.jobs.get(job)
    if found is None:
        return str(it.store.jobs.rows(ids=[job])[0]["state"])
    waits = found.after is not None and found.state.value == "QUEUED"
    return found.state.value if not waits else "NEVER" if found.never else "WAITS"


@pytest.mark.parametrize(
    ("kind", "code", "then"),
    [("afterok", 0, "SUBMITTING"), ("afterok", 1, "NEVER"), ("afternotok", 0, "NEVER"),
     ("afternotok", 1, "SUBMITTING"), ("afterany", 1, "SUBMITTING"), ("after", 1, "SUBMITTING"),
     ("aftercorr", 0, "SUBMITTING"), ("aftercorr", 1, "NEVER")],
)  # fmt: skip
def test_an_end_is_waited_for(it: Bench, kind: str, code: int, then: str) -> None:
    first = submit(it)
    second, third = submit(it, f"{kind}:{first}"), submit(it, f"{kind}:{first}")
    assert state(it, second) == "WAITS"
    it.handle(CancelJob(third, "u"))
    restart(it)
    end(it, first, code)
    assert state(it, second) == then
    assert state(it, submit(it, f"{kind}:{first}")) == then  # it has ended before
    restart(it)
    assert state(it, second) == then


def test_who_waits_for_a_start_waits_no_longer(it: Bench) -> None:
    first = submit(it)
    second, third = submit(it, f"after:{first}"), submit(it, f"after:{first}+2")
    start(it, first)
    assert (state(it, second), state(it, third)) == ("SUBMITTING", "WAITS")
    restart(it)
    it.ticks(119)
    assert state(it, third) == "WAITS"
    it.ticks(2)
    assert state(it, third) != "WAITS"


def test_a_cancelled_job_has_not_ended_well(it: Bench) -> None:
    first = submit(it, hold=True)
    waiting = [submit(it, f"{kind}:{first}") for kind in ("afterok", "afternotok", "after")]
    it.handle(CancelJob(first, "u"))
    it.ticks(0)
    assert [state(it, n) for n in waiting] == ["NEVER", "SUBMITTING", "SUBMITTING"]


def test_all_must_be_so_or_one(it: Bench) -> None:
    one, two = submit(it), submit(it)
    every, either = submit(it, f"afterok:{one}:{two}"), submit(it, f"afterok:{one}?afterok:{two}")
    neither = submit(it, f"afternotok:{one}?afternotok:{two}")
    end(it, one)
    assert [state(it, n) for n in (every, either, neither)] == ["WAITS", "SUBMITTING", "WAITS"]
    end(it, two)
    assert [state(it, n) for n in (every, neither)] == ["SUBMITTING", "NEVER"]


def test_who_waits_keeps_nobody_back_and_joins_at_the_tail(it: Bench) -> None:
    first = submit(it, size=SIZE)
    waits = submit(it, f"afterany:{first}", size=SIZE)
    behind = submit(it, size=SIZE)
    assert it.broker.view.place(waits) is None
    assert it.broker.view.place(behind) == (1, 0)
    end(it, first)
    assert state(it, behind) == "SUBMITTING"
    assert it.broker.view.place(waits) == (1, 0)


def test_what_can_never_be_ends_the_job_if_its_user_wants_that(it: Bench) -> None:
    first = submit(it)
    second = submit(it, f"afterok:{first}", kill=True)
    third = submit(it, f"afterok:{second}")
    held = submit(it, f"afterok:{first}", kill=True, hold=True)
    end(it, first, 1)
    assert [state(it, n) for n in (second, third, held)] == ["CANCELLED", "NEVER", "CANCELLED"]
    reason = it.store.jobs.rows(ids=[second])[0]["reason"]
    assert reason == f"its dependency afterok:{first} can never be met"
    late = submit(it, f"afterok:{first}", kill=True)  # it is so already
    assert state(it, late) == "CANCELLED"


def test_it_is_killed_though_the_broker_is_killed_before(it: Bench) -> None:
    first = submit(it)
    second = submit(it, f"afterok:{first}", kill=True)
    ref = Ref(first, 1, 0)
    it.handle(Submitted(ref, "1"), Started(ref, it.now), Ended(ref, it.now, 1))
    it.handle(Cleaned(ref, True, it.now, it.now, 1))  # written; nobody is told yet
    assert state(it, second) == "WAITS"
    restart(it)
    assert state(it, second) == "CANCELLED"


def test_it_is_killed_though_the_broker_is_killed_in_the_middle_of_that(it: Bench) -> None:
    first = submit(it)
    second = submit(it, f"afterok:{first}", kill=True)
    ref = Ref(first, 1, 0)
    it.handle(Submitted(ref, "1"), Started(ref, it.now), Ended(ref, it.now, 1))
    it.handle(Cleaned(ref, True, it.now, it.now, 1))
    it.handle(Tick())
    assert state(it, second) == "NEVER"
    restart(it)
    assert state(it, second) == "CANCELLED"


def test_who_is_held_goes_on_waiting(it: Bench) -> None:
    first, other = submit(it), submit(it)
    second = submit(it, f"afterok:{first},afterany:{other}")
    it.handle(HoldJob(second, "u"))
    end(it, first, 1)
    it.handle(ReleaseJob(second, "u"))
    assert state(it, second) == "NEVER"
    third = submit(it, f"afterok:{other}")
    it.handle(HoldJob(third, "u"))
    end(it, other)
    assert state(it, third) == "HELD"
    it.handle(ReleaseJob(third, "u"))
    assert state(it, third) == "SUBMITTING"


def test_jobs_that_are_not_there_are_named(it: Bench) -> None:
    for number in (5, it.broker.next_job):  # its own, too
        with pytest.raises(Rejected, match=f"depends on job {number}, which is not there"):
            submit(it, f"afterok:{number}")


def test_earlier_jobs_of_its_name_are_waited_for(it: Bench) -> None:
    first, other = submit(it), submit(it, user="v")
    second, third = submit(it, "singleton"), submit(it, "singleton")
    assert state(it, submit(it, "singleton", name="k")) == "SUBMITTING"
    end(it, other)
    restart(it)
    assert [state(it, n) for n in (second, third)] == ["WAITS", "WAITS"]
    it.handle(CancelJob(second, "u"))
    it.ticks(0)
    assert state(it, third) == "WAITS"
    end(it, first)
    assert state(it, third) == "SUBMITTING"


def test_of_a_job_that_is_kept_no_more_it_is_known_what_was_not_said(it: Bench) -> None:
    first, second = submit(it), submit(it)
    every, either = (submit(it, f"afterok:{first}{sign}afterok:{second}") for sign in ",?")
    end(it, first)
    lost = {n: j for n, j in it.store.jobs.outcomes([Named(first)]).items() if n.job != first}
    found = it.store.recover(it.names)
    broker = it._new()
    broker.restore(found.jobs, found.components, it.now, lost)
    waiting = broker._dependencies._open
    assert [n in waiting for n in (every, either)] == [True, False]


def test_nobody_is_kept_in_mind_for_longer_than_waited_for(it: Bench) -> None:
    rng = random.Random(1)
    jobs = [submit(it, size=SIZE) for _ in range(4)]
    for _ in range(30):
        kind = rng.choice(("after", "afterok", "afterany", "afternotok"))
        on = rng.choice(",?").join(f"{kind}:{job}" for job in rng.sample(jobs, 2))
        jobs.append(submit(it, rng.choice((on, "singleton")), kill=rng.random() < 0.5, size=SIZE))
    restart(it)
    for job in jobs:
        if state(it, job) in ("SUBMITTING", "WAITING"):
            end(it, job, rng.choice((0, 1)))
    while live := list(it.broker.view.jobs):
        it.handle(CancelJob(live[0], "u"))
        it.handle(Cleaned(Ref(live[0], 1, 0)), Discarded(Ref(live[0], 1, 0)))
        it.ticks(0)
    found = it.broker._dependencies
    assert not (it.broker.view.jobs or found.waiting or found._open or found._waiters)
    assert not (found._ended or found._groups._members or found._groups._waiting)


def test_a_co_allocated_job_has_started_once_a_script_of_it_has() -> None:
    it = Bench({"a": SIZE, "b": SIZE})
    it.handle(*(Observed(c, Snapshot(it.now, SIZE, SIZE, 0)) for c in (0, 1)))
    it.handle(SubmitJob(NewJob("u", "j", Request((4, 4)), 600)))
    refs = [component.ref for component in it.broker.view.jobs[1].components]
    second = submit(it, "after:1")
    for made in (Reserved, lambda ref: Submitted(ref, "7"), lambda ref: Arrived(ref, "n"), Armed):
        it.handle(*(made(ref) for ref in refs))
    assert it.broker.view.jobs[1].state is JobState.RUNNING
    it.ticks(0)
    assert it.broker.view.jobs[second].attempt == 0
    it.handle(Opened(refs[0]), Started(refs[0], it.now, "n"))
    it.ticks(0)
    assert it.broker.view.jobs[second].attempt == 1
    it.close()


def test_of_very_many_whose_time_has_come_some_go_on_in_each_turn(it: Bench) -> None:
    first, full = submit(it), submit(it, size=SIZE)
    start(it, first)
    waiting = [submit(it, f"after:{first}+2") for _ in range(7)]
    it.ticks(60)
    assert {state(it, number) for number in waiting} == {"WAITS"}
    turns = [ready for _now, ready in it.ticks(61)]
    went = [sum(job.id in waiting for job in ready.jobs) for ready in turns]
    assert sum(went) == len(waiting) and max(went) == 2
    assert {state(it, number) for number in waiting} == {"QUEUED"} and full


def test_what_would_be_met_in_years_is_forgotten_with_who_waits_for_it(it: Bench) -> None:
    first = submit(it)
    start(it, first)
    stays = submit(it, f"after:{first}+1")
    for _ in range(200):
        it.handle(CancelJob(submit(it, f"after:{first}+9999999"), "u"))
    assert len(it.broker._dependencies._late) < 100
    it.ticks(61.0)
    look(it)
    assert state(it, stays) == "SUBMITTING"
