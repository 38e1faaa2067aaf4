"""LS-OR, LS-RD, LS-RO, LS-DO: BE03 2.5, BE07 2.3."""

from metabroker.policy import Options, PolicyState, Request, SchedulerView, make
from tests.policy.hand import Coin, Hand


def full(policy: str, **options: object) -> Hand:
    """Three full clusters; in each local queue a job of two components, 'a0', 'a1', 'a2'."""
    hand = Hand(policy, [0, 0, 0], **options)
    for local in range(3):
        hand.submit(f"a{local}", 2, 2, local=local)
    return hand


def test_jobs_join_the_queue_they_were_submitted_to() -> None:
    scheduler = make("LS-OR", 4)
    assert SchedulerView(scheduler).queues == (0, 1, 2, 3)
    assert scheduler.queue_of(Request((1,)), 2) == 2
    assert scheduler.queue_of(Request((1, 1)), 2) == 2
    assert scheduler.queue_of(Request((1, 1), (0, 3)), 2) == 2


def test_an_ordered_single_component_joins_the_queue_of_its_cluster() -> None:
    assert make("LS-OR", 4).queue_of(Request((1,), (3,)), 2) == 3


def test_single_components_run_on_the_local_cluster_only() -> None:
    hand = Hand("LS-OR", [2, 9])
    assert hand.submit("a", 3, local=0) == []
    assert hand.freed(0, 1) == ["a"]
    assert hand.placements["a"] == (0,)


def test_multi_components_are_spread_over_the_whole_system() -> None:
    hand = Hand("LS-OR", [0, 5, 5])
    assert hand.submit("a", 4, 3, local=0) == ["a"]
    assert hand.placements["a"] == (1, 2)


def test_in_each_round_at_most_one_job_of_each_queue_is_started() -> None:
    hand = Hand("LS-OR", [0, 0])
    for name, local in (("a0", 0), ("b0", 0), ("c0", 0), ("a1", 1), ("b1", 1)):
        hand.submit(name, 1, 1, local=local)
    assert hand.departure(4, 4) == ["a0", "a1", "b0", "b1"]


def test_a_queue_whose_head_does_not_fit_is_disabled_until_the_next_departure() -> None:
    hand = Hand("LS-OR", [0, 0])
    hand.submit("wide", 9, local=0)
    hand.submit("behind", 1, local=0)
    hand.submit("other", 1, local=1)
    assert hand.departure(5, 5) == ["other"]
    hand.idle[0] = 10
    assert hand.run() == []
    assert hand.departure() == ["wide", "behind"]


def test_or_has_a_fixed_order() -> None:
    hand = full("LS-OR")
    for _ in range(2):
        assert hand.departure(2, 2, 0) == ["a0"]
        hand.submit("a0", 2, 2, local=0)


def test_rd_is_cyclic_from_a_random_start() -> None:
    hand = full("LS-RD", rng=Coin(2, 1))
    for name, local in (("b0", 0), ("b1", 1)):
        hand.submit(name, 2, 2, local=local)
    assert hand.departure(4, 4, 0) == ["a2", "a0"]
    assert hand.departure(2, 2, 2) == ["a1"]


def test_rd_draws_once_per_departure_and_only_where_it_matters() -> None:
    coin = Coin(0)
    hand = Hand("LS-RD", [0, 0], rng=coin)
    hand.submit("a", 1, local=0)
    hand.freed(1, 1)
    assert coin.asked == []
    hand.submit("b", 2, local=1)
    hand.freed(1, 1)
    assert coin.asked == [2]


def test_ro_is_the_order_in_which_the_departing_job_releases_its_clusters() -> None:
    hand = Hand("LS-RO", [2, 4, 3])
    assert hand.submit("runs", 3, 4, local=0) == ["runs"]
    assert hand.placements["runs"] == (2, 1)
    hand.idle[0] = 0
    for local in range(3):
        hand.submit(f"a{local}", 2, 2, local=local)
    hand.end("runs")
    assert hand.idle == [0, 4, 3]
    assert hand.run() == ["a1"]  # component 1, the larger one, was on cluster 1
    hand.idle[:] = [0, 2, 2]
    hand.scheduler.depart([2, 1])
    assert hand.run() == ["a2"]


def test_ro_enables_the_clusters_without_a_component_last_by_index() -> None:
    hand = full("LS-RO")
    hand.idle[:] = [8, 8, 8]
    hand.scheduler.depart([2])
    assert hand.run() == ["a2", "a0", "a1"]


def test_ro_with_several_departures_takes_the_clusters_of_the_first_first() -> None:
    hand = full("LS-RO")
    hand.idle[:] = [8, 8, 8]
    hand.scheduler.depart([1, 1])
    hand.scheduler.depart([2, 1])
    assert hand.run() == ["a1", "a2", "a0"]
    hand = full("LS-RO")
    hand.scheduler.depart([2])
    hand.run()
    assert hand.departure(8, 8, 8) == ["a0", "a1", "a2"]


def test_do_is_the_order_in_which_the_queues_were_disabled() -> None:
    """BE07 3.2: a queue repeatedly disabled by the same large job is finally visited first."""
    hand = Hand("LS-DO", [0, 0])
    hand.submit("wide", 4, 4, local=1)  # misfit at its arrival: queue 1 is disabled first
    for name in ("a", "b", "c"):
        hand.submit(name, 2, 2, local=0)
    assert hand.departure(2, 2) == ["a"]  # queue 1 (misfit), then queue 0: a, then b misfits
    assert hand.departure(4, 4) == ["wide"]


def test_do_counts_the_disabling_of_a_queue_that_became_empty() -> None:
    hand = full("LS-DO")
    assert hand.departure(2, 2, 0) == ["a0"]  # disabled: 0 (empty), 1, 2 (misfits)
    hand.submit("b0", 2, 2, local=0)  # misfit at its arrival: 1, 2, 0
    assert hand.departure(8, 8, 8) == ["a1", "a2", "b0"]


def test_do_can_count_only_the_disablings_at_departures() -> None:
    hand = full("LS-DO", options=Options(ls_do="departures"))
    assert hand.departure(2, 2, 0) == ["a0"]
    hand.submit("b0", 2, 2, local=0)  # not counted: 0, 1, 2
    assert hand.departure(8, 8, 8) == ["b0", "a1", "a2"]


def test_do_remembers_its_order_over_a_restart() -> None:
    hand = full("LS-DO")
    hand.idle[:] = [2, 2, 0]
    hand.scheduler.depart()
    hand.run()
    memory = hand.scheduler.state()
    assert memory.order == (0, 1, 2)
    after = make("LS-DO", 3)
    after.arrive(7, Request((1,)), 2, 0.0, seq=2)
    after.restore(memory._replace(order=[2, 0, 1]))
    assert after.state().order == (2, 0, 1)
    assert after.state().next_seq == 3
    after.restore(PolicyState(5))  # of another policy
    assert after.state() == PolicyState(5, (), (2, 0, 1))
