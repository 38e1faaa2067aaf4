"""Clusters that give processors by whole nodes only: what a job takes is rounded up."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.policy import Aging, Request, make, worst_fit
from metabroker.policy.registry import POLICIES

UNITS = (4, 1, 8)


def held(placement: tuple[int, ...], sizes: tuple[int, ...]) -> dict[int, int]:
    return {c: -(-n // UNITS[c]) * UNITS[c] for c, n in zip(placement, sizes, strict=True)}


@pytest.mark.parametrize("aging", [None, Aging(overtaken=2)])
@pytest.mark.parametrize("policy", [name for name in POLICIES if name not in ("FCFS", "FPFS")])
@given(
    st.lists(st.lists(st.integers(1, 12), min_size=1, max_size=3), min_size=1, max_size=12),
    st.lists(st.integers(0, 4), min_size=3, max_size=3),
)
def test_no_pass_starts_more_than_there_are_nodes_for(
    policy: str, aging: Aging | None, jobs: list[list[int]], nodes: list[int]
) -> None:
    scheduler = make(policy, 3, aging=aging, rng=random.Random(1))
    scheduler.give_whole(UNITS)
    requests = {key: Request(tuple(sizes)) for key, sizes in enumerate(jobs)}
    for key, request in requests.items():
        scheduler.arrive(key, request, scheduler.queue_of(request, key % 3), 0.0)
    idle = [count * unit for count, unit in zip(nodes, UNITS, strict=True)]
    left = list(idle)
    scheduler.depart()
    for key, placement in scheduler.run(idle, 0.0):
        for cluster, processors in held(placement, requests[key].sizes).items():
            left[cluster] -= processors
    assert min(left) >= 0
    assert idle == left, "the policy counts what is held"


def test_one_by_one_is_as_before() -> None:
    scheduler = make("GS", 2)
    scheduler.give_whole([1, 1])
    scheduler.arrive(1, Request((3,)), 2, 0.0)
    idle = [4, 4]
    assert scheduler.run(idle, 0.0) == [(1, worst_fit(Request((3,)), (4, 4)))]
    assert sorted(idle) == [1, 4]
