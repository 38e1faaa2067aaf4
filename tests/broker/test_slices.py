"""What concerns very many jobs at once is done to some of them each turn. Here three are many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from metabroker.broker import tokens
from metabroker.broker.effects import Clean, CleanStray, Submit
from metabroker.broker.events import (
    CancelJob,
    ClusterUnreachable,
    HoldJob,
    Observed,
    Refused,
    Started,
    SubmitJob,
    Submitted,
    Tick,
    Unsure,
)
from metabroker.broker.job import NewJob
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.outbox import Ready
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.broker.states import Cause, Step
from metabroker.broker.tokens import Ref
from metabroker.policy import Request
from tests.broker.bench import INSTANCE, Bench

SIZE, MANY, SLICE = 20, 10, 3
NAMES = ("a", "b", "c")
Made = list[Bench]


@pytest.fixture
def made() -> Iterator[Made]:
    benches: Made = []
    yield benches
    for it in benches:
        it.close()


def bench(made: Made, policy: str = "LS-OR", slice: int = SLICE, **given: object) -> Bench:
    it = Bench(dict.fromkeys(NAMES, SIZE), policy=policy, slice=slice, **given)  # type: ignore[arg-type]
    made.append(it)
    return it


def look(it: Bench, busy: int = SIZE, clusters: tuple[int, ...] = (0, 1, 2)) -> Ready:
    return it.handle(*(Observed(c, Snapshot(it.now, SIZE, SIZE, busy)) for c in clusters))


def submit(it: Bench, count: int, home: int = 0, user: str = "u", size: int = 1) -> list[int]:
    first = it.broker.next_job
    new = NewJob(user, "j", Request((size,)), 600, home=home)
    it.handle(*[SubmitJob(new) for _ in range(count)])
    return list(range(first, first + count))


def turns(it: Bench) -> list[Ready]:
    """All that is due now, turn by turn."""
    return [ready for _now, ready in it.ticks(0.0)]


def one_turn(it: Bench) -> Ready:
    """The next turn alone."""
    return it.handle(Tick())


def queue(it: Bench, cluster: int) -> list[int]:
    return list(it.broker.view.in_queues.keys(cluster))


def begun(ready: Ready) -> list[int]:
    return [effect.ref.job for effect in ready.effects if isinstance(effect, Submit)]


# --- a cluster is lost ----------------------------------------------------------------------------


def lost(made: Made) -> tuple[Bench, list[int]]:
    """A minute after the first cluster was lost, with many in its queue, and one turn."""
    it = bench(made)
    look(it)
    jobs = submit(it, MANY)
    it.handle(ClusterUnreachable(0, "gone"))
    it.ticks(it.settings.move_after - 1.0)
    look(it, clusters=(1, 2))
    it.now += 1.0
    return it, jobs


def test_a_lost_clusters_queue_is_moved_by_some_jobs_a_turn_in_their_order(made: Made) -> None:
    it, jobs = lost(made)
    moved = [[job.id for job in ready.jobs] for ready in turns(it) if ready.jobs]
    assert max(map(len, moved)) == SLICE
    assert [number for some in moved for number in some] == jobs
    assert all(it.broker.view.jobs[number].queue != 0 for number in jobs)
    assert queue(it, 1) == sorted(queue(it, 1))
    assert it.broker.next_time() is None or it.broker.next_time() > it.now  # type: ignore[operator]


def test_what_happens_between_two_slices_is_looked_at(made: Made) -> None:
    it, jobs = lost(made)
    one_turn(it)
    it.broker.handle(CancelJob(jobs[-1], "u"), it.now)
    it.broker.handle(HoldJob(jobs[-2], "u"), it.now)
    turns(it)
    assert sorted(it.broker.view.jobs) == jobs[:-1]
    assert it.broker.view.jobs[jobs[-2]].queue == 0
    assert all(it.broker.view.jobs[number].queue != 0 for number in jobs[:-2])


def test_a_cluster_that_answers_again_keeps_who_is_not_moved_yet(made: Made) -> None:
    it, jobs = lost(made)
    one_turn(it)
    look(it, clusters=(0,))
    turns(it)
    stayed = [number for number in jobs if it.broker.view.jobs[number].queue == 0]
    assert stayed == jobs[SLICE:]


def test_a_restart_between_two_slices_loses_nobody(made: Made) -> None:
    it, jobs = lost(made)
    one_turn(it)
    it.restart()
    assert sorted(it.broker.view.jobs) == jobs
    look(it, clusters=(1, 2))
    it.handle(ClusterUnreachable(0, "gone"))
    for _ in range(4):  # polls go on
        it.ticks(it.settings.move_after / 3)
        look(it, clusters=(1, 2))
    turns(it)
    assert all(it.broker.view.jobs[number].queue != 0 for number in jobs)


# --- many can start -------------------------------------------------------------------------------


def test_many_that_can_start_begin_some_a_turn_in_their_order(made: Made) -> None:
    it = bench(made)
    look(it)
    jobs = submit(it, MANY)
    each = [begun(look(it, 0, (0,))), *(begun(ready) for ready in turns(it))]
    assert [some for some in each if some] == [jobs[:3], jobs[3:6], jobs[6:9], jobs[9:]]


@pytest.mark.parametrize("policy", ["GS", "LS-OR", "LS-RO", "LP-GF", "EQ-LF", "FPFS"])
def test_slices_decide_as_whole_passes_do(made: Made, policy: str) -> None:
    outcomes = []
    for slice in (1, SLICE, 100):
        it = bench(made, policy, slice)
        look(it)
        for number in range(12):
            sizes = (2, 3) if number % 3 else (5,)
            it.handle(SubmitJob(NewJob("u", "j", Request(sizes), 600, home=number % 3)))
        look(it, 4)
        turns(it)
        parts = [c for n in range(3) for c in it.broker.view.components(n)]
        outcomes.append(sorted((c.ref, c.cluster) for c in parts))
    assert outcomes[0] == outcomes[1] == outcomes[2] != []


def test_a_job_that_is_cancelled_before_its_turn_does_not_start(made: Made) -> None:
    it = bench(made)
    look(it)
    jobs = submit(it, MANY)
    look(it, 0, (0,))
    assert it.broker.view.decided
    it.handle(CancelJob(jobs[4], "u"), HoldJob(jobs[5], "u"))
    turns(it)
    started = {c.ref.job for c in it.broker.view.components(0)}
    assert started == {*jobs} - {jobs[4], jobs[5]}


def test_what_is_taken_before_its_turn_is_not_given_twice(made: Made) -> None:
    it = bench(made)
    look(it)
    jobs = submit(it, MANY)
    first = begun(look(it, 0, (0,)))
    look(it, SIZE - 1, (0,))  # others have taken all but one
    turns(it)
    entry = it.broker.view.entries[0]
    assert first == jobs[:3]
    assert entry.claimed <= max(3, entry.usable - entry.others)
    assert [*sorted(c.ref.job for c in it.broker.view.components(0)), *queue(it, 0)] == jobs


def test_nobody_begins_before_one_whose_room_was_taken_before_its_turn(made: Made) -> None:
    """The others were decided after it, so they are decided anew, as their policy has it."""
    it = bench(made, "GS", 1)
    look(it)
    for sizes in [(1,), (3, 3), (1,), (1,)]:
        it.handle(SubmitJob(NewJob("u", "j", Request(sizes), 600)))
    assert begun(look(it, 0, (0, 1))) == [1]
    look(it, SIZE - 2, (0,))  # others have taken so many that two are left
    turns(it)
    look(it, SIZE - 2, (1,))
    turns(it)
    started = {c.ref.job for n in (0, 1) for c in it.broker.view.components(n)}
    assert started == {1}
    look(it, 0, (0, 1))
    turns(it)
    started = {c.ref.job for n in (0, 1) for c in it.broker.view.components(n)}
    assert started == {1, 2, 3, 4}


def test_nothing_is_sent_to_a_cluster_that_was_lost_before_its_turn(made: Made) -> None:
    it = bench(made)
    look(it)
    jobs = submit(it, MANY)
    look(it, 0, (0,))
    it.handle(ClusterUnreachable(0, "gone"))
    turns(it)
    assert {c.ref.job for c in it.broker.view.components(0)} == {*jobs[:3]}
    assert set(it.broker.view.ineligible()) == {*jobs[3:]}


def test_a_restart_between_two_slices_starts_the_others_once(made: Made) -> None:
    it = bench(made)
    look(it)
    jobs = submit(it, MANY)
    look(it, 0, (0,))
    it.restart()
    look(it, 0, (0,))
    turns(it)
    assert sorted(c.ref for c in it.broker.view.components(0)) == [Ref(n, 1, 0) for n in jobs]


# --- polls, timers --------------------------------------------------------------------------------


def running(made: Made) -> tuple[Bench, dict[str, Ref]]:
    """Many that run in the first cluster; by their tokens."""
    it = bench(made)
    look(it)
    jobs = submit(it, MANY)
    look(it, 0, (0,))
    turns(it)
    refs = [Ref(number, 1, 0) for number in jobs]
    it.handle(*(Submitted(ref, str(ref.job), it.now) for ref in refs))
    it.handle(*(Started(ref, it.now) for ref in refs))
    it.now += 20.0
    return it, {tokens.make(INSTANCE, ref): ref for ref in refs}


def shown(it: Bench, parts: dict[str, Ref], state: NativeState) -> Ready:
    jobs = {
        token: NativeJob(str(ref.job), it.now - 20.0, state, "X", 1) for token, ref in parts.items()
    }
    return it.handle(Observed(0, Snapshot(it.now, SIZE, SIZE, 0, jobs=jobs)))


def cleaned(ready: Ready) -> int:
    return sum(isinstance(effect, Clean) for effect in ready.effects)


def test_many_ends_that_one_poll_tells_are_taken_over_some_a_turn(made: Made) -> None:
    it, parts = running(made)
    each = [cleaned(shown(it, parts, NativeState.ENDED)), *map(cleaned, turns(it))]
    assert (max(each), sum(each)) == (SLICE, MANY)


def test_what_a_poll_has_left_over_is_held_against_the_next_one(made: Made) -> None:
    it, parts = running(made)
    first = cleaned(shown(it, parts, NativeState.ENDED))
    it.now += 1.0
    later = cleaned(shown(it, parts, NativeState.RUNNING)) + sum(map(cleaned, turns(it)))
    assert (first, later) == (SLICE, 0)
    assert len(it.broker.view.jobs) == MANY


def test_many_orphans_are_removed_some_a_turn(made: Made) -> None:
    it = bench(made)
    look(it)
    it.broker.number_from(100)
    parts = {tokens.make(INSTANCE, Ref(number, 1, 0)): Ref(number, 1, 0) for number in range(1, 11)}
    ready = [shown(it, parts, NativeState.RUNNING), *turns(it)]
    each = [sum(isinstance(effect, CleanStray) for effect in one.effects) for one in ready]
    assert (max(each), sum(each)) == (SLICE, MANY)


def test_many_timers_that_are_due_at_once_are_heard_some_a_turn(made: Made) -> None:
    it = bench(made)
    look(it)
    jobs = submit(it, MANY)
    look(it, 0, (0,))
    turns(it)
    it.handle(*(Unsure(Ref(number, 1, 0), Step.SUBMIT, "silence") for number in jobs))
    each = [len(begun(ready)) for _now, ready in it.ticks(1.0)]
    assert (max(each), sum(each)) == (SLICE, MANY)


# --- limits, refusals -----------------------------------------------------------------------------


def test_who_waited_for_a_limit_joins_some_a_turn_and_before_who_comes_later(made: Made) -> None:
    it = bench(made, shares=ResourceLimits(ResourceLimit(processors=1)))
    look(it)
    jobs = submit(it, MANY)
    kept_back = [len(it.broker.view.held_back)]
    it.broker.limit(ResourceLimits())
    it.settle()
    kept_back.append(len(it.broker.view.held_back))
    (late,) = submit(it, 1)
    assert late in it.broker.view.held_back
    for _ in range(5):
        one_turn(it)
        kept_back.append(len(it.broker.view.held_back))
    assert (kept_back[0], kept_back[1], kept_back[-1]) == (MANY - 1, MANY - 1 - SLICE, 0)
    assert queue(it, 0) == [*jobs, late]


def test_who_is_beyond_a_lowered_limit_by_itself_is_looked_at_once_and_keeps_nobody_back(
    made: Made,
) -> None:
    it = bench(made, shares=ResourceLimits(ResourceLimit(processors=SIZE - 1)))
    look(it, SIZE, (0, 1))
    (held, *_), large = submit(it, 2, size=SIZE - 2), submit(it, MANY, size=SIZE - 2)
    it.broker.limit(ResourceLimits(ResourceLimit(processors=2)))
    (small,) = submit(it, 1, size=2)
    turns(it)
    assert small in queue(it, 0)
    assert {*large} <= it.broker.view.held_back.keys()
    assert not it.broker._queues.held_back.more
    it.broker.limit(ResourceLimits())
    it.settle()
    turns(it)
    assert queue(it, 0) == sorted([held, held + 1, *large, small])


def test_jobs_for_a_suspended_cluster_step_aside_and_come_back_some_a_turn(made: Made) -> None:
    it = bench(made, "GS")
    look(it)
    new = NewJob("u", "j", Request((1,), (0,)), 600, local=0)
    it.handle(*[SubmitJob(new) for _ in range(MANY)])
    look(it, SIZE - 1, (0,))
    turns(it)
    it.handle(Refused(Ref(1, 1, 0), Step.SUBMIT, Cause.UNREACHABLE, "no route"))
    aside = [len(it.broker.view.refused)]
    look(it, 0, (0,))
    for _ in range(10):
        aside.append(len(it.broker.view.refused))
        one_turn(it)
    assert max(b - a for a, b in pairwise(aside)) <= SLICE
    assert len(it.broker.view.refused) == MANY
    it.ticks(it.settings.refusal_first)
    sent = [c.ref for c in it.broker.view.components(0) if c.step is Step.SUBMIT]
    assert len(sent) == 1  # one to try
    back = [len(it.broker.view.refused)]
    it.handle(Submitted(sent[0], "1", it.now))
    for _ in range(10):
        back.append(len(it.broker.view.refused))
        one_turn(it)
    assert max(a - b for a, b in pairwise(back)) <= SLICE and back[-1] == 0
    assert len({c.ref.job for c in it.broker.view.components(0)}) == MANY


def test_who_stepped_aside_when_a_poll_was_too_old_comes_back_with_a_fresh_one(made: Made) -> None:
    it = bench(made, "GS")
    began = it.now
    look(it)
    jobs = submit(it, 1, size=SIZE)
    it.now += it.settings.stale_after + 9.0  # the store was away: polls are handled late
    late = Snapshot(began + 1.0, SIZE, SIZE, SIZE)
    it.handle(Observed(0, late))
    assert it.broker.view.ineligible() == jobs
    it.handle(*(Observed(c, Snapshot(began + 12.0, SIZE, SIZE, SIZE)) for c in range(3)))
    assert it.broker.view.ineligible() == []
