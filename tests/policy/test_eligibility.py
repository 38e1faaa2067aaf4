"""Jobs that cannot run with the clusters that can be reached step aside (reach.py)."""

import pytest

from metabroker.policy import Reason, Request, SchedulerView, make

from .hand import Hand

BOTH = (4, 4)


def test_a_job_for_a_cluster_that_is_down_does_not_block_its_queue() -> None:
    hand = Hand("FCFS", [4, 0])
    hand.arrive("there", 2, on=(1,))
    hand.arrive("here", 2)
    assert hand.run(capacity=(4, 0)) == ["here"]
    assert hand.view.aside() == [hand.key("there")]
    assert hand.view.waiting() == {2: 0}
    assert len(hand.scheduler) == 1


def test_it_takes_its_old_place_when_the_cluster_is_back() -> None:
    hand = Hand("FCFS", [0, 0])
    hand.arrive("first", 4)
    hand.arrive("there", 4, on=(1,))
    hand.arrive("last", 1)
    assert hand.run(capacity=(4, 0)) == []
    assert list(hand.view.keys(2)) == [hand.key("first"), hand.key("last")]
    hand.idle[:] = [4, 4]
    assert hand.run(capacity=BOTH) == ["first", "there"]


@pytest.mark.parametrize("discipline", ["FCFS", "FPFS"])
def test_a_change_that_moves_a_job_counts_as_a_departure(discipline: str) -> None:
    hand = Hand("GP", [4, 4], discipline=discipline)
    hand.submit("wide", 5, 4)
    hand.submit("local", 1, local=0)
    assert hand.run(capacity=(5, 4)) == []
    assert hand.run(capacity=(4, 4)) == ["local"]


def test_an_arrival_that_cannot_run_goes_aside_at_once() -> None:
    hand = Hand("GP", [4, 0])
    hand.run(capacity=(4, 0))
    hand.submit("wide", 1, 1)
    assert hand.view.waiting()[2] == 0
    assert hand.submit("local", 1, local=0) == ["local"]


def test_no_capacity_means_as_before() -> None:
    hand = Hand("FCFS", [4, 0])
    hand.arrive("there", 2, on=(1,))
    hand.run(capacity=(4, 0))
    hand.idle[1] = 4
    assert hand.departure() == []
    assert hand.run(capacity=[4, 4]) == ["there"]


def test_a_job_aside_can_be_cancelled_and_asked_about() -> None:
    hand = Hand("FCFS", [4, 0])
    hand.arrive("there", 2, on=(1,))
    hand.run(capacity=(4, 0))
    why = hand.why("there")
    assert (why.reason, why.position) == (Reason.UNREACHABLE, 0)
    assert hand.scheduler.remove(hand.key("there"))
    assert hand.view.aside() == []
    assert not len(hand.scheduler)


def test_a_single_component_of_a_local_queue_needs_its_own_cluster() -> None:
    scheduler = make("LS-OR", 2)
    scheduler.arrive(1, Request((2,)), 0, 0.0)
    scheduler.arrive(2, Request((2,)), 1, 0.0)
    assert scheduler.run([0, 4], 0.0, (0, 4)) == [(2, (1,))]
    assert SchedulerView(scheduler).aside() == [1]
