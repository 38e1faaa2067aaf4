"""FPFS: the queue is scanned from head to tail for jobs that fit: DCS 2.4, 3.2."""

from collections.abc import Sequence
from random import Random

import pytest

from metabroker.policy import Context, Placement, Request, SchedulerView, make, worst_fit
from metabroker.policy.aging import Aging
from metabroker.policy.gs import GlobalScheduler
from tests.policy.hand import Hand


def test_all_that_fit_are_started_from_head_to_tail() -> None:
    hand = Hand("FPFS", [0, 0])
    for name, sizes in {"a": (9,), "b": (2, 2), "c": (5,), "d": (3,), "e": (1,)}.items():
        hand.submit(name, *sizes)
    assert hand.departure(4, 4) == ["b", "e"]
    assert hand.view.waiting() == {2: 3}


def test_an_arrival_to_a_non_empty_queue_is_tried_itself() -> None:
    hand = Hand("FPFS", [4, 4])
    assert hand.submit("wide", 9) == []
    assert hand.submit("small", 3) == ["small"]


def test_an_arrival_does_not_make_the_others_be_tried_again() -> None:
    hand = Hand("FPFS", [4, 4])
    hand.submit("wide", 5)
    hand.idle[0] = 9  # nobody has said so
    assert hand.submit("small", 1) == ["small"]


def test_arrivals_at_one_instant_are_tried_in_their_order() -> None:
    hand = Hand("FPFS", [4])
    for name, size in {"wide": 5, "a": 3, "b": 2, "c": 1}.items():
        hand.arrive(name, size)
    assert hand.run() == ["a", "c"]


def test_one_start_per_round_with_several_queues() -> None:
    hand = Hand("LS-OR", [0, 0], discipline="FPFS")
    for name, sizes, local in (
        ("a0", (9,), 0),
        ("b0", (2, 2), 0),
        ("c0", (1, 1), 0),
        ("d1", (2, 1), 1),
        ("e1", (1, 1), 1),
    ):
        hand.arrive(name, *sizes, local=local)
    hand.run()
    assert hand.departure(5, 5) == ["b0", "d1", "c0"]
    assert hand.idle == [0, 1]


def test_a_shape_that_does_not_fit_is_tried_once_in_a_pass() -> None:
    tried: list[Request] = []

    def place(request: Request, idle: Sequence[int]) -> Placement | None:
        tried.append(request)
        return worst_fit(request, idle)

    scheduler = GlobalScheduler(Context(2, place, "FPFS"))
    for key in range(100):
        scheduler.arrive(key, Request((3, 2) if key % 2 else (2, 3)), 2, 0.0)
    scheduler.arrive(100, Request((1,)), 2, 0.0)
    scheduler.depart()
    assert scheduler.run([2, 2], 0.0) == [(100, (0,))]
    assert len(tried) == 2


def test_equal_jobs_start_in_the_order_in_which_they_came() -> None:
    hand = Hand("FPFS", [0])
    for name in "abcd":
        hand.submit(name, 2)
    hand.scheduler.remove(hand.key("b"))
    assert hand.freed(0, 4) == ["a", "c"]


def test_a_job_that_was_cancelled_before_its_pass_is_not_tried() -> None:
    hand = Hand("FPFS", [4])
    hand.arrive("a", 1)
    hand.scheduler.remove(hand.key("a"))
    assert hand.run() == []
    assert not hand.view.heads()


@pytest.mark.parametrize("seed", [4705, *range(20)])
def test_who_has_been_started_as_a_newcomer_is_not_scanned_again(seed: int) -> None:
    """LQ turns to a queue again in the pass in which one of its newcomers has been started."""
    rng = Random(seed)
    clusters = rng.choice((2, 3))
    policy = make("LQ", clusters, discipline="FPFS", aging=Aging(overtaken=1))
    idle, waiting = [4] * clusters, dict[int, Request]()
    running: dict[int, tuple[Placement, Request]] = {}
    ends, key = rng.choice((0.05, 0.1, 0.3)), 0
    rng.randint(1, 4)  # one draw more, which the first seed needs
    for now in range(60):
        for done in [each for each in running if rng.random() < ends]:
            placement, request = running.pop(done)
            for cluster, size in zip(placement, request.sizes, strict=True):
                idle[cluster] += size
            policy.depart(placement)
        for _ in range(rng.randint(0, 4)):
            request = Request(tuple(rng.randint(1, 4) for _ in range(rng.choice((1, 1, 2)))))
            queue = policy.queue_of(request, rng.randrange(clusters))
            policy.arrive(key, request, queue, float(now))
            waiting[key] = request
            key += 1
        for started, placement in policy.run(list(idle), float(now)):
            running[started] = placement, waiting.pop(started)
            for cluster, size in zip(placement, running[started][1].sizes, strict=True):
                idle[cluster] -= size
        assert min(idle) >= 0 and len(policy) == len(waiting)
        assert sum(SchedulerView(policy).waiting().values()) == len(waiting)
