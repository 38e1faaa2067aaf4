"""The policies by name, and what a scheduler refuses."""

import pytest

from metabroker.policy import (
    POLICIES,
    RANDOMISED,
    Context,
    Options,
    Request,
    SchedulerView,
    make,
    worst_fit,
)
from metabroker.policy.gs import GlobalScheduler
from metabroker.policy.ls import RandomLocalSchedulers
from tests.policy.hand import Coin, Hand


def test_the_names() -> None:
    families = {name.split("-")[0] for name in POLICIES}
    assert families == {"GS", "LS", "GP", "LP", "EQ", "LQ", "FCFS", "FPFS"}
    assert len(POLICIES) == 15
    assert set(POLICIES) > RANDOMISED


@pytest.mark.parametrize("policy", POLICIES)
def test_every_name_makes_a_scheduler_with_nobody_waiting(policy: str) -> None:
    scheduler = make(policy, 3, rng=Coin())
    assert scheduler.clusters == 3
    assert set(SchedulerView(scheduler).waiting().values()) == {0}
    assert scheduler.run([9, 9, 9], 0.0) == []
    scheduler.depart()
    assert scheduler.run([9, 9, 9], 0.0) == []


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("lp-gf", "LP-GF"), ("LS", "LS-OR"), ("EQ_RD", "EQ-RD"), ("FCSF", "FCFS"), ("lq2", "LQ")],
)
def test_an_unknown_policy_is_refused_with_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}'; the nearest is {nearest}"):
        make(name, 3)


def test_an_unknown_placement_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="'worstfit'; the nearest is worst-fit"):
        make("GS", 3, placement="worstfit")


def test_an_unknown_discipline_is_refused() -> None:
    with pytest.raises(ValueError, match="'LIFO'"):
        make("GS", 3, discipline="LIFO")


def test_a_discipline_that_contradicts_the_policy_is_refused() -> None:
    assert make("FPFS", 3, discipline="FPFS")
    with pytest.raises(ValueError, match="FCFS has the discipline FCFS, not FPFS"):
        make("FCFS", 3, discipline="FPFS")


@pytest.mark.parametrize("policy", sorted(RANDOMISED))
def test_a_randomised_policy_needs_a_source_of_randomness(policy: str) -> None:
    with pytest.raises(ValueError, match="source of randomness"):
        make(policy, 3)


@pytest.mark.parametrize("name", ["ls_do", "gp", "lq", "ties"])
def test_an_unknown_reading_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is 'x'; it can be .* or "):
        Options(**{name: "x"})


def test_random_ties_are_an_option_of_worst_fit() -> None:
    ties = Options(ties="random")
    # The shuffle swaps 2 with 0: cluster 2 is looked at first.
    hand = Hand("GS", [5, 5, 5], options=ties, rng=Coin(0, 1))
    hand.submit("a", 1)
    assert hand.placements["a"] == (2,)
    with pytest.raises(ValueError, match="need a source of randomness"):
        make("GS", 3, options=ties)
    with pytest.raises(ValueError, match="not of worst-fit-reuse"):
        make("FCFS", 3, options=ties, rng=Coin())


def test_a_system_has_clusters() -> None:
    with pytest.raises(ValueError, match="at least one cluster, not 0"):
        make("GS", 0)


def test_the_classes_can_be_used_directly() -> None:
    assert SchedulerView(GlobalScheduler(Context(2, worst_fit))).queues == (2,)
    assert SchedulerView(RandomLocalSchedulers(Context(2, worst_fit, rng=Coin()))).queues == (0, 1)


def test_a_key_waits_once() -> None:
    scheduler = make("GS", 2)
    scheduler.arrive(1, Request((1,)), 2, 0.0)
    with pytest.raises(ValueError, match="job 1 is already waiting"):
        scheduler.arrive(1, Request((1,)), 2, 0.0)


@pytest.mark.parametrize(("policy", "queue"), [("GS", 0), ("LS-OR", 2), ("GP", 3), ("GP", -1)])
def test_a_queue_that_the_policy_does_not_have_is_refused(policy: str, queue: int) -> None:
    with pytest.raises(KeyError):
        make(policy, 2).arrive(1, Request((1,)), queue, 0.0)


def test_an_ordered_request_for_an_unknown_cluster_is_refused() -> None:
    with pytest.raises(ValueError, match="no cluster has the index 2"):
        make("GS", 2).arrive(1, Request((1, 1), (0, 2)), 2, 0.0)


def test_a_job_with_an_old_seq_takes_its_old_place_and_is_tried_if_it_is_the_first() -> None:
    scheduler = make("GS", 1)
    for key in range(3):
        scheduler.arrive(key, Request((9,)), 1, 0.0, seq=key * 10)
    assert scheduler.run([8], 0.0) == []
    scheduler.arrive(3, Request((1,)), 1, 0.0, seq=5)
    assert list(SchedulerView(scheduler).keys(1)) == [0, 3, 1, 2]
    assert scheduler.run([8], 0.0) == []
    scheduler.arrive(4, Request((1,)), 1, 0.0, seq=-1)
    assert scheduler.run([8], 0.0) == [(4, (0,))]
    scheduler.arrive(5, Request((1,)), 1, 0.0)
    assert SchedulerView(scheduler).seq(5) == 21


def test_what_could_ever_run_depends_on_the_queue() -> None:
    scheduler = make("LP-GF", 2)
    assert scheduler.ever_fits(Request((8,)), 0, [8, 16])
    assert not scheduler.ever_fits(Request((9,)), 0, [8, 16])
    assert scheduler.ever_fits(Request((9,)), 2, [8, 16])
    assert scheduler.ever_fits(Request((16, 8)), 2, [8, 16])
    assert not scheduler.ever_fits(Request((9, 9)), 2, [8, 16])
    assert scheduler.ever_fits(Request((16,), (1,)), 0, [8, 16])
