"""Exact identities between policies, and exact facts about every schedule, job by job.

What becomes of them with jobs of one kind alone is pinned through the engine
(`tests/simulation/test_identities.py`).
"""

from random import Random

import pytest

from metabroker.policy import POLICIES, Aging, make
from tests.policy.hand import Coin
from tests.policy.loop import schedule, stream


class Always(Coin):
    """A coin that may be thrown for ever."""

    def randrange(self, stop: int, /) -> int:
        return stop - 1


@pytest.mark.parametrize("policy", POLICIES)
def test_aging_that_never_binds_leaves_the_policy_bit_for_bit(policy: str) -> None:
    jobs = stream(600)
    plain = make(policy, 4, rng=Always())
    for aging in (Aging(), Aging(overtaken=10**9), Aging(wait=1e9)):
        assert schedule(make(policy, 4, aging=aging, rng=Always()), jobs) == schedule(plain, jobs)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_full_capacity_leaves_the_policy_bit_for_bit(policy: str) -> None:
    jobs = stream(500)
    known = make(policy, 4, rng=Always())
    assert known.run([32] * 4, 0.0, (32,) * 4) == []
    assert schedule(known, jobs) == schedule(make(policy, 4, rng=Always()), jobs)


def test_gs_with_worst_fit_with_reuse_is_dcs_fcfs() -> None:
    jobs = stream(600)
    gs = make("GS", 4, placement="worst-fit-reuse")
    assert schedule(gs, jobs) == schedule(make("FCFS", 4), jobs)


def test_gs_with_the_discipline_fpfs_and_reuse_is_dcs_fpfs() -> None:
    jobs = stream(600)
    gs = make("GS", 4, placement="worst-fit-reuse", discipline="FPFS")
    assert schedule(gs, jobs) == schedule(make("FPFS", 4), jobs)


@pytest.mark.parametrize("policy", ["GS", "LS-OR", "GP", "LP-GF", "EQ-LF", "LQ"])
def test_the_order_of_components_changes_no_start_time(policy: str) -> None:
    jobs = stream(600, largest=3)
    turned = [
        type(job)(job.time, type(job.request)(job.request.sizes[::-1]), job.local, job.service)
        for job in jobs
    ]
    times = [start for start, _ in schedule(make(policy, 4), jobs)]
    assert [start for start, _ in schedule(make(policy, 4), turned)] == times


def test_the_policies_are_not_all_the_same_on_mixed_jobs() -> None:
    jobs = stream(1500, (80, 10, 5, 5), load=0.9)
    schedules = {name: tuple(schedule(make(name, 4, rng=Random(1)), jobs)) for name in POLICIES}
    assert len(set(schedules.values())) == len(POLICIES)
