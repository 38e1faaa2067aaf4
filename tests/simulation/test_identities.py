"""Identities that hold bit for bit, through the engine, with the same stream of jobs.

BE03 3.2.1-2: with only multi-component jobs GP, LP, EQ and LQ become GS; with only single-component
jobs they become LS (and its variations are the same).
"""

import pytest

from metabroker.policy import Planner
from metabroker.policy.easy import Easy
from metabroker.simulation import Finished
from tests.policy.loop import Arrival, schedule
from tests.simulation.playing import new, play, stream
from tests.simulation.traces import small

LS = ["LS-OR", "LS-RD", "LS-RO", "LS-DO"]
TWO_LEVELS = ["GP", "LP-LF", "LP-GF", "LP-RD", "EQ-LF", "EQ-GF", "EQ-RD", "LQ"]
SYSTEM = [32] * 4


@pytest.mark.parametrize("order", ["batch", "pyss"])
@pytest.mark.parametrize("policy", TWO_LEVELS)
def test_only_multi_component_jobs_make_it_gs(policy: str, order: str) -> None:
    jobs = stream(1500, (0, 50, 50, 0))
    assert play(policy, jobs, SYSTEM, order) == play("GS", jobs, SYSTEM, order)


@pytest.mark.parametrize("policy", LS[1:] + TWO_LEVELS)
def test_only_single_component_jobs_make_it_ls(policy: str) -> None:
    jobs = stream(1500, (100, 0, 0, 0))
    assert play(policy, jobs, SYSTEM) == play("LS-OR", jobs, SYSTEM)


@pytest.mark.parametrize("policy", ["GS", "FPFS", *LS, *TWO_LEVELS])
def test_the_engine_plays_as_the_plain_loop_does(policy: str) -> None:
    """It tells a policy less (nothing while nobody waits), and the schedule is the same."""
    jobs = stream(2000, utilization=0.65)
    arrivals = [Arrival(job.submit, job.request, job.local, job.run_time) for job in jobs]
    scheduler = new(policy, SYSTEM)
    assert not isinstance(scheduler, Planner)
    expected = schedule(scheduler, arrivals)
    assert [(job[6], job[4]) for job in play(policy, jobs, SYSTEM)] == expected


@pytest.mark.parametrize("order", ["batch", "pyss"])
def test_easy_over_clusters_is_easy_on_one(order: str) -> None:
    jobs, _ = small()
    assert play(Easy([100]), jobs, [100], order) == play("EASY", jobs, [100], order)


def test_job_sharing_and_multi_site_on_one_machine_are_easy() -> None:
    jobs, _ = small()
    easy = play("EASY", jobs, [100])
    assert play("JOB-SHARING", jobs, [100]) == easy
    # Multi-site is not: a job may surpass the queue at its submission.
    assert play("MULTI-SITE", jobs, [100]) != easy


def test_afcfs_is_fpfs_on_gangs() -> None:
    jobs, _ = small()
    assert _starts(play("AFCFS", jobs, [100])) == _starts(play("FPFS", jobs, [100]))


@pytest.mark.parametrize("policy", ["EASY", "CONSERVATIVE", "FCFS"])
def test_without_a_queue_all_are_alike(policy: str) -> None:
    jobs = stream(500, (100,), utilization=0.2)
    assert _starts(play(policy, jobs, [512])) == [job.submit for job in jobs]


def _starts(done: list[Finished]) -> list[float]:
    return [job[6] for job in done]
