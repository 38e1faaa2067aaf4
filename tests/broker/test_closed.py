"""Clusters that are closed to a job: they cannot be asked for all that it asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.broker.admission import Admission
from metabroker.broker.events import HoldJob, Observed, ReleaseJob, SubmitJob
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Snapshot
from metabroker.broker.rejected import Rejected
from metabroker.policy import Limits, Request, worst_fit
from metabroker.submission.model import Processors

from .bench import Bench

SIZES = {"delft": 64, "leiden": 32, "lab": 32}


def look(bench: Bench, cluster: int, others: int = 0) -> Observed:
    size = list(SIZES.values())[cluster]
    return Observed(cluster, Snapshot(bench.now, size, size, others))


def job(*sizes: int) -> NewJob:
    return NewJob("anna", "job", Request(sizes), 600, closed=frozenset({0}))


@pytest.mark.parametrize("policy", ["GS", "LS-OR", "LP-GF", "EQ-LF", "FCFS", "FPFS"])
def test_no_policy_puts_it_there_and_a_restart_changes_nothing(policy: str) -> None:
    bench = Bench(SIZES, policy=policy)
    bench.handle(look(bench, 0), look(bench, 1, 32), look(bench, 2, 32))
    bench.handle(SubmitJob(job(8)), SubmitJob(job(8)), SubmitJob(replace(job(8), hold=True)))
    bench.ticks(0)
    assert not any(each.components for each in bench.broker.view.jobs.values()), "delft is empty"
    bench.broker = bench.restored()
    bench.handle(look(bench, 0), look(bench, 1, 32), look(bench, 2, 32))
    bench.handle(HoldJob(1, "anna"), ReleaseJob(1, "anna"), ReleaseJob(3, "anna"))
    bench.handle(look(bench, 1), look(bench, 2))
    bench.ticks(0)
    jobs = bench.broker.view.jobs.values()
    assert {part.cluster for each in jobs for part in each.components} <= {1, 2}
    assert all(each.components for each in jobs)
    bench.close()


def test_what_only_a_closed_cluster_could_run_is_refused_at_once() -> None:
    open_to_all = Admission(tuple(SIZES), tuple(SIZES.values()), Limits(), worst_fit)
    closed = replace(open_to_all, closed=frozenset({0}))
    assert open_to_all.request(Processors(single=40))
    assert closed.request(Processors(single=32))
    with pytest.raises(Rejected, match="the request can never run") as caught:
        closed.request(Processors(single=40))
    assert "is 32 (processors: leiden 32, lab 32)" in caught.value.advice
    with pytest.raises(Rejected):
        closed.request(Processors(components=(16, 16, 16)))
