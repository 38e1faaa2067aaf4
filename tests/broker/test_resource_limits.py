"""How much one user or one queue may have at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from metabroker.broker.events import (
    CancelJob,
    ChangeJob,
    Cleaned,
    Ended,
    HoldJob,
    Observed,
    ReleaseJob,
    Started,
    SubmitJob,
    Submitted,
)
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Snapshot
from metabroker.broker.rejected import Rejected
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.policy import Request
from tests.share import share

from .bench import Bench

SIZES = {"delft": 100, "leiden": 100}
ANY = ResourceLimit()


@pytest.fixture
def made() -> Iterator[list[Bench]]:
    benches: list[Bench] = []
    yield benches
    for bench in benches:
        bench.close()


def bench(
    made: list[Bench], user: ResourceLimit = ANY, queue: ResourceLimit = ANY, **given: Any
) -> Bench:
    """A bench with these shares, which has seen its clusters idle."""
    it = Bench(SIZES, shares=ResourceLimits(user, queue), **given)
    made.append(it)
    look(it)
    return it


def look(it: Bench) -> None:
    """Both clusters are seen as they are: what is held there is ours."""
    events = []
    for cluster, size in enumerate(SIZES.values()):
        ours = {
            it.token(c.ref): c.processors for c in it.broker._saga.claims.live[cluster].values()
        }
        events.append(
            Observed(cluster, Snapshot(it.now, size, size, sum(ours.values()), ours=ours))
        )
    it.handle(*events)


def submit(it: Bench, *sizes: int, user: str = "anna", hold: bool = False) -> int:
    """A job's number."""
    new = NewJob(user, "job", Request(sizes), 600, hold=hold)
    it.handle(SubmitJob(new))
    return it.broker.next_job - 1


def placed(it: Bench) -> set[int]:
    """Jobs that have been given processors."""
    return {ref.job for live in it.broker._saga.claims.live for ref in live}


def end(it: Bench, job: int) -> None:
    """A single-component job runs and ends, and nothing of it is left."""
    (component,) = it.broker.view.jobs[job].components
    ref = component.ref
    it.handle(Submitted(ref, "77"))
    it.handle(Started(ref, it.now))
    it.handle(Ended(ref, it.now, 0))
    it.handle(Cleaned(ref))


def test_without_limits_nothing_is_held_back(made: list[Bench]) -> None:
    it = bench(made)
    jobs = {submit(it, 10) for _ in range(20)}
    assert placed(it) == jobs and not it.broker.view.held_back


def test_a_users_processors(made: list[Bench]) -> None:
    it = bench(made, ResourceLimit(processors=25))
    first, second, third = (submit(it, 10) for _ in range(3))
    other = submit(it, 10, user="bob")
    assert placed(it) == {first, second, other}
    assert set(it.broker.view.held_back) == {third}
    end(it, first)
    assert placed(it) == {second, third, other}


def test_who_waits_for_a_share_waits_in_order(made: list[Bench]) -> None:
    it = bench(made, ResourceLimit(processors=20))
    first, second = submit(it, 10), submit(it, 10)
    large, small = submit(it, 20), submit(it, 1)
    end(it, first)
    assert placed(it) == {second}  # the small one does not overtake the large one
    end(it, second)
    assert placed(it) == {large}
    end(it, large)
    assert placed(it) == {small}


@pytest.mark.parametrize("policy", ["GS", "LP-GF", "LS-OR"])
def test_all_are_looked_at_that_are_let_through_at_once(made: list[Bench], policy: str) -> None:
    """Though somebody who came later has been looked at before them."""
    it = bench(made, ResourceLimit(processors=10), policy=policy)
    first, large = submit(it, 5), submit(it, 10)
    small = [submit(it, 1) for _ in range(4)]
    other = submit(it, 1, user="bob")
    assert placed(it) == {first, other}
    it.handle(CancelJob(large, "anna"))
    assert placed(it) == {first, other, *small}


def test_a_queues_processors_are_all_users(made: list[Bench]) -> None:
    it = bench(made, queue=ResourceLimit(processors=20))
    one, two = submit(it, 10), submit(it, 10, user="bob")
    three = submit(it, 10, user="carol")
    assert placed(it) == {one, two}
    end(it, two)
    assert placed(it) == {one, three}


def test_co_allocated_jobs_wait_and_single_ones_go_on(made: list[Bench]) -> None:
    it = bench(made, ResourceLimit(coallocated=1))
    one, two = submit(it, 4, 4), submit(it, 4, 4)
    single = submit(it, 4)
    assert placed(it) == {one, single}
    assert set(it.broker.view.held_back) == {two}
    components = list(it.broker.view.jobs[one].components)
    it.handle(CancelJob(one, "anna"))
    for component in components:
        it.handle(Cleaned(component.ref))
    assert placed(it) == {two, single}


def test_those_behind_start_instead(made: list[Bench]) -> None:
    """Also where the policy chose somebody who has no share left: others are not kept waiting."""
    it = bench(made, ResourceLimit(processors=100))
    running = submit(it, 100, user="bob"), submit(it, 100, user="carol")
    # Nothing of anna's runs, so each of hers is shown to the policy, and waits for processors.
    one, two = submit(it, 100), submit(it, 100)
    other = submit(it, 100, user="dave")
    assert not it.broker.view.held_back
    over = [it.broker.view.jobs[job].components[0].ref for job in running]
    for ref in over:
        it.handle(Submitted(ref, "77"), Started(ref, it.now), Ended(ref, it.now, 0))
    it.handle(*(Cleaned(ref) for ref in over))
    assert placed(it) == {one, other}
    assert set(it.broker.view.held_back) == {two}
    end(it, one)
    assert placed(it) == {two, other}


def test_jobs_that_wait_for_a_share_are_cancelled_held_and_released(made: list[Bench]) -> None:
    it = bench(made, ResourceLimit(processors=10))
    first, second, third, fourth = (submit(it, 10) for _ in range(4))
    it.handle(CancelJob(second, "anna"))
    it.handle(HoldJob(third, "anna"))
    assert set(it.broker.view.held_back) == {fourth}
    end(it, first)
    assert placed(it) == {fourth}
    it.handle(ReleaseJob(third, "anna"))
    assert set(it.broker.view.held_back) == {third}


def test_a_restart_changes_nothing(made: list[Bench]) -> None:
    it = bench(made, ResourceLimit(processors=10))
    first, second, third = (submit(it, 10) for _ in range(3))
    it.restart()
    look(it)
    assert placed(it) == {first}
    end(it, first)
    assert placed(it) == {second}
    assert set(it.broker.view.held_back) == {third}


def test_limits_may_change_meanwhile(made: list[Bench]) -> None:
    it = bench(made, ResourceLimit(processors=40))
    jobs = [submit(it, 20) for _ in range(4)]
    it.broker.limit(ResourceLimits(ResourceLimit(processors=10)))  # now none of them could ever run
    it.settle()
    small = submit(it, 5)
    assert placed(it) == {*jobs[:2]}
    for job in jobs[:2]:
        end(it, job)
    assert placed(it) == {small}  # which does not wait for those
    it.broker.limit(ResourceLimits())
    it.settle()
    assert placed(it) == {small, *jobs[2:]} and not it.broker.view.held_back


def test_too_many_waiting_jobs_are_refused(made: list[Bench]) -> None:
    it = bench(made, ResourceLimit(waiting=2))
    running = submit(it, 100), submit(it, 100)
    submit(it, 1), submit(it, 1, hold=True)
    with pytest.raises(
        Rejected, match="user anna has 2 jobs waiting, and at most 2 are allowed"
    ) as caught:
        submit(it, 1)
    assert "limits.per_user.waiting" in str(caught.value.message)
    submit(it, 1, user="bob")
    end(it, running[0])
    submit(it, 1)  # they do not wait any more
    # Of many at one moment too.
    new = [SubmitJob(NewJob("carol", "job", Request((100,)), 600)) for _ in range(3)]
    it.broker.handle(new[0], it.now)
    it.broker.handle(new[1], it.now)
    with pytest.raises(Rejected, match="user carol has 2 jobs waiting"):
        it.broker.handle(new[2], it.now)


def test_a_queue_may_be_full(made: list[Bench]) -> None:
    it = bench(made, queue=ResourceLimit(waiting=1))
    submit(it, 100), submit(it, 100), submit(it, 1)
    with pytest.raises(Rejected, match="queue global has 1 jobs waiting"):
        submit(it, 1, user="bob")


def test_what_is_beyond_a_share_by_itself_is_refused(made: list[Bench]) -> None:
    it = bench(made, ResourceLimit(processors=50))
    with pytest.raises(Rejected, match="can never run: user anna may have 50 processors"):
        submit(it, 30, 30)


_EVENTS = st.lists(
    st.one_of(
        st.tuples(
            st.just("submit"),
            st.sampled_from(["anna", "bob"]),
            st.sampled_from([(1,), (10,), (40,), (5, 5), (30, 10)]),
        ),
        st.tuples(st.sampled_from(["end", "cancel", "hold", "release"]), st.integers(0, 30)),
        st.just(("restart",)),
    ),
    max_size=60,
)


@settings(max_examples=share(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["GS", "LS-DO", "LP-GF", "EQ-LF", "FPFS"]),
    st.integers(40, 90),
    st.integers(1, 2),
    _EVENTS,
)
@example("GS", 40, 1, [("submit", "anna", (30, 10)), ("submit", "anna", (1,)), ("cancel", 0)])
def test_whatever_happens_no_share_is_exceeded_and_nobody_is_forgotten(
    policy: str, processors: int, coallocated: int, events: list[Any]
) -> None:
    user = ResourceLimit(processors=processors, coallocated=coallocated)
    made: list[Bench] = []
    it = bench(made, user, ResourceLimit(processors=processors + 20), policy=policy)
    try:
        for event in events:
            _play(it, event)
            usage = it.broker.view.usage()
            for (kind, _), used in usage.processors.items():
                assert used <= processors + 20 * (kind == "queue")
            for (kind, _), used in usage.coallocated.items():
                assert kind == "queue" or used <= coallocated
        _drain(it)
    finally:
        it.close()


def _play(it: Bench, event: Any) -> None:
    if event[0] == "submit":
        submit(it, *event[2], user=event[1])
        return
    if event[0] == "restart":
        it.restart()
        look(it)
        return
    jobs = list(it.broker.view.jobs.values())
    if not jobs:
        return
    job = jobs[event[1] % len(jobs)]
    if event[0] == "cancel":
        it.handle(CancelJob(job.id, "x"))
    elif event[0] == "hold" and job.state.value == "QUEUED":
        it.handle(HoldJob(job.id, "x"))
    elif event[0] == "release" and job.state.value == "HELD":
        it.handle(ReleaseJob(job.id, "x"))
    elif event[0] == "end":
        _clean(it, job.id)


def _clean(it: Bench, number: int) -> None:
    """The job is over: a single one has run, of another nothing is left."""
    job = it.broker.view.jobs[number]
    if job.components and job.single and job.goal is None and job.state.value != "CANCELLED":
        if job.components[0].native_id is None:
            end(it, number)
        return
    components = list(job.components)
    if components and job.goal is None:
        it.handle(CancelJob(number, "x"))
    for component in components:
        if it.broker.view.component(component.ref) is not None:
            it.handle(Cleaned(component.ref))


def _drain(it: Bench) -> None:
    """Let all of them end: everybody who waits gets a turn."""
    for job in list(it.broker.view.jobs.values()):
        if job.state.value == "HELD":
            it.handle(ReleaseJob(job.id, "x"))
    for _ in range(200):
        if not it.broker.view.jobs:
            return
        for number in placed(it):
            if number in it.broker.view.jobs:
                _clean(it, number)
        for ref in [ref for live in it.broker._saga.claims.live for ref in live]:
            if ref.job not in it.broker.view.jobs:  # cancelled: its clusters are clean now
                it.handle(Cleaned(ref))
        look(it)
    raise AssertionError({j.id: (j.state, j.reason) for j in it.broker.view.jobs.values()})


def test_who_changes_a_job_all_day_fills_nothing(made: list[Bench]) -> None:
    it = bench(made, ResourceLimit(processors=10))
    submit(it, 10)
    waiting = [submit(it, 10) for _ in range(3)]
    for turn in range(300):
        it.broker.handle(ChangeJob(waiting[1], "anna", time_limit=600 + turn % 2), it.now)
    held_back = it.broker._queues.held_back
    assert sum(map(len, held_back._lines.values())) < 100
    it.settle()
    it.handle(CancelJob(waiting[0], "anna"))
    assert set(it.broker.view.held_back) == set(waiting[1:])


def test_who_changes_a_refused_job_all_day_fills_nothing(made: list[Bench]) -> None:
    it = bench(made)
    submit(it, 100), submit(it, 100)
    number = submit(it, 100)
    refusals, job = it.broker._queues.refusals, it.broker.view.jobs[number]
    for cluster in range(2):
        refusals.pause(job, cluster, it.now + 1e6)
    it.handle(HoldJob(number, "anna"), ReleaseJob(number, "anna"))
    assert list(refusals.jobs) == [number]
    for turn in range(300):
        it.handle(ChangeJob(number, "anna", time_limit=600 + turn % 2))
    assert list(refusals.jobs) == [number]
    assert sum(map(len, refusals._lines.values())) < 100
