"""Where jobs are put by where their files lie, and what their history says of that."""

from __future__ import annotations

from typing import Any

import pytest

from metabroker.broker.events import Observed, SubmitJob, TellLinks
from metabroker.broker.job import NewJob, Split
from metabroker.broker.links import Link
from metabroker.broker.observation import Snapshot
from metabroker.policy import BACKFILLING, POLICIES, SPLITTING, Request
from metabroker.submission.inputs import Inputs

from .bench import Bench

SIZES = {"delft": 64, "leiden": 32, "lab": 16}
IN_LAB = Inputs(0, ((10**10, ("lab",)),))
# Those that split jobs have a placement of their own.
ALL = [name for name in (*POLICIES, *BACKFILLING) if name not in SPLITTING]


def bench(policy: str, placement: str | None) -> Bench:
    made = Bench(SIZES, policy=policy, placement=placement)
    look(made, 0, 0, 0)
    return made


def look(bench: Bench, *others: int) -> None:
    """All clusters show so many processors of others."""
    bench.now += 5
    each = enumerate(zip(SIZES.values(), others, strict=True))
    bench.handle(*(Observed(c, Snapshot(bench.now, n, n, used)) for c, (n, used) in each))


def job(*sizes: int, inputs: Inputs = IN_LAB, **given: Any) -> SubmitJob:
    return SubmitJob(NewJob("anna", "job", Request(sizes), 600, inputs=inputs, **given))


def where(bench: Bench, number: int) -> list[int]:
    return [part.cluster for part in bench.broker.view.jobs[number].components]


@pytest.mark.parametrize("placement", ["close-to-files", "close-to-files-reuse"])
@pytest.mark.parametrize("policy", ALL)
def test_under_every_policy_a_job_goes_to_its_files(policy: str, placement: str) -> None:
    made = bench(policy, placement)
    made.handle(job(8))
    assert where(made, 1) == [2]
    made.close()


@pytest.mark.parametrize("placement", [None, "worst-fit", "worst-fit-reuse"])
@pytest.mark.parametrize("policy", ALL)
def test_unless_it_is_asked_for_files_change_nothing(policy: str, placement: str | None) -> None:
    """The very same request is asked of the policy, in the same queue."""
    made = bench(policy, placement)
    made.handle(job(8), job(8, inputs=Inputs()))
    first, second = made.broker.view.jobs[1], made.broker.view.jobs[2]
    asked = made.broker._queues.request_of(first)
    assert asked is first.request and not asked.costs
    assert made.broker._queues.queue_of(first) == made.broker._queues.queue_of(second)
    made.close()


def test_a_job_that_the_policy_splits_goes_by_the_fewest_clusters_wherever_its_files_lie() -> None:
    made = bench("MULTI-SITE", None)
    made.handle(job(80, split=Split(len(SIZES))))
    assert where(made, 1) == [0, 1]
    made.close()


def test_components_go_to_the_files_first_and_then_where_these_come_soonest() -> None:
    made = bench("GS", "close-to-files")
    made.handle(TellLinks((Link(("lab", "leiden"), 1.0, 1000.0, 1.0),)))
    made.handle(job(4, 12))
    assert where(made, 1) == [1, 2]
    made.close()


def test_a_full_cluster_with_the_files_keeps_no_job_waiting() -> None:
    made = bench("LP-GF", "close-to-files")
    look(made, 0, 0, 16)
    made.handle(job(8))
    assert where(made, 1) == [0]
    made.close()


def test_a_waiting_job_goes_by_links_that_were_measured_since_also_after_a_restart() -> None:
    made = bench("GS", "close-to-files")
    look(made, 64, 32, 16)
    made.handle(job(8))
    made.handle(TellLinks((Link(("lab", "leiden"), 1.0, 1000.0, 1.0),)))
    made.restart()
    made.handle(TellLinks((Link(("lab", "leiden"), 1.0, 1000.0, 1.0),)))
    look(made, 0, 0, 16)
    assert where(made, 1) == [1]
    assert made.broker.view.jobs[1].inputs == IN_LAB
    made.close()


def test_the_history_says_how_long_the_files_take_to_come() -> None:
    made = bench("GS", "close-to-files")
    made.handle(job(8), job(32), job(8, inputs=Inputs()))
    assert [
        event["detail"].get("files_in")
        for number in (1, 2, 3)
        for event in made.store.jobs.events(number)
        if event["what"] == "placed"
    ] == [0.0, 100.0, None]
    made.close()
