"""What cannot be done to one of many jobs, in whatever turn, fails that job and no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from metabroker.broker.events import (
    ClusterUnreachable,
    Observed,
    SubmitJob,
    TellLinks,
    Tick,
)
from metabroker.broker.held_back import HeldBack
from metabroker.broker.job import Job, NewJob
from metabroker.broker.links import Link
from metabroker.broker.observation import NodeKind, Snapshot
from metabroker.broker.queues import Queues
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.broker.states import JobState
from metabroker.policy import Request
from metabroker.submission.shape import Shape
from tests.broker.bench import Bench

SIZE, JOBS, BAD = 20, [1, 2, 3, 4], 2


class Broken(Exception):
    """What a mistake in the broker might raise."""


@pytest.fixture
def it() -> Iterator[Bench]:
    bench = Bench({"a": SIZE, "b": SIZE}, policy="LS-OR")
    bench.contained = []
    look(bench)
    yield bench
    bench.close()


def look(it: Bench, busy: int = SIZE, clusters: tuple[int, ...] = (0, 1)) -> None:
    it.handle(*(Observed(c, Snapshot(it.now, SIZE, SIZE, busy)) for c in clusters))


def submit(it: Bench, size: int = 1, **more: object) -> None:
    new = NewJob("u", "j", Request((size,)), 600, home=0, **more)  # type: ignore[arg-type]
    it.handle(*[SubmitJob(new) for _ in JOBS])


def lost(it: Bench) -> None:
    """A cluster does not answer for long, and its queue is moved."""
    submit(it)
    it.handle(ClusterUnreachable(0, "gone"))
    it.ticks(it.settings.move_after - 1.0)
    look(it, clusters=(1,))
    it.now += 1.0


def nodes(it: Bench) -> None:
    """A poll shows other nodes."""
    thin = NodeKind(5, count=4)
    submit(it, 4, shape=Shape(2))
    it.handle(Observed(0, Snapshot(it.now, SIZE, SIZE, SIZE, nodes=(thin,))))


def links(it: Bench) -> None:
    """Links between clusters are measured anew."""
    submit(it, max_latency=1.0)
    it.handle(TellLinks((Link(("a", "b"), 0.5, 1.0, it.now),)))


@pytest.mark.parametrize("happens", [lost, nodes, links])
def test_one_of_many_that_cannot_join_its_queue_anew_fails_alone(
    it: Bench, monkeypatch: pytest.MonkeyPatch, happens: Callable[[Bench], None]
) -> None:
    joined: list[int] = []
    real = Queues.join

    def join(self: Queues, job: Job, now: float) -> None:
        joined.append(job.id)
        if job.id == BAD and joined.count(BAD) == 2:  # not when it is submitted
            raise Broken
        real(self, job, now)

    monkeypatch.setattr(Queues, "join", join)
    happens(it)
    while (due := it.broker.next_time()) is not None and due <= it.now:
        it.handle(Tick())
    assert [n for n in joined[len(JOBS) :] if n in JOBS] == JOBS
    only_the_bad_one_has_failed(it)


def test_one_that_a_pass_cannot_start_fails_alone(
    it: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = HeldBack.beyond

    def beyond(self: HeldBack, job: Job, *more: object) -> object:
        if job.id == BAD:
            raise Broken
        return real(self, job, *more)  # type: ignore[arg-type]

    submit(it)
    monkeypatch.setattr(HeldBack, "beyond", beyond)
    look(it, busy=0)
    only_the_bad_one_has_failed(it)
    assert {job.state.value for job in it.broker.view.jobs.values()} == {"SUBMITTING"}


def limited(it: Bench) -> None:
    """Jobs that waited for a limit are within it again."""
    it.broker.limit(ResourceLimits(ResourceLimit(processors=1)))
    submit(it)
    look(it, busy=0)
    it.broker.limit(ResourceLimits())


def other_nodes(it: Bench) -> None:
    """Jobs step back, since none of the idle nodes has room for their tasks."""
    for cluster in (0, 1):
        seen = Snapshot(
            it.now, SIZE, SIZE, 4, nodes=(NodeKind(5, count=4),), idle=(NodeKind(4, count=4),)
        )
        it.handle(Observed(cluster, seen))
    new = NewJob("u", "j", Request((5, 5)), 600, home=0, shape=Shape(5))
    for number in JOBS:
        it.broker.handle(SubmitJob(new), it.now)
        assert it.broker.view.jobs[number].state is JobState.QUEUED


@pytest.mark.parametrize("happens", [limited, other_nodes])
def test_one_that_cannot_go_back_to_its_queue_fails_alone(
    it: Bench, monkeypatch: pytest.MonkeyPatch, happens: Callable[[Bench], None]
) -> None:
    happens(it)
    joined: list[int] = []
    real = Queues.join

    def join(self: Queues, job: Job, now: float) -> None:
        joined.append(job.id)
        if job.id == BAD:
            raise Broken
        real(self, job, now)

    monkeypatch.setattr(Queues, "join", join)
    it.handle(Tick())
    assert joined.index(BAD) < joined.index(BAD + 1)
    only_the_bad_one_has_failed(it)


def only_the_bad_one_has_failed(it: Bench) -> None:
    assert it.contained is not None
    assert [(mishap.job, type(mishap.error)) for mishap in it.contained] == [(BAD, Broken)]
    assert list(it.broker.view.jobs) == [n for n in JOBS if n != BAD]
    (row,) = it.store.jobs.rows(ids=[BAD])
    assert row["state"] == "FAILED" and "an error in it (Broken)" in row["reason"]
