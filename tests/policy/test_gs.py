"""GS, and the single queue of DCS: BE03 2.5, BE07 2.3, DCS 2.4 and 3.2."""

from metabroker.policy import Aging, Request, SchedulerView, make
from tests.policy.hand import Hand


def test_all_jobs_join_the_global_queue() -> None:
    scheduler = make("GS", 4)
    assert SchedulerView(scheduler).queues == (4,)
    assert scheduler.queue_of(Request((1,)), 2) == 4
    assert scheduler.queue_of(Request((1, 1)), 2) == 4


def test_a_single_component_goes_to_the_most_idle_cluster() -> None:
    hand = Hand("GS", [3, 9, 5])
    assert hand.submit("a", 4, local=0) == ["a"]
    assert hand.placements["a"] == (1,)
    assert hand.idle == [3, 5, 5]


def test_a_job_that_comes_to_a_non_empty_queue_does_nothing() -> None:
    hand = Hand("GS", [4, 4])
    assert hand.submit("wide", 5) == []
    assert hand.submit("small", 1) == []


def test_the_head_blocks_the_queue_until_it_fits_fcfs() -> None:
    hand = Hand("GS", [4, 4])
    for name, sizes in {"wide": (5,), "b": (4, 4), "c": (1,)}.items():
        hand.submit(name, *sizes)
    assert hand.freed(0, 1) == ["wide"]
    assert hand.run() == []
    hand.end("wide")
    assert hand.run() == ["b", "c"]


def test_jobs_that_come_together_to_an_empty_queue_are_all_tried_in_order() -> None:
    hand = Hand("GS", [4, 4])
    for name, size in {"a": 4, "b": 3, "c": 2, "d": 1}.items():
        hand.arrive(name, size)
    assert hand.run() == ["a", "b"]
    assert hand.freed(0, 1) == []


def test_of_several_that_come_back_to_their_old_places_none_is_forgotten() -> None:
    scheduler, idle = make("GS", 1), [4]
    for key in (0, 1, 2, 3):
        scheduler.arrive(key, Request((1,)), 1, 0.0)
    for key in (0, 1, 2, 3):
        scheduler.remove(key)
    scheduler.arrive(4, Request((1,)), 1, 0.0)
    assert [key for key, _ in scheduler.run(idle, 0.0)] == [4]
    for key in (2, 0, 1):
        scheduler.arrive(key, Request((1,)), 1, 1.0, seq=key)
    assert [key for key, _ in scheduler.run(idle, 1.0)] == [0, 1, 2]


def test_dcs_places_with_reuse_of_clusters_by_default_dcs_2_4() -> None:
    assert Hand("FCFS", [9]).submit("a", 4, 4) == ["a"]
    assert Hand("GS", [9]).submit("a", 4, 4) == []
    assert Hand("FCFS", [9], placement="worst-fit").submit("a", 4, 4) == []
    assert Hand("GS", [9], placement="worst-fit-reuse").submit("a", 4, 4) == ["a"]


def test_an_ordered_request_waits_for_its_own_clusters_dcs_2_3() -> None:
    hand = Hand("FCFS", [9, 3])
    hand.arrive("there", 4, on=(1,))
    assert hand.run() == []
    assert hand.freed(1, 1) == ["there"]
    assert hand.placements["there"] == (1,)


def test_aging_decides_nothing_in_one_fcfs_queue_because_no_pass_overtakes_anybody() -> None:
    hand = Hand("GS", [1], aging=Aging(overtaken=0, wait=0))
    hand.submit("wide", 2)
    hand.submit("small", 1)
    assert hand.freed(0, 2) == ["wide", "small"]
