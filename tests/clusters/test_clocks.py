"""A cluster's clock, looked at now and then: it never makes the look itself fail."""

from __future__ import annotations

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.clocks import ClockWatch
from metabroker.clusters.openpbs import operations as openpbs
from metabroker.clusters.operation import Operation
from metabroker.clusters.port import ClusterRefusal, UnknownOutcome
from metabroker.clusters.slurm import operations as slurm
from metabroker.clusters.transports.base import CommandLost, CommandMissing
from tests.clusters.slurm.drive import Told, drive, failed, said

NOW = 1795236222.25


def slurm_time() -> Operation[int]:
    return (yield from slurm.time_and_identity())[0]


def test_it_is_asked_at_first_and_then_now_and_then() -> None:
    watch, told = ClockWatch(slurm_time, 600.0), Told(NOW)
    ahead = said("Configuration data as of 1795236225\nMinJobAge = 300 sec\n")
    assert drive(watch.look(NOW), [ahead], told) == 1
    assert watch.offset == pytest.approx(3.25)
    assert told.lines == ["scontrol show config"]
    assert drive(watch.look(NOW + 599), [], told) == 0
    assert watch.offset == pytest.approx(3.25)
    behind = said("Configuration data as of 1795236820\n")
    told.times = [NOW + 600]
    assert drive(watch.look(NOW + 600), [behind], told) == 1
    assert watch.offset == pytest.approx(-1.75)


def test_openpbs_tells_the_time_of_its_commands_host() -> None:
    watch = ClockWatch(openpbs.time_there, 600.0)
    drive(watch.look(NOW), [said("1795236222\n")], Told(NOW))
    assert watch.offset == pytest.approx(0.25)


def test_it_is_never_asked_unless_wanted() -> None:
    watch = ClockWatch(slurm_time, 0.0)
    assert drive(watch.look(NOW), [], Told()) == 0
    assert watch.offset is None


@pytest.mark.parametrize(
    "trouble",
    [
        ClusterRefusal(Cause.DENIED, "no"),
        UnknownOutcome("what?"),
        CommandLost("cut"),
        CommandMissing("away"),
    ],
)
def test_no_answer_is_no_offset_and_nothing_else(trouble: Exception) -> None:
    def asks() -> Operation[int]:
        yield from ()
        raise trouble

    watch = ClockWatch(asks, 600.0)
    watch.offset = 1.0
    assert drive(watch.look(NOW), [], Told()) == 1
    assert watch.offset is None


def test_who_was_not_told_the_time_asks_again_soon() -> None:
    watch = ClockWatch(slurm_time, 600.0)
    drive(watch.look(NOW), [said("what?\n")], Told())
    assert watch.awaited and drive(watch.look(NOW + 10), [], Told()) == 0
    answer = said("Configuration data as of 1795236255\n")
    assert drive(watch.look(NOW + 30), [answer], Told(NOW + 30)) == 1
    assert watch.offset == pytest.approx(3.25)
    assert drive(watch.look(NOW + 60), [], Told()) == 0


def test_a_cluster_that_is_back_is_asked_at_once() -> None:
    """It did not answer in a life's first poll. In the one that it answers the time is told too:
    plans are made by it."""
    watch = ClockWatch(slurm_time, 600.0)
    away, answer = (
        failed("slurm_load_ctl_conf error"),
        said("Configuration data as of 1795236235\n"),
    )
    drive(watch.look(NOW), [away], Told(NOW))
    assert drive(watch.look(NOW + 10), [], Told()) == 0
    before = watch.awaited
    assert drive(watch.look(NOW + 10, answers=True), [answer], Told(NOW + 10)) == 1
    assert watch.offset == pytest.approx(3.25)
    assert (before, watch.awaited) == (True, False)
    assert drive(watch.look(NOW + 20, answers=True), [], Told()) == 0


def test_a_cluster_that_answers_all_but_this_is_asked_once_more() -> None:
    watch, away = ClockWatch(slurm_time, 600.0), failed("slurm_load_ctl_conf error")
    drive(watch.look(NOW), [away], Told(NOW))
    assert drive(watch.look(NOW, answers=True), [away], Told(NOW)) == 1
    assert drive(watch.look(NOW + 10), [], Told()) == 0
    assert drive(watch.look(NOW + 10, answers=True), [], Told()) == 0


def test_it_is_compared_with_the_time_at_which_it_was_told() -> None:
    """A look may wait for a connection before its first command; and a command for its answer."""
    watch = ClockWatch(slurm_time, 600.0)
    answer = said("Configuration data as of 1795236225\n")
    drive(watch.look(NOW), [answer], Told(NOW + 7, NOW + 9))
    assert watch.offset == pytest.approx(3.25 - 8.0)


@pytest.mark.parametrize("took", [5.0, -1.0], ids=["slow", "the broker's clock was set"])
def test_an_answer_of_which_nobody_knows_when_it_was_given_changes_nothing(took: float) -> None:
    watch = ClockWatch(slurm_time, 600.0)
    answer = said("Configuration data as of 1795236225\n")
    drive(watch.look(NOW), [answer], Told(NOW, NOW + took))
    assert watch.offset is None
    drive(watch.look(NOW + 30), [answer], Told(NOW))
    drive(watch.look(NOW + 630), [answer], Told(NOW + 630, NOW + 630 + took))
    assert watch.offset == watch.known == pytest.approx(3.25), "as it was known before"


@pytest.mark.parametrize(
    "answer",
    [
        said("what?\n"),
        said("Configuration data as of 179523622"),
        failed("slurm_load_ctl_conf error"),
    ],
)
def test_an_answer_that_does_not_tell_is_none(answer: object) -> None:
    watch = ClockWatch(slurm_time, 600.0)
    drive(watch.look(NOW), [answer], Told())  # type: ignore[list-item]
    assert watch.offset is None
