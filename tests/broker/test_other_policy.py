"""A broker that is started with another policy than the jobs have come under that wait."""

from __future__ import annotations

import pytest

from metabroker.broker.events import Observed, SubmitJob
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Snapshot
from metabroker.broker.states import JobState
from metabroker.policy import Request

from .bench import Bench

SIZES = {"delft": 64, "leiden": 32}
POLICIES = ("GS", "LS-DO", "GP", "LP-GF", "EQ-RD", "LQ", "EASY", "MULTI-SITE")
WAITING = (
    Request((8,)),
    Request((8, 8)),
    Request((8,), (1,)),
    Request((4, 4), (1, 0)),
    Request((40,)),
)


def full(it: Bench, *, busy: bool) -> None:
    for cluster, size in enumerate(SIZES.values()):
        it.handle(Observed(cluster, Snapshot(it.now, size, size, size if busy else 0)))


@pytest.mark.parametrize("after", POLICIES)
@pytest.mark.parametrize("before", POLICIES)
def test_jobs_wait_in_queues_that_the_policy_has(before: str, after: str) -> None:
    it = Bench(SIZES, policy=before)
    try:
        full(it, busy=True)
        for request in WAITING:
            it.handle(SubmitJob(NewJob("u", "job", request, 600)))
        it.policy = after
        it.restart()
        scheduler = it.broker._queues.scheduler
        for job in it.broker.view.jobs.values():
            assert job.state is JobState.QUEUED
            assert scheduler.queue_of(job.request, job.queue) == job.queue
        full(it, busy=False)
        assert any(job.components for job in it.broker.view.jobs.values())
        it.restart()
    finally:
        it.close()
