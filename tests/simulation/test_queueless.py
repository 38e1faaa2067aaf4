"""First Come First Served on one pool without events is the schedule that the engine makes."""

from random import Random

import pytest

from metabroker.policy import Context, PoolFcfs, Request, make
from metabroker.policy.gs import GlobalScheduler
from metabroker.policy.placement import worst_fit, worst_fit_reuse
from metabroker.simulation import Impossible, SimJob
from tests.simulation.playing import play
from tests.simulation.traces import CTC, small, trace


def test_the_registry_makes_it_on_one_cluster() -> None:
    assert type(make("FCFS", 1)) is PoolFcfs
    assert type(make("GS", 1)) is PoolFcfs
    assert type(make("GS", 1, discipline="FPFS")) is GlobalScheduler
    assert type(make("FCFS", 2)) is GlobalScheduler


@pytest.mark.parametrize("order", ["batch", "pyss"])
def test_on_the_first_jobs_of_kth(order: str) -> None:
    jobs, _ = small()
    assert play("GS", jobs, [100], order) == play(
        GlobalScheduler(Context(1, worst_fit)), jobs, [100], order
    )


def test_on_the_ctc_trace() -> None:
    jobs = trace(CTC)
    assert play("FCFS", jobs, [430]) == play(
        GlobalScheduler(Context(1, worst_fit_reuse)), jobs, [430]
    )


@pytest.mark.parametrize("seed", range(20))
def test_on_random_jobs_with_many_events_at_one_instant(seed: int) -> None:
    rng = Random(seed)
    now, jobs = -50.0, []
    for _ in range(300):
        now += rng.choice((0, 0, 1, 3))
        request = Request(tuple(rng.randint(1, 4) for _ in range(rng.choice((1, 1, 2)))))
        jobs.append(SimJob(now, request, 0, float(rng.randint(0, 6)), 0.0))
    plain = GlobalScheduler(Context(1, worst_fit_reuse))
    assert play("FCFS", jobs, [8]) == play(plain, jobs, [8])


@pytest.mark.parametrize("request_", [Request((9,)), Request((2, 2)), Request((1,), (1,))])
def test_what_could_never_run_is_named(request_: Request) -> None:
    jobs = [SimJob(0.0, Request((1,)), 0, 1.0, 1.0), SimJob(1.0, request_, 0, 1.0, 1.0)]
    with pytest.raises(Impossible, match="job 1"):
        play("GS", jobs, [8])
