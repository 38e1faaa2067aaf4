"""After a start nothing is decided before the clusters were held against the store once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metabroker.broker import tokens
from metabroker.broker.core import Broker
from metabroker.broker.effects import Clean, CleanStray, Effect, Reserve, Submit
from metabroker.broker.events import CancelJob, ClusterUnreachable, Observed, SubmitJob, Tick
from metabroker.broker.job import NewJob
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref
from metabroker.policy import Request

from .bench import INSTANCE, Bench

CLUSTERS = {"delft": 16, "leiden": 16, "lab": 16}


class Started:
    """A broker that has just started: job 1 is reserving in delft and leiden, job 2 waits."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        bench.handle(*(self.poll(c) for c in range(3)))
        bench.handle(SubmitJob(NewJob("anna", "job", Request((16, 16), (0, 1)), 600)))
        bench.handle(SubmitJob(NewJob("anna", "job", Request((16,), (0,)), 600, local=0)))
        bench.now += 100
        self.broker: Broker = bench.restored(polled=False)
        self.told: list[Effect] = []

    def poll(self, cluster: int, *shown: Ref) -> Observed:
        jobs = {
            tokens.make(INSTANCE, ref): NativeJob("7", 1.0, NativeState.RUNNING, "RUNNING", 16)
            for ref in shown
        }
        return Observed(cluster, Snapshot(self.bench.now, 16, 16, 0, jobs=jobs))

    def handle(self, *events: object) -> list[Effect]:
        for event in events:
            self.broker.handle(event, self.bench.now)  # type: ignore[arg-type]
        self.broker.schedule(self.bench.now)
        ready = self.broker.take()
        for mishap in ready.mishaps:
            if not self.broker.view.behind:
                raise mishap.error
        return [e for e in ready.effects if isinstance(e, Reserve | Submit | Clean | CleanStray)]


@pytest.fixture
def started() -> Iterator[Started]:
    bench = Bench(CLUSTERS)
    yield Started(bench)
    bench.close()


def test_what_is_pending_is_handed_out_when_all_have_been_seen(started: Started) -> None:
    stray = Ref(1, 1, 7)
    assert not started.handle(started.poll(0, stray), started.poll(1))
    assert started.broker.view.starting
    effects = started.handle(started.poll(2))
    assert [(type(e), e.cluster) for e in effects] == [(Reserve, 0), (Reserve, 1)]
    assert all(isinstance(e, Reserve) and e.again for e in effects)
    (removed,) = started.handle(started.poll(0, stray))
    assert isinstance(removed, CleanStray)


def test_what_the_last_shows_comes_before_anything_is_done(started: Started) -> None:
    assert not started.handle(started.poll(0), started.poll(1))
    assert not started.handle(started.poll(2, Ref(2, 1, 0)))
    assert "lab shows mb-abcdef01-2-1-0" in started.broker.view.behind


def test_one_that_does_not_answer_holds_nobody_up_and_is_sent_nothing(started: Started) -> None:
    (effect,) = started.handle(
        ClusterUnreachable(1, "no route"), started.poll(0), ClusterUnreachable(2, "no route")
    )
    assert (type(effect), effect.cluster) == (Reserve, 0)
    assert [e.cluster for e in started.handle(CancelJob(1, "anna"))] == [0], "to be cleaned"
    assert [(type(e), e.cluster) for e in started.handle(started.poll(1))] == [(Clean, 1)]


def test_one_that_hangs_is_not_waited_for_for_ever(started: Started) -> None:
    assert not started.handle(started.poll(0), started.poll(1))
    due = started.broker.next_time()
    assert due is not None
    while due is not None and due <= started.bench.now + started.broker.settings.stale_after:
        started.bench.now = max(started.bench.now, due)
        started.told += started.handle(Tick())
        if not started.broker.view.starting:
            break
        due = started.broker.next_time()
    assert [(type(e), e.cluster) for e in started.told] == [(Reserve, 0), (Reserve, 1)]
    job = started.broker.view.jobs[1]
    assert job.state is JobState.RESERVING, "the wait was not counted against it"
    assert job.deadline == started.bench.now + started.broker.settings.reserve_timeout
