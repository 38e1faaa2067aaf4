"""Plans in virtual time: co-allocated jobs that get a time in clusters with local users."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from metabroker.policy import make
from metabroker.simulation import Finished, SimJob
from metabroker.simulation.local_users import Line, SharedCluster
from metabroker.simulation.planned import Plan, PlanFigures
from metabroker.simulation.shared_engine import simulate_shared
from tests.simulation.test_local_users import job

HOUR = 3600.0
WHOLE = Plan(share=1.0)


def played(
    jobs: Iterable[SimJob],
    clusters: list[SharedCluster],
    plan: Plan | None = WHOLE,
    line: Line | None = None,
    policy: str = "FPFS",
) -> tuple[list[Finished], list[Finished], PlanFigures]:
    """The broker's jobs and those of local users in the order of their submission."""
    ours: list[Finished] = []
    local: list[Finished] = []
    scheduler = make(policy, len(clusters))
    figures = simulate_shared(scheduler, jobs, clusters, ours.extend, local.extend, line, plan)
    return (
        sorted(ours, key=lambda done: done.key), sorted(local, key=lambda done: -done.key), figures
    )  # fmt: skip


def full(*more: SimJob) -> list[SharedCluster]:
    """Two clusters of 10: local jobs hold all of them, by halves, until 100 and 200 minutes, and
    as many wait; and these."""
    minutes = 60.0
    local = [
        job(0, 5, 100 * minutes), job(0, 5, 200 * minutes), job(1, 5, 100 * minutes),
        job(1, 5, 50 * minutes), *more, job(5000, 1, 1),
    ]  # fmt: skip
    return [SharedCluster(10, "EASY", local) for _ in range(2)]


def test_a_job_gets_the_time_that_the_clusters_own_queues_would_give_it() -> None:
    """Behind the jobs that wait there: 5 run from 100 to 200 minutes, 5 from 200 to 250; from 200
    on 5 are left."""
    ours, local, figures = played([job(60, (5, 5), HOUR), job(5000, 1, 1)], full())
    assert ours[0].start == 200 * 60.0 and figures.planned == 1 and figures.late == 0
    assert sorted(done.start for done in local[:8]) == [0, 0, 0, 0, 6000, 6000, 12000, 12000]


def test_without_plans_it_waits_until_all_is_idle_at_one_instant() -> None:
    """As long as a small job always comes, that is when nobody comes any more."""
    steady = [job(t * 600.0, 6, HOUR) for t in range(100)]
    clusters = [SharedCluster(10, "EASY", steady), SharedCluster(10, "EASY", steady)]
    jobs = [job(700, (8, 8), HOUR), job(90 * 600, 1, 1)]
    (first, _), _, figures = played(jobs, clusters)
    (other, _), _, none = played(jobs, clusters, None)
    assert first.start < 10 * HOUR < other.start
    assert figures.planned == 1 and none == PlanFigures()


def test_it_starts_earlier_where_all_is_idle_before() -> None:
    """The jobs that run end long before their limits."""
    local = [job(0, 10, 600)._replace(estimate=10 * HOUR), job(1, 1, 60)]
    clusters = [SharedCluster(10, "EASY", local) for _ in range(2)]
    ours, _, figures = played([job(60, (5, 5), HOUR), job(2000, 1, 1)], clusters)
    assert ours[0].start == 600 and figures.at_once == 1


def test_it_is_told_an_earlier_time_when_much_ends_before_its_limit() -> None:
    local = [
        job(0, 10, 600)._replace(estimate=10 * HOUR), job(1, 10, 2 * HOUR), job(20000, 1, 1)
    ]  # fmt: skip
    clusters = [SharedCluster(10, "EASY", local) for _ in range(2)]
    ours, _, figures = played([job(60, (5, 5), HOUR), job(25000, 1, 1)], clusters)
    assert ours[0].start == 600 + 2 * HOUR and figures.moved >= 1


def test_plans_hold_no_more_than_their_share_except_for_one_alone() -> None:
    """A local job takes what is not kept for the second until the first begins."""
    local = [job(0, 10, 2 * HOUR), job(200, 6, 600), job(5000, 1, 1)]
    clusters = [SharedCluster(10, "EASY", local) for _ in range(2)]
    jobs = [job(60, (4, 4), HOUR), job(61, (4, 4), HOUR), job(9000, 1, 1)]
    starts = [
        [done.start for done in played(jobs, clusters, Plan(share=share))[0]]
        for share in (1.0, 0.5, 0.1)
    ]
    assert [first for first, _, _ in starts] == [2 * HOUR] * 3
    assert [second for _, second, _ in starts] == [2 * HOUR, 2 * HOUR + 600, 2 * HOUR + 600]


def test_no_more_of_a_queue_are_planned_than_may_be() -> None:
    jobs = [job(60 + n, (2, 2), HOUR) for n in range(3)] + [job(15000, 1, 1)]
    for most in (1, 2, 3):
        _, _, figures = played(jobs, full(), Plan(jobs=most, share=1.0))
        assert figures.planned == most


def test_nobody_is_planned_further_ahead_than_that() -> None:
    jobs = [job(60 + n, (2, 2), HOUR) for n in range(3)] + [job(15000, 1, 1)]
    planned = [played(jobs, full(), Plan(ahead=h * HOUR))[2].planned for h in (1, 24)]
    assert planned[0] == 0 < planned[1]


@pytest.mark.parametrize(
    ("policy", "line", "scheduler"),
    [
        ("GS", None, "EASY"),
        ("LS-DO", Line(8, 2), "EASY"),
        ("LP-GF", None, "FCFS"),
        ("FPFS", Line(8, 2), "FCFS"),
    ],
)
def test_all_jobs_run_once_and_no_processor_twice(
    policy: str, line: Line | None, scheduler: str
) -> None:
    """Any mix of jobs, exact estimates and others; the engine refuses what is overbooked."""
    rng = random.Random(f"{policy}{scheduler}{line}")

    def drawn(at: float, size: int | tuple[int, ...]) -> SimJob:
        run = rng.choice((60.0, 600.0, HOUR, 2 * HOUR))
        return job(at, size, run)._replace(estimate=run * rng.choice((1, 1, 3)), local=0)

    def times(count: int) -> list[float]:
        return sorted(rng.uniform(0, 40 * HOUR) for _ in range(count))

    clusters = []
    for size in (10, 16, 12):
        users = [drawn(t, rng.randint(1, 6)) for t in times(120)]
        clusters.append(SharedCluster(size, scheduler, users))
    sizes: list[int | tuple[int, ...]] = [(4, 4), (8, 5, 3), (6, 6), 7, 3]
    jobs = [drawn(t, rng.choice(sizes)) for t in times(80)]
    jobs = [each._replace(local=n % 3) for n, each in enumerate(jobs)]
    ours, local, figures = played(jobs, clusters, Plan(share=0.5, again=1800.0), line, policy)
    assert [done.key for done in ours] == list(range(80))
    assert len({done.key for done in local}) == len(local)
    assert figures.planned > 5 and figures.late == 0 and figures.area > 0


def test_a_job_that_outlives_its_estimate_makes_a_plan_late_and_loses_nothing() -> None:
    local = [job(0, 10, 2 * HOUR)._replace(estimate=HOUR), job(1, 1, 60), job(9000, 1, 1)]
    clusters = [SharedCluster(10, "EASY", local) for _ in range(2)]
    ours, _, figures = played([job(60, (5, 5), HOUR), job(9000, 1, 1)], clusters)
    assert ours[0].start == 2 * HOUR and figures.late == 1


def test_what_stands_idle_for_a_plan_is_counted() -> None:
    """From 60 s on 5 of each cluster wait for 100 minutes, for a local job would run beyond it."""
    early = [job(0, 5, 100 * 60.0), job(5, 5, 60.0), job(50, 5, 101 * 60.0)]
    clusters = [SharedCluster(10, "EASY", early) for _ in range(2)]
    plan = Plan(share=1.0, again=1.0)
    _, _, figures = played([job(10, (10, 10), HOUR), job(9000, 1, 1)], clusters, plan)
    assert figures.idle == 2 * 5 * (6000 - 65) and figures.area == 20 * HOUR
