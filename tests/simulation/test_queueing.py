"""Queueing theory with exact answers (models, section 4); fixed seeds, 4 standard errors."""

from collections.abc import Iterable
from math import factorial, sqrt
from random import Random

import pytest

from metabroker.policy import Request
from metabroker.simulation import Finished, SimJob, simulate
from tests.simulation.playing import mean, new, play, stream, waits

RUNS, JOBS, WARM_UP = 10, 8000, 800


def erlang_c(servers: int, load: float) -> float:
    """The probability to wait in M/M/c with `load` Erlang."""
    top = load**servers / factorial(servers) * servers / (servers - load)
    return top / (sum(load**n / factorial(n) for n in range(servers)) + top)


def mean_wait(servers: int, utilization: float) -> float:
    """In M/M/c with mean service 1."""
    return erlang_c(servers, utilization * servers) / (servers * (1 - utilization))


def poisson(request: Request, gap: float, seed: int) -> Iterable[SimJob]:
    rng = Random(seed)
    now = 0.0
    for _ in range(JOBS):
        now += rng.expovariate(1 / gap)
        service = rng.expovariate(1)
        yield SimJob(now, request, 0, service, service)


def check(policy: str, request: Request, servers: int, processors: list[int]) -> None:
    """The mean wait of M/M/`servers` at utilization 0.7, by independent replications."""
    found = []
    for seed in range(RUNS):
        jobs = poisson(request, 1 / (0.7 * servers), seed)
        found.append(mean(waits(play(policy, jobs, processors))[WARM_UP:]))
    error = sqrt(sum((x - mean(found)) ** 2 for x in found) / (RUNS - 1) / RUNS)
    assert abs(mean(found) - mean_wait(servers, 0.7)) < 4 * error
    assert error < 0.1 * mean(found)


@pytest.mark.parametrize("policy", ["FCFS", "EASY", "AFCFS-BS", "CONSERVATIVE"])
def test_jobs_of_size_1_make_it_mmc(policy: str) -> None:
    check(policy, Request((1,)), 8, [8])


@pytest.mark.parametrize("policy", ["GS", "MULTI-SITE"])
def test_jobs_of_size_1_make_several_clusters_mmc(policy: str) -> None:
    check(policy, Request((1,)), 8, [5, 3])


@pytest.mark.parametrize("policy", ["GS", "LP-GF", "EASY"])
def test_jobs_of_the_whole_system_make_it_mm1(policy: str) -> None:
    check(policy, Request((32, 32, 32, 32)), 1, [32] * 4)


@pytest.mark.parametrize("policy", ["GS", "EQ-LF"])
def test_two_components_of_half_a_cluster_make_it_mm4(policy: str) -> None:
    check(policy, Request((16, 16)), 4, [32] * 4)


@pytest.mark.parametrize("policy", ["GS", "LS-DO", "GP", "LP-GF", "EQ-RD", "LQ", "FPFS", "EASY"])
def test_littles_law_and_no_more_processors_than_there_are(policy: str) -> None:
    """Exact for a run from empty to empty: the integral of the jobs there is the sum of times."""
    done: list[Finished] = []
    simulate(new(policy, [32] * 4), stream(3000), [32] * 4, done.extend)
    events: list[tuple[float, int, Finished]] = []
    for job in done:
        events += [(job[3].submit, 0, job), (job[6], 2, job), (job[0], 1, job)]
    events.sort(key=lambda event: event[:2])
    there, area, last, idle = 0, 0.0, 0.0, [32] * 4
    for time, kind, job in events:
        area += there * (time - last)
        last = time
        there += {0: 1, 1: -1, 2: 0}[kind]
        for cluster, size in zip(job[4], job[5], strict=True):
            idle[cluster] += {0: 0, 1: size, 2: -size}[kind]
        assert min(idle) >= 0
    assert idle == [32] * 4 and there == 0
    assert area == pytest.approx(sum(job[0] - job[3].submit for job in done), rel=1e-9)
