"""The budget of privileged ports: how many the broker uses in a minute, and for what."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.clusters.openpbs.ports import (
    KEPT,
    HostPorts,
    PbsPace,
    PortBudget,
    PortLimits,
    PortUse,
)
from metabroker.clusters.openpbs.recent_jobs import Known
from metabroker.clusters.operation import Operation, Pause, command
from metabroker.clusters.transports.base import Command
from tests.clusters.slurm.drive import Told, drive, said

SHARES = PortLimits(most=20, looks=8, work=10)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(PortUse), st.integers(1, 6), st.sampled_from([0.0, 0.1, 1.0, 9.0, 61.0])
    ),
    max_size=200,
)


def taken(budget: PortBudget, use: PortUse, ports: int, now: float = 0.0) -> int:
    """How often so many may be used in one moment, or as soon as the pace allows it."""
    count, later = 0, now
    while later < now + KEPT:
        left = budget.take(use, ports, later)
        count += left == 0.0
        later += left
    return count


def test_work_is_spread_before_there_is_none_left() -> None:
    begun: list[float] = []
    budget, now = PortBudget(), 0.0
    while len(begun) < 600:
        left = budget.take(PortUse.WORK, 1, now)
        begun += [] if left else [now]
        now += left
    gaps = [later - before for before, later in pairwise(begun)]
    assert gaps[:101] == [0.0] * 101
    assert max(gaps) < 2.0
    assert 1.8 < 600 / begun[-1] < 3.0  # commands a second


def test_looks_are_kept_within_their_share_where_there_is_other_work() -> None:
    budget = PortBudget(SHARES)
    assert taken(budget, PortUse.LOOK, 4) == 2
    assert taken(budget, PortUse.WORK, 1) == 12
    # A minute later all are free again.
    assert taken(budget, PortUse.LOOK, 4, KEPT + 1.0) == 2


def test_jobs_leave_looks_their_share_and_looks_leave_jobs_theirs() -> None:
    budget = PortBudget(SHARES)
    assert taken(budget, PortUse.WORK, 1) == 12
    assert taken(budget, PortUse.LOOK, 4) == 2
    budget = PortBudget(SHARES)
    assert taken(budget, PortUse.LOOK, 1) == 10
    assert taken(budget, PortUse.WORK, 1) == 10


def test_it_is_told_when_to_ask_again() -> None:
    budget = PortBudget(SHARES)
    assert budget.take(PortUse.LOOK, 4, 0.0) == 0.0
    assert budget.take(PortUse.LOOK, 4, 1.0) == 29.5
    assert budget.take(PortUse.LOOK, 4, 30.5) == 0.0
    assert budget.take(PortUse.LOOK, 4, 32.0) == KEPT + 1.0 - 32.0
    assert budget.take(PortUse.LOOK, 4, KEPT + 1.0) == 0.0


def test_looks_are_spread_before_there_is_none_left_for_them() -> None:
    budget, now, begun = PortBudget(), 0.0, list[float]()
    while now < 600.0:  # a poll every two seconds, and as much other work as there may be
        left = budget.take(PortUse.LOOK, 6, now)
        begun += [] if left else [now]
        now += left or 2.0
        while budget.take(PortUse.WORK, 1, now) == 0.0:
            pass
    gaps = [later - before for before, later in pairwise(begun)]
    assert max(gaps) < 8.0
    assert len(begun) > 600.0 / 4.5


def test_what_a_look_did_not_need_is_had_by_others() -> None:
    budget = PortBudget(SHARES)
    assert budget.take(PortUse.LOOK, 8, 0.0) == 0.0
    assert taken(budget, PortUse.WORK, 1) == 12
    assert budget.take(PortUse.LOOK, 4, 0.0) > 0.0
    budget.give_back(PortUse.LOOK, 8)
    assert budget.used == 12
    assert budget.take(PortUse.LOOK, 4, 0.0) == 0.0


def test_for_what_a_look_needed_beyond_that_the_next_one_waits() -> None:
    budget = PortBudget(SHARES)
    assert budget.take(PortUse.LOOK, 4, 0.0) == 0.0
    budget.give_back(PortUse.LOOK, -4)
    assert budget.used == 8
    assert budget.take(PortUse.LOOK, 4, 10.0) == KEPT + 1.0 - 10.0
    assert budget.take(PortUse.LOOK, 4, KEPT + 1.0) == 0.0


def test_a_look_that_takes_more_than_its_share_is_made_alone() -> None:
    budget = PortBudget(SHARES)
    assert taken(budget, PortUse.LOOK, 30) == 1


@given(steps=STEPS)
def test_there_are_never_more_than_the_most_and_nobody_waits_longer_than_a_minute(
    steps: list[tuple[PortUse, int, float]],
) -> None:
    budget, now = PortBudget(SHARES), 0.0
    for use, ports, later in steps:
        now += later
        left = budget.take(use, ports, now)
        assert budget.used <= SHARES.most
        assert left <= KEPT + 1.0 + 1e-6  # sums of tenths are not exact
    now += KEPT + 1.0
    assert budget.take(PortUse.WORK, 1, now) == 0.0 and budget.take(PortUse.LOOK, 6, now) == 0.0


class Clock:
    """A clock that pauses set forward."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def two() -> Operation[str]:
    """An operation of three commands, one of which is the host's own."""
    yield from command(Command(("date",)))
    first = yield from command(Command(("qsub",)))
    second = yield from command(Command(("qdel",)))
    return first.stdout + second.stdout


def paced(pace: PbsPace, conf: str) -> tuple[str, Told]:
    """A look, then an operation."""
    told = Told()
    drive(pace.looking(4), [said(conf)], told)
    return drive(pace.working(two()), [said(), said("a"), said("b")], told), told


def test_commands_wait_for_ports_of_their_host_whatever_server_they_ask() -> None:
    ports = HostPorts(PortBudget(PortLimits(most=6, looks=4, work=2)), Clock())
    assert paced(PbsPace(ports), "")[0] == "ab"
    text, told = paced(PbsPace(ports), "PBS_AUTH_METHOD=resvport\n")
    assert text == "ab" and told.pauses > 0


@pytest.mark.parametrize("conf", ["PBS_AUTH_METHOD=munge\n", "PBS_AUTH_METHOD=MUNGE\n"])
def test_where_clients_prove_who_asks_by_munge_nothing_waits(conf: str) -> None:
    ports = HostPorts(PortBudget(PortLimits(most=1, looks=1, work=0)), Clock())
    pace = PbsPace(ports)
    for _ in range(2):
        told = Told()
        drive(pace.looking(4), [said(conf)] if _ == 0 else [], told)
        assert drive(pace.working(two()), [said(), said("a"), said("b")], told) == "ab"
        assert told.pauses == 0


def test_a_wait_is_in_short_pauses_so_that_it_can_be_ended() -> None:
    ports = HostPorts(PortBudget(PortLimits(most=1, looks=0, work=1)), Clock())
    ports.take(PortUse.WORK, 1)
    step = next(PbsPace(ports).working(one()))
    assert isinstance(step, Pause) and step.seconds <= 5.0


def one() -> Operation[None]:
    """A command."""
    yield from command(Command(("qsub",)))


def test_a_job_that_was_submitted_is_asked_for_though_it_was_never_seen() -> None:
    known = Known()
    known.complete(0.0, [], history=True)
    known.submitted("7.pbsa")
    assert known.look(5.0, ["8.pbsa"]) == ["8.pbsa", "7.pbsa"]
    assert known.look(10.0, []) == ["7.pbsa", "8.pbsa"]
    assert known.look(400.0, ["9.pbsa"]) == ["9.pbsa"]


def test_a_server_without_history_is_asked_for_live_jobs_only() -> None:
    known = Known()
    known.complete(0.0, [], history=False)
    known.submitted("7.pbsa")
    assert known.look(5.0, ["8.pbsa"]) == ["8.pbsa"]


def test_all_that_have_ended_are_asked_for_once_a_minute_and_after_a_clock_was_set_back() -> None:
    known = Known()
    assert known.incomplete(1000.0)
    known.complete(1000.0, [], history=True)
    assert not known.incomplete(1059.0)
    assert known.incomplete(1060.0) and known.incomplete(999.0)
