"""The job mix, measured run times, batches and logs as workloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from metabroker.policy import Limits, Request, Sequential
from metabroker.simulation.workloads import runtimes
from metabroker.simulation.workloads.batch import alternating
from metabroker.simulation.workloads.distributions import shares
from metabroker.simulation.workloads.errors import WorkloadError
from metabroker.simulation.workloads.job_mix import JobMixStream
from metabroker.simulation.workloads.replay import Replay
from metabroker.simulation.workloads.runtimes import STAND_INS, Measured, Runtimes, admitted
from metabroker.traces.swf import SwfJob, Trace

CLUSTERS = (32, 32, 32, 32)


# --- the job mix (KH 2) ---------------------------------------------------------------------------


@pytest.mark.parametrize(("nmax", "part"), [(8, 0.5), (4, 0.375), (2, 0.25)])
def test_the_part_of_sequential_jobs(nmax: int, part: float) -> None:
    jobs = list(JobMixStream(nmax).jobs(1, 0, 100_000))
    sequential = [j for j in jobs if isinstance(j.request, Sequential)]
    assert len(sequential) / len(jobs) == pytest.approx(part, abs=0.005)
    gangs = [j.request.total for j in jobs if not isinstance(j.request, Sequential)]
    assert min(gangs) == 2 * nmax and max(gangs) == 128


def test_the_work_offered_is_the_same_for_every_mix() -> None:
    for nmax in (2, 4, 8):
        mix = JobMixStream(nmax)
        assert mix.utilization == pytest.approx(0.8894, abs=0.0001)
        jobs = list(mix.jobs(1, 0, 100_000))
        work = sum(j.request.total * j.run_time for j in jobs)
        assert work / jobs[-1].submit / 128 == pytest.approx(mix.utilization, rel=0.03)


def test_a_sequential_job_runs_its_tasks_one_after_another() -> None:
    eights = [
        j for j in JobMixStream(8).jobs(1, 0, 50_000) if j.request == Sequential((1,), tasks=8)
    ]
    assert all(j.request.total == 1 for j in eights)
    mean = sum(j.run_time for j in eights) / len(eights)
    assert mean == pytest.approx(8, rel=0.03)


def test_a_mix_that_cannot_be() -> None:
    for wrong in ({"processors": 100}, {"nmax": -1}, {"mean_service": 0}):
        with pytest.raises(ValueError):
            JobMixStream(**{"nmax": 8, **wrong})


# --- measured run times (BE07 5) ----------------------------------------------------------------


def time_of(application: str, total: int, components: int) -> float:
    return next(
        e.run_time for e in STAND_INS[application] if (e.total, e.components) == (total, components)
    )


def test_the_stand_in_agrees_with_what_the_paper_still_says() -> None:
    def speedup(components: int, low: int, high: int) -> float:
        return time_of("poisson", low, components) / time_of("poisson", high, components)

    assert speedup(1, 8, 32) == pytest.approx(3.45, abs=0.005)
    assert speedup(2, 8, 32) == pytest.approx(3.46, abs=0.005)
    assert speedup(4, 16, 32) == pytest.approx(1.74, abs=0.005)
    extensions = [
        e.run_time / time_of(name, e.total, 1)
        for name, table in STAND_INS.items()
        for e in table
        if any(o.total == e.total and o.components == 1 for o in table)
    ]
    assert max(extensions) == pytest.approx(1.23, abs=0.005)
    assert all(60 % e.total == 0 for e in STAND_INS["ensflow"])


@pytest.mark.parametrize(
    ("limits", "largest", "most"),
    [
        (Limits(components=1), 32, 1),
        (Limits(), 32, 4),
        (Limits(component=16), 16, 4),
        (Limits(component=16, components=2), 16, 2),
    ],
)
def test_coallocation_rules_admit_what_they_say(limits: Limits, largest: int, most: int) -> None:
    table = [e for name in STAND_INS for e in STAND_INS[name]]
    found = admitted(table, limits, CLUSTERS)
    assert max(max(e.sizes) for e in found) == largest
    assert max(len(e.sizes) for e in found) == most


def test_sizes_are_equally_likely_and_so_are_their_splits() -> None:
    table = (Measured("a", 8, 1, 1.0), Measured("a", 8, 2, 2.0), Measured("a", 16, 1, 3.0),
             Measured("b", 4, 1, 4.0))  # fmt: skip
    assert runtimes.weights(table) == [1 / 8, 1 / 8, 1 / 4, 1 / 2]
    assert runtimes.work(table) == 1 + 2 + 12 + 8
    jobs = list(Runtimes(table, shares([1, 1]), 2.0).jobs(1, 0, 40_000))
    assert sum(j.run_time == 4.0 for j in jobs) / len(jobs) == pytest.approx(0.5, abs=0.01)
    assert jobs[-1].submit == pytest.approx(20_000, rel=0.02)
    with pytest.raises(ValueError, match="no job is admitted"):
        Runtimes((), shares([1]), 1.0)


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("application,total,components,run_time\nsolver,9,2,12.5\n")
    (entry,) = runtimes.from_file(path)
    assert entry == Measured("solver", 9, 2, 12.5) and entry.sizes == (5, 4)
    path.write_text("application,total,components,run_time\nsolver,2,3,12.5\n")
    with pytest.raises(
        WorkloadError, match=r"times\.csv:2: components: 2 processors cannot form 3"
    ):
        runtimes.from_file(path)


# --- batches and logs ---------------------------------------------------------------------------


def test_a_batch_comes_all_at_once() -> None:
    one, other = Request((8, 8)), Request((4,), (1,))
    jobs = list(alternating([(one, 10.0), (other, 20.0)], 5).jobs())
    assert [j.request for j in jobs] == [one, other, one, other, one]
    assert {j.submit for j in jobs} == {0.0}


def trace(*jobs: tuple[float, int, int]) -> Trace:
    return Trace(
        "log",
        [
            SwfJob(i, at, -1, 60, -1, -1, -1, size, 90, -1, 1, 1, 1, 1, 1, partition, -1, -1)
            for i, (at, size, partition) in enumerate(jobs, 1)
        ],
    )


def test_an_extract_begins_at_its_first_job() -> None:
    log = trace((5, 1, 1), (7, 2, 1), (9, 3, 1), (20, 4, 1))
    jobs = list(Replay(log, first=2, last=3).jobs())
    assert [(j.submit, j.request.total, j.run_time, j.estimate) for j in jobs] == [
        (0, 2, 60, 90),
        (2, 3, 60, 90),
    ]
    with pytest.raises(ValueError, match="there are none"):
        Replay(log, first=5)


def test_wide_jobs_are_cut_into_parts() -> None:
    jobs = list(Replay(trace((0, 130, 1), (1, 64, 1)), max_size=64).jobs())
    assert [(j.submit, j.request.sizes) for j in jobs] == [
        (0, (64,)), (0, (64,)), (0, (2,)), (1, (64,)),
    ]  # fmt: skip


def test_sites() -> None:
    log = trace(*[(i, 1, p) for i, p in enumerate((2, 2, 1, -1, 3))])
    assert [j.local for j in Replay(log, sites=3).jobs()] == [0, 1, 2, 0, 1]
    assert [j.local for j in Replay(log, 3, assignment="partition").jobs()] == [1, 1, 0, 0, 2]
    assert [j.local for j in Replay(log, 3, assignment="first").jobs()] == [0] * 5
    with pytest.raises(ValueError, match="round-robin"):
        Replay(log, assignment="random")
