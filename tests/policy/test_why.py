"""Why a job waits, and whether a newcomer would start: what users are told."""

import pytest

from metabroker.policy import POLICIES, Aging, Reason, Request, SchedulerView, Start, make
from tests.policy.hand import Coin, Hand


def reason(hand: Hand, name: str) -> Reason:
    return hand.why(name).reason


def test_the_head_does_not_fit_and_the_others_are_behind_it() -> None:
    hand = Hand("GS", [4])
    hand.submit("wide", 9)
    hand.submit("small", 1)
    assert reason(hand, "wide") is Reason.MISFIT
    why = hand.why("small")
    assert (why.queue, why.position, why.reason) == (1, 1, Reason.BEHIND)
    assert why.blocker == hand.key("wide")


def test_nobody_is_behind_another_one_under_fpfs() -> None:
    hand = Hand("FPFS", [4])
    hand.submit("wide", 9)
    hand.submit("also", 5)
    why = hand.why("also")
    assert (why.position, why.reason) == (1, Reason.MISFIT)


@pytest.mark.parametrize(
    ("policy", "first", "name", "rule"),
    [
        ("GP", "global", "local", "the global queue is empty"),
        ("LQ", "global", "local", "the global queue is not longer than every local queue"),
        ("LP-GF", "local", "global", "at least one local queue is empty"),
        ("LQ", "local", "global", "the global queue is longer than every local queue"),
    ],
)
def test_the_rule_that_keeps_a_queue_disabled_is_named(
    policy: str, first: str, name: str, rule: str
) -> None:
    hand = Hand(policy, [4, 4])
    for number, size in enumerate((5, 6)):
        if first == "global":
            hand.submit(f"wide{number}", size, size)
        else:
            hand.submit(f"l{number}", size, local=number)
    hand.submit(name, *((1,) if name == "local" else (1, 1)), local=0)
    why = hand.why(name)
    assert (why.reason, why.rule) == (Reason.RULE, rule)


def test_a_capacity_can_be_supposed() -> None:
    hand = Hand("LS-OR", [0, 4])
    hand.submit("here", 1, local=0)
    hand.submit("wide", 2, 2, local=1)
    scheduler = hand.scheduler
    for name, capacity, expected in (
        ("here", (0, 4), Reason.UNREACHABLE),
        ("here", (4, 4), Reason.MISFIT),
        ("wide", (0, 4), Reason.UNREACHABLE),
    ):
        assert (
            SchedulerView(scheduler).why(hand.key(name), hand.idle, 0.0, capacity).reason
            is expected
        )


def test_what_is_told_about_a_job_that_fits_is_that_it_is_next() -> None:
    hand = Hand("EQ-LF", [4, 4], aging=Aging(9))
    hand.arrive("a", 1, local=0)
    assert reason(hand, "a") is Reason.NEXT


def test_nothing_is_known_about_a_job_that_does_not_wait() -> None:
    scheduler = make("GS", 2)
    for ask in (SchedulerView(scheduler).position, SchedulerView(scheduler).seq):
        with pytest.raises(KeyError):
            ask(7)
    with pytest.raises(KeyError):
        SchedulerView(scheduler).why(7, [1, 1], 0.0)
    assert 7 not in scheduler


def test_places_and_seqs() -> None:
    scheduler = make("LS-OR", 2)
    for key in range(10, 16):
        scheduler.arrive(key, Request((9,)), key % 2, 0.0)
    assert SchedulerView(scheduler).position(14) == (0, 2)
    assert SchedulerView(scheduler).seq(14) == 4
    assert SchedulerView(scheduler).heads() == {0: 10, 1: 11}
    assert 14 in scheduler
    scheduler.remove(12)
    assert SchedulerView(scheduler).position(14) == (0, 1)
    assert SchedulerView(scheduler).waiting() == {0: 2, 1: 3}
    assert list(SchedulerView(scheduler).keys(0)) == [10, 14]


# --- preview: `submit --dry-run` --------------------------------------------------------------


def preview(hand: Hand, *sizes: int, local: int = 0) -> Start | None:
    request = Request(sizes)
    queue = hand.scheduler.queue_of(request, local)
    return hand.view.preview(request, queue, hand.idle, hand.now)


def test_a_newcomer_that_would_start_is_told_where() -> None:
    hand = Hand("GS", [4, 6])
    assert preview(hand, 5) == (-1, (1,))
    assert preview(hand, 7) is None


def test_a_newcomer_would_not_start_behind_others_under_fcfs() -> None:
    hand = Hand("GS", [4])
    hand.submit("wide", 9)
    assert preview(hand, 1) is None
    hand = Hand("FPFS", [4])
    hand.submit("wide", 9)
    assert preview(hand, 1) == (-1, (0,))


def test_a_newcomer_would_not_start_against_the_rule() -> None:
    hand = Hand("GP", [4, 4])
    hand.submit("wide", 9, 9)
    assert preview(hand, 1, local=1) is None
    hand.scheduler.remove(hand.key("wide"))
    assert preview(hand, 1, local=1) == (-1, (1,))


def test_a_newcomer_would_not_overtake_a_protected_job() -> None:
    hand = Hand("LS-OR", [4, 4], aging=Aging(overtaken=0))
    hand.submit("wide", 9, local=0)
    assert preview(hand, 1, local=1) == (-1, (1,))
    assert preview(hand, 1, 1, local=1) is None


def test_a_newcomer_would_not_start_if_it_could_not_run() -> None:
    hand = Hand("GS", [4, 4])
    scheduler = hand.scheduler
    assert SchedulerView(scheduler).preview(Request((3, 3)), 2, hand.idle, 0.0, (4, 0)) is None
    assert SchedulerView(scheduler).preview(Request((3, 3)), 2, hand.idle, 0.0, (4, 4)) == (
        -1,
        (0, 1),
    )


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("aging", [None, Aging(overtaken=1)])
def test_a_preview_tells_what_an_arrival_does_and_changes_nothing(
    policy: str, aging: Aging | None
) -> None:
    rng = Coin(*([0] * 99))
    hand = Hand(policy, [6, 6, 6], aging=aging, rng=rng)
    sizes = [(4,), (3, 3), (5,), (9, 1), (2,), (1, 1), (1,), (7,), (1,), (2, 2, 2), (1,), (1, 1)]
    for number, components in enumerate(sizes):
        expected = preview(hand, *components, local=number % 3)
        before = (hand.scheduler.state(), hand.view.waiting(), list(hand.idle))
        assert preview(hand, *components, local=number % 3) == expected
        assert (hand.scheduler.state(), hand.view.waiting(), list(hand.idle)) == before
        started = hand.submit(f"j{number}", *components, local=number % 3)
        name = f"j{number}"
        assert (name in started) == (expected is not None)
        if expected is not None:
            assert hand.placements[name] == expected[1]
        if number % 4 == 3:
            hand.freed(number % 3, 3)


def test_a_preview_of_nonsense_is_refused_as_its_arrival_would_be() -> None:
    scheduler = make("GS", 2)
    with pytest.raises(KeyError):
        SchedulerView(scheduler).preview(Request((1,)), 0, [1, 1], 0.0)
    with pytest.raises(ValueError, match="no cluster has the index 5"):
        SchedulerView(scheduler).preview(Request((1,), (5,)), 2, [1, 1], 0.0)
    assert not len(scheduler)
