"""Times that components' records tell: what cannot be is not believed, since a user wrote it."""

from __future__ import annotations

import pytest

from metabroker.broker.events import Cleaned, Ended, Observed, Started, SubmitJob, Submitted
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Snapshot
from metabroker.policy import Request

from .bench import Bench

YEAR_2105 = 4_260_000_000.0


def submitted(it: Bench) -> int:
    it.handle(Observed(0, Snapshot(it.now, 8, 8, 0, ours={})))
    it.handle(SubmitJob(NewJob("anna", "job", Request((1,)), 600)))
    (component,) = it.broker.view.jobs[it.broker.next_job - 1].components
    it.handle(Submitted(component.ref, "77"))
    it.ticks(10.0)
    return component.ref.job


@pytest.mark.parametrize(
    ("began", "ended"),
    [(YEAR_2105, YEAR_2105), (0.0, 0.0), (0.0, YEAR_2105), (YEAR_2105, 0.0), (5e-324, 1.0)],
)
def test_a_time_is_not_before_the_submission_and_not_to_come(began: float, ended: float) -> None:
    it = Bench({"delft": 8})
    job = submitted(it)
    (component,) = it.broker.view.jobs[job].components
    first = it.broker.view.jobs[job].submit_time
    it.handle(Started(component.ref, began, "n1"), Ended(component.ref, ended, 0))
    (row,) = it.store.jobs.attempt(job, 1)
    assert first <= row["start_time"] <= row["end_time"] <= it.now
    it.close()


@pytest.mark.parametrize("began", [YEAR_2105, 0.0])
def test_nor_are_those_that_are_found_when_the_last_of_it_is_removed(began: float) -> None:
    it = Bench({"delft": 8})
    job = submitted(it)
    (component,) = it.broker.view.jobs[job].components
    first = it.broker.view.jobs[job].submit_time
    it.handle(Ended(component.ref, it.now, 143, signalled=True))
    it.handle(Cleaned(component.ref, True, began, began, 143))
    (row,) = it.store.jobs.attempt(job, 1)
    assert first <= row["start_time"] <= row["end_time"] <= it.now
    it.close()
