"""Aging: a job overtaken N times, or waiting T seconds, is not overtaken again (aging.py)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metabroker.policy import POLICIES, Aging, PolicyState, Request, SchedulerView, make
from tests.policy.hand import Hand
from tests.policy.lockstep import Lockstep
from tests.policy.test_against_reference import CLUSTERS, SIZE, drive, quiet
from tests.share import share


def test_only_a_job_that_joined_later_overtakes() -> None:
    hand = Hand("FPFS", [4], aging=Aging(overtaken=1))
    hand.submit("wide", 9)
    hand.submit("wider", 10)
    assert hand.freed(0, 5) == ["wide"]  # the younger one is passed by, but not overtaken
    assert hand.why("wider").overtaken == 0


def test_after_n_overtakings_nothing_overtakes_fpfs_dcs_2_4() -> None:
    hand = Hand("FPFS", [4], aging=Aging(overtaken=2))
    hand.submit("wide", 9)
    assert hand.submit("a", 1) == ["a"]
    assert hand.submit("b", 1) == ["b"]
    assert hand.submit("c", 1) == []
    why = hand.why("wide")
    assert (why.overtaken, why.protected) == (2, True)
    assert hand.freed(0, 7) == ["wide"]
    assert hand.submit("d", 1) == []
    assert hand.freed(0, 1) == ["c"]


def test_with_a_bound_of_zero_nothing_is_ever_overtaken() -> None:
    hand = Hand("FPFS", [4], aging=Aging(overtaken=0))
    hand.submit("wide", 9)
    assert hand.submit("a", 1) == []


def test_after_t_seconds_nothing_overtakes() -> None:
    hand = Hand("FPFS", [4], aging=Aging(wait=10.0))
    hand.submit("wide", 9)
    hand.now = 9.9
    assert hand.submit("a", 1) == ["a"]
    hand.now = 10.0
    assert hand.submit("b", 1) == []


def test_a_start_in_other_clusters_does_not_overtake() -> None:
    hand = Hand("LS-OR", [1, 9], aging=Aging(overtaken=0))
    hand.submit("here", 2, local=0)
    assert hand.submit("there", 2, local=1) == ["there"]
    hand.arrive("ordered", 3, on=(1,))
    assert hand.run() == ["ordered"]


def test_the_clusters_of_a_protected_job_count_as_full_for_later_ones() -> None:
    hand = Hand("LS-OR", [8, 3, 2], aging=Aging(overtaken=0))
    hand.submit("here", 9, local=0)
    assert hand.submit("elsewhere", 2, 2, local=1) == ["elsewhere"]
    assert hand.placements["elsewhere"] == (1, 2)
    assert hand.submit("wider", 1, 1, local=1) == []


def test_an_unordered_job_competes_everywhere() -> None:
    hand = Hand("LS-OR", [8, 3], aging=Aging(overtaken=0))
    hand.submit("wide", 4, 4, local=0)
    assert hand.submit("single", 1, local=1) == []


def test_a_job_older_than_the_protected_one_may_start() -> None:
    hand = Hand("EQ-LF", [1, 1], aging=Aging(overtaken=0))
    hand.submit("old", 2, local=0)
    hand.submit("wide", 5, 5)
    assert hand.freed(0, 1) == ["old"]


def test_it_is_visited_first_where_the_rule_has_its_queue_disabled_lp() -> None:
    hand = Hand("LP-LF", [0, 0], aging=Aging(overtaken=1))
    hand.submit("wide", 3, 3)
    for number in range(3):
        for local in (0, 1):
            hand.arrive(f"l{local}.{number}", 1, local=local)
    hand.run()
    assert hand.freed(0, 1) == ["l0.0"]  # has overtaken wide
    assert hand.departure(2, 2) == []
    assert hand.departure(3, 4) == ["wide", "l1.0"]


def test_it_is_visited_first_where_the_rule_has_its_queue_disabled_gp() -> None:
    hand = Hand("GP", [2, 2], aging=Aging(wait=5.0))
    hand.submit("local", 3, local=0)
    hand.now = 1.0
    hand.submit("wide", 3, 3)
    hand.now = 5.0
    assert hand.freed(0, 1) == ["local"]
    assert hand.view.waiting()[2] == 1


def test_the_jobs_in_front_of_it_in_its_queue_come_first() -> None:
    hand = Hand("LS-OR", [0, 0, 0], aging=Aging(overtaken=1))
    hand.submit("front", 3, local=1)
    hand.submit("wide", 2, 2, local=1)
    hand.submit("a", 1, local=2)
    hand.submit("b", 1, local=2)
    assert hand.freed(2, 1) == ["a"]
    assert hand.departure(9, 9, 9) == ["front", "wide", "b"]


def test_its_queue_is_visited_up_to_the_protected_job_only() -> None:
    hand = Hand("LS-OR", [0, 0], aging=Aging(overtaken=1))
    hand.submit("wide", 2, 2, local=1)
    hand.submit("first0", 1, local=0)
    assert hand.freed(0, 1) == ["first0"]
    hand.submit("behind", 1, 1, local=1)
    hand.submit("second0", 1, local=0)
    assert hand.departure(9, 9) == ["wide", "second0", "behind"]


def test_an_emptied_queue_of_a_protected_job_counts_as_disabled_first_ls_do() -> None:
    hand = Hand("LS-DO", [0, 0], aging=Aging(overtaken=0))
    hand.submit("b", 1, 1, local=1)
    hand.submit("a", 9, local=0)
    assert hand.departure(1, 1) == ["b"]
    assert hand.scheduler.state().order == (1, 0)


def test_a_job_that_cannot_run_anywhere_is_not_protected() -> None:
    hand = Hand("LS-OR", [0, 4], aging=Aging(overtaken=0))
    hand.arrive("wide", 3, 3, local=0)
    hand.arrive("single", 1, local=1)
    assert hand.run(capacity=(0, 4)) == ["single"]
    hand.submit("again", 1, local=1)
    assert hand.why("wide").protected is False
    hand.idle[0] = 4
    hand.scheduler.depart()
    assert hand.run(capacity=(4, 4)) == []  # wide is protected again, and does not fit
    assert hand.submit("third", 1, local=1) == []


def test_a_cancelled_protected_job_lets_the_others_go() -> None:
    hand = Hand("LS-OR", [4, 4], aging=Aging(overtaken=0))
    hand.submit("wide", 5, 5, local=0)
    hand.submit("single", 1, local=1)
    hand.scheduler.remove(hand.key("wide"))
    assert hand.run() == ["single"]


def test_after_a_cancelled_protected_job_the_next_one_is_the_guard() -> None:
    hand = Hand("FPFS", [0], aging=Aging(overtaken=1))
    for name, size in {"wide": 9, "wider": 10, "a": 1, "b": 1}.items():
        hand.submit(name, size)
    assert hand.freed(0, 1) == ["a"]
    hand.free(0, 1)
    hand.scheduler.remove(hand.key("wide"))
    assert hand.run() == []
    assert hand.why("b").blocker == hand.key("wider")


def test_why_names_the_protected_job() -> None:
    hand = Hand("LS-OR", [4, 4, 4], aging=Aging(overtaken=0))
    hand.submit("here", 5, local=2)
    hand.submit("wide", 5, 5, local=0)
    hand.submit("single", 1, local=1)
    why = hand.why("single")
    assert why.reason.name == "OVERTAKING"
    assert why.blocker == hand.key("wide")


@pytest.mark.parametrize("aging", [{"overtaken": -1}, {"wait": -0.5}, {"wait": float("nan")}])
def test_a_negative_bound_makes_no_sense(aging: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="a job cannot"):
        Aging(**aging)  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", [name for name in POLICIES if name not in {"FCFS", "FPFS"}])
@settings(max_examples=share(15), deadline=None)
@given(data=st.data())
def test_no_job_is_overtaken_more_than_n_times_and_all_get_to_run(
    policy: str, data: st.DataObject
) -> None:
    bound = data.draw(st.integers(0, 3))
    discipline = data.draw(st.sampled_from(["FCFS", "FPFS"]))
    pair = Lockstep(policy, [SIZE] * CLUSTERS, discipline, "worst-fit", Aging(bound), seed=3)
    drive(pair, data.draw(st.lists(quiet, min_size=10, max_size=40)), up=False)
    assert pair.slow.most_overtaken <= bound
    while pair.running:
        pair.now += 1.0
        pair.end(0)
        pair.run(with_capacity=False)
    assert pair.slow.most_overtaken <= bound
    assert sorted(pair.started) == sorted(pair.requests)


def test_counts_survive_a_restart() -> None:
    hand = Hand("FPFS", [4], aging=Aging(overtaken=2))
    hand.submit("wide", 9)
    hand.submit("a", 1)
    hand.submit("b", 1)
    memory = hand.scheduler.state()
    assert memory == PolicyState(next_seq=3, overtakers=((1, (1, 2)),))
    after = make("FPFS", 1, aging=Aging(overtaken=2))
    after.arrive(0, Request((9,)), 1, 0.0, seq=0)
    after.arrive(9, Request((1,)), 1, 0.0, seq=9)
    after.restore(PolicyState(12, [(1, [1, 2]), (2, [5])]))
    after.depart()
    assert after.run([4], 1.0) == []
    assert after.state().next_seq == 12


def test_the_counts_of_one_that_was_started_and_not_sent_survive_a_restart_too() -> None:
    """It waits then; whoever was started after it, and sent, has overtaken it."""
    aging = Aging(overtaken=2)
    scheduler = make("FPFS", 1, aging=aging)
    for key, size in ((0, 9), (1, 1)):
        scheduler.arrive(key, Request((size,)), 1, 0.0, seq=key)
    assert [key for key, _ in scheduler.run([4], 0.0)] == [1]
    scheduler.arrive(2, Request((1,)), 1, 1.0, seq=2)
    scheduler.depart()
    assert [key for key, _ in scheduler.run([10], 1.0)] == [0, 2]
    assert scheduler.state().overtakers == (), "both have been sent"
    assert scheduler.state([0]).overtakers == ((1, (1, 2)),), "all but 0"
    assert scheduler.state([0, 2]).overtakers == ((1, (1,)),), "neither"
    after = make("FPFS", 1, aging=aging)
    after.arrive(0, Request((9,)), 1, 0.0, seq=0)
    after.arrive(3, Request((1,)), 1, 2.0, seq=3)
    after.restore(scheduler.state([0]))
    after.depart()
    assert after.run([4], 2.0) == []


def test_a_restart_without_aging_forgets_the_counts() -> None:
    after = make("FPFS", 1)
    after.restore(PolicyState(12, [(1, [1, 2])]))
    assert after.state() == PolicyState(12)


def test_a_job_that_comes_back_with_its_seq_is_as_old_as_it_was() -> None:
    scheduler = make("FPFS", 1, aging=Aging(overtaken=1))
    for key in (90, 80, 70):
        scheduler.arrive(key, Request((9,)), 1, 0.0)
    assert scheduler.remove(80)
    scheduler.arrive(60, Request((1,)), 1, 0.0)
    assert scheduler.run([1], 0.0) == [(60, (0,))]
    scheduler.remove(90)
    scheduler.arrive(80, Request((9,)), 1, 0.0, seq=1)
    idle = [4]
    assert list(SchedulerView(scheduler).keys(1)) == [80, 70]
    why = SchedulerView(scheduler).why(80, idle, 0.0)
    assert (why.overtaken, why.protected) == (1, True)
    scheduler.arrive(50, Request((1,)), 1, 0.0)
    assert SchedulerView(scheduler).why(50, idle, 0.0).blocker == 80
    assert SchedulerView(scheduler).why(50, idle, 0.0).overtaken == 0
    assert scheduler.run(idle, 0.0) == []


def test_one_that_was_started_and_comes_back_before_the_next_pass_was_overtaken_as_often() -> None:
    scheduler = make("FPFS", 1, aging=Aging(overtaken=1))
    scheduler.arrive(90, Request((2,)), 1, 0.0)
    scheduler.arrive(80, Request((1,)), 1, 0.0)
    assert scheduler.run([1], 0.0) == [(80, (0,))]
    scheduler.depart()
    assert scheduler.run([2], 0.0) == [(90, (0,))]
    scheduler.arrive(90, Request((2,)), 1, 0.0, seq=0)  # its cluster's nodes had no room for it
    scheduler.arrive(70, Request((1,)), 1, 0.0)
    assert SchedulerView(scheduler).why(90, [1], 0.0).protected
    assert scheduler.run([1], 0.0) == []
    scheduler.depart()
    assert scheduler.run([2], 0.0) == [(90, (0,))]
    scheduler.depart()
    assert scheduler.run([1], 0.0) == [(70, (0,))]


@pytest.mark.parametrize("both", [False, True])
def test_who_was_started_after_one_that_comes_back_has_overtaken_it(both: bool) -> None:
    """In one pass; unless it comes back as well."""
    scheduler = make("FPFS", 1, aging=Aging(overtaken=1))
    scheduler.arrive(90, Request((2,)), 1, 0.0)
    scheduler.arrive(80, Request((1,)), 1, 0.0)
    assert scheduler.run([3], 0.0) == [(90, (0,)), (80, (0,))]
    scheduler.arrive(90, Request((2,)), 1, 0.0, seq=0)  # its cluster's nodes had no room for it
    if both:
        scheduler.arrive(80, Request((1,)), 1, 0.0, seq=1)
    assert SchedulerView(scheduler).why(90, [1], 0.0).overtaken == (0 if both else 1)
    scheduler.arrive(70, Request((1,)), 1, 0.0)
    started = scheduler.run([1], 0.0)
    assert started == ([(80, (0,))] if both else [])
    assert SchedulerView(scheduler).why(90, [1], 0.0).protected


def test_who_left_its_cluster_to_a_protected_job_is_tried_again_once_that_has_started() -> None:
    """In the same pass: else it waits for the next one, beside an idle cluster."""
    pair = Lockstep("LS-DO", [6, 6, 6], "FPFS", "worst-fit", Aging(overtaken=0), seed=3)
    for requests in (
        [(Request((4,), (0,)), 0)],
        [(Request((4,)), 0), (Request((1, 1, 1), (0, 0, 1)), 0)],
        [(Request((4,)), 0), (Request((1, 1)), 0), (Request((1,)), 1)],
    ):
        for request, local in requests:
            pair.arrive(request, local)
        pair.run(with_capacity=False)
    last = pair.next_key + 1
    pair.end(0)
    pair.run(with_capacity=False)  # the reference starts it, too
    assert last in pair.started
