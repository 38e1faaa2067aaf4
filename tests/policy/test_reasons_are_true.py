"""What `why` and `preview` say is what then happens, under every policy and discipline."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from metabroker.policy import POLICIES, Reason, Request, Scheduler, SchedulerView, make

SIZES = [16, 12, 8]
WORLDS = [
    (policy, discipline, seed)
    for policy in POLICIES
    for discipline in (["FCFS", "FPFS"] if policy not in ("FCFS", "FPFS") else [policy])
    for seed in range(6)
]


def crowded(policy: str, discipline: str, seed: int) -> tuple[Scheduler, list[int], random.Random]:
    """A scheduler after a departure pass, with jobs that could not start."""
    dice = random.Random(seed)
    scheduler = make(policy, len(SIZES), discipline=discipline, rng=random.Random(seed))
    idle = [dice.randint(0, size) for size in SIZES]
    for key in range(1, 16):
        request = wanted(dice)
        queue = scheduler.queue_of(request, dice.randrange(len(SIZES)))
        scheduler.arrive(key, request, queue, float(key))
    scheduler.depart(range(len(SIZES)))
    scheduler.run(idle, 20.0, SIZES)
    return scheduler, idle, dice


def wanted(dice: random.Random) -> Request:
    """A request that fits if nothing runs."""
    if dice.random() < 0.5:
        return Request((dice.randint(1, 8),))
    if dice.random() < 0.3:
        return Request((dice.randint(1, 8), dice.randint(1, 8)), (0, 2))
    return Request((dice.randint(1, 8), dice.randint(1, 8)))


def fits(scheduler: Scheduler, key: int, idle: Sequence[int]) -> bool:
    """Whether the job's processors are idle where it may run."""
    entry = scheduler._waiting[key]
    return scheduler.ever_fits(entry[2], entry[4], idle)


@pytest.mark.parametrize(("policy", "discipline", "seed"), WORLDS)
def test_the_reason_is_why_the_job_did_not_start(policy: str, discipline: str, seed: int) -> None:
    scheduler, idle, _ = crowded(policy, discipline, seed)
    for queue in SchedulerView(scheduler).queues:
        for place, key in enumerate(SchedulerView(scheduler).keys(queue)):
            why = SchedulerView(scheduler).why(key, idle, 20.0, SIZES)
            assert why.position == place
            if why.reason is Reason.BEHIND:
                assert discipline == "FCFS" and place > 0
                assert why.blocker == next(SchedulerView(scheduler).keys(queue))
            elif why.reason is Reason.RULE:
                assert why.rule
            else:
                # After a pass nobody waits who could start, or whose turn it only is.
                assert why.reason is Reason.MISFIT, why
                assert not fits(scheduler, key, idle)


@pytest.mark.parametrize(("policy", "discipline", "seed"), WORLDS)
def test_a_preview_says_what_happens_to_the_job(policy: str, discipline: str, seed: int) -> None:
    scheduler, idle, dice = crowded(policy, discipline, seed)
    for key in range(100, 110):
        request = wanted(dice)
        queue = scheduler.queue_of(request, dice.randrange(len(SIZES)))
        told = SchedulerView(scheduler).preview(request, queue, idle, 21.0, SIZES)
        why = SchedulerView(scheduler).preview_why(request, queue, idle, 21.0, SIZES)
        assert (told is not None) == (why.reason is Reason.NEXT)
        scheduler.arrive(key, request, queue, 21.0)
        begun = dict(scheduler.run(idle, 21.0, SIZES))
        assert (key in begun) == (told is not None), why
        if told is not None and policy not in ("LS-RD", "LP-RD", "EQ-RD"):
            assert begun[key] == told[1]
