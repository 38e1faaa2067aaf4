"""100,000 jobs waiting over 20 clusters: a pass costs what it costs with 1,000."""

import gc
import sys
import time
from collections.abc import Callable
from random import Random
from types import FrameType

import pytest

from metabroker.policy import Aging, Request, Scheduler, SchedulerView, make

CLUSTERS = 20


def loaded(policy: str, waiting: int, aging: Aging | None) -> Scheduler:
    """Many waiting jobs, of which 2 processors let exactly the next of a queue start."""
    scheduler = make(policy, CLUSTERS, aging=aging)
    request = Request((2,))
    for key in range(waiting):
        local = 3 if key % 10 else key // 10 % CLUSTERS
        scheduler.arrive(key, request, scheduler.queue_of(request, local), 0.0)
    scheduler.depart()
    scheduler.run([0] * CLUSTERS, 0.0)
    return scheduler


def one_departure(scheduler: Scheduler) -> None:
    idle = [0] * CLUSTERS
    idle[3] = 2
    scheduler.depart([3])
    assert len(scheduler.run(idle, 1.0)) == 1


def calls(action: Callable[[], None]) -> int:
    """How many functions are called, builtin ones included."""
    count = 0

    def profile(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    gc.disable()  # what it calls is counted too
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def seconds(scheduler: Scheduler) -> float:
    best = float("inf")
    for _ in range(200):
        begin = time.perf_counter()
        one_departure(scheduler)
        best = min(best, time.perf_counter() - begin)
    return best


@pytest.mark.parametrize("aging", [None, Aging(overtaken=20)])
@pytest.mark.parametrize("policy", ["FCFS", "FPFS", "LS-DO", "LP-GF"])
def test_a_pass_does_not_cost_more_with_more_jobs_waiting(policy: str, aging: Aging | None) -> None:
    few, many = (loaded(policy, number, aging) for number in (1_000, 100_000))
    for _ in range(30):  # so that the bound of aging is reached in both
        one_departure(few)
        one_departure(many)
    assert calls(lambda: one_departure(many)) == calls(lambda: one_departure(few))
    # A look at every job would take 100 times as long; a busy machine must not fail the test.
    assert seconds(many) < 10 * seconds(few)


def test_a_pass_does_not_cost_more_where_very_many_wait_for_a_cluster_that_is_away() -> None:
    """They have waited for so long that none may be overtaken, were they not set aside."""

    def a_pass(scheduler: Scheduler) -> Callable[[], None]:
        key = len(scheduler)

        def passed() -> None:
            scheduler.arrive(key, Request((2,)), 2, 100.0)
            assert not scheduler.run([0, 0], 100.0, [0, 2])
            assert not SchedulerView(scheduler).why(key, [0, 0], 100.0, [0, 2]).protected

        return passed

    costs = []
    for number in (1_000, 20_000):
        scheduler = make("GS", 2, aging=Aging(overtaken=20, wait=50))
        for key in range(number):
            scheduler.arrive(key, Request((4,)), 2, 0.0)
        scheduler.run([0, 0], 60.0, [0, 2])
        for _ in range(2):  # who is not set aside is found out once
            a_pass(scheduler)()
        costs.append(calls(a_pass(scheduler)))
    assert costs[0] == costs[1]


def test_cancelling_most_of_a_long_queue_is_cheap_and_leaves_the_rest() -> None:
    scheduler = loaded("FCFS", 100_000, None)
    keys = list(range(100_000))
    Random(4).shuffle(keys)
    kept = sorted(keys[:5])
    begin = time.perf_counter()
    for key in keys[5:]:
        scheduler.remove(key)
    assert time.perf_counter() - begin < 5.0
    assert list(SchedulerView(scheduler).keys(CLUSTERS)) == kept
