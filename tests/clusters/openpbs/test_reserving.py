"""Reserving: a start a little ahead by the server's clock, and nothing counts unread."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.openpbs import reserving
from metabroker.clusters.openpbs.commands import PbsIdentity
from metabroker.clusters.openpbs.own_reservations import OwnReservations
from metabroker.clusters.port import ReserveRequest, UnknownOutcome
from metabroker.clusters.transports.base import CommandLost, Completed, Unreached
from tests.clusters.refusals import refused
from tests.clusters.slurm.drive import TOKEN, Answer, Told, drive, failed, said

from .recorded import case, reservations

WHO = PbsIdentity("mbsvc")
ORDER = ReserveRequest(TOKEN, 4, 600)
NOW = 1795236222  # Sat Nov 21 04:43:42 2026
SERVER = said(f"{NOW}\n")
CONFIRMED = said("R112.pbsa CONFIRMED\n")
NONE = said()
UNKNOWN = said("", "pbs_rstat: Unknown Reservation Id\n")
LIST = "pbs_rstat -F"
NONE_LISTED = "pbs_rstat -B"
SHOW = "pbs_rstat -F R112.pbsa"
DELETE = "pbs_rdel R112.pbsa"


def rsub(start: str) -> str:
    return f"pbs_rsub -I -8 -N {TOKEN} -R {start} -D 600 -l select=4:ncpus=1 -l place=free"


def shown(
    state: str = "RESV_CONFIRMED",
    substate: int = 2,
    processors: int = 4,
    owner: str = "mbsvc",
    name: str = TOKEN,
    created: str = "Sat Nov 21 04:43:42 2026",
) -> Completed:
    text = case("50/04").stdout
    for old, new in (
        ("RESV_RUNNING", state),
        ("reserve_substate = 5", f"reserve_substate = {substate}"),
        ("ncpus = 4", f"ncpus = {processors}"),
        ("pbsal@pbsa", f"{owner}@pbsa"),
        ("mbnow", name),
        ("ctime = Sat Nov 21 04:43:42 2026", f"ctime = {created}"),
    ):
        text = text.replace(old, new)
    return said(text)


def reserve(answers: list[Answer], ahead: float = 0.0) -> tuple[list[str], float]:
    told = Told()
    found = drive(reserving.reserve(WHO, ORDER, ahead, OwnReservations("mbsvc")), answers, told)
    assert all(("TZ", "UTC") in command.env for command in told.commands)
    return told.lines, found


def test_it_begins_a_few_seconds_ahead_and_is_made_when_it_is_confirmed() -> None:
    lines, ahead = reserve([NONE, SERVER, CONFIRMED, shown()])
    assert lines == [NONE_LISTED, "date +%s", rsub("202611210443.45"), SHOW]
    assert ahead == 0.0


def test_chunks_have_what_the_configuration_says() -> None:
    told = Told()
    who = PbsIdentity("mbsvc", chunk="mem=2gb:Qlist=fast")
    drive(
        reserving.reserve(who, ORDER, 0.0, OwnReservations("mbsvc")),
        [NONE, SERVER, CONFIRMED, shown()],
        told,
    )
    assert "select=4:ncpus=1:mem=2gb:Qlist=fast" in told.commands[2].argv


def test_the_servers_clock_is_learned_and_kept_to() -> None:
    late = shown(created="Sat Nov 21 04:43:49 2026")
    _, ahead = reserve([NONE, SERVER, CONFIRMED, late])
    assert ahead == 7.0
    lines, _ = reserve([NONE, SERVER, CONFIRMED, shown()], ahead=7.0)
    assert lines[2] == rsub("202611210443.52")


def test_a_clock_that_is_behind_needs_no_more() -> None:
    lines, _ = reserve([NONE, SERVER, CONFIRMED, shown()], ahead=-40.0)
    assert lines[2] == rsub("202611210443.45")


def test_a_start_that_was_too_early_is_tried_later() -> None:
    bad = case("40/17").completed
    lines, _ = reserve([NONE, SERVER, bad, SERVER, CONFIRMED, shown()])
    assert lines[4] == rsub("202611210443.52")
    with refused(Cause.BUSY, "clock"):
        reserve([NONE, *[SERVER, bad] * 3])


def test_one_that_is_not_confirmed_in_time_is_gone_and_tried_later() -> None:
    expired = said("R112.pbsa delete, wait period expired\n")
    gone = case("40/63").completed
    lines, _ = reserve([NONE, SERVER, expired, gone, SERVER, CONFIRMED, shown()])
    assert lines[3] == DELETE
    hung = said("R112.pbsa UNCONFIRMED\n")
    with refused(Cause.BUSY, "UNCONFIRMED"):
        reserve([NONE, *[SERVER, hung, said()] * 3])


@pytest.mark.parametrize("name", ["40/11", "40/15", "40/25", "50/45", "50/48"])
def test_denied_is_busy_and_leaves_nothing(name: str) -> None:
    with refused(Cause.BUSY, "DENIED"):
        reserve([NONE, SERVER, case(name).completed])


@pytest.mark.parametrize("name", ["40/33", "40/31"])
def test_without_the_right_to_reserve_the_way_out_is_told(name: str) -> None:
    with refused(Cause.DENIED, "claim: placeholder"):
        reserve([NONE, SERVER, case(name).completed])


@pytest.mark.parametrize(("name", "cause"), [("40/23", Cause.INVALID), ("70/12", Cause.UNREACHABLE),
                                             ("70/21", Cause.UNREACHABLE)])  # fmt: skip
def test_other_answers(name: str, cause: Cause) -> None:
    with refused(cause):
        reserve([NONE, SERVER, case(name).completed])


def test_one_that_was_made_before_is_kept() -> None:
    for state, substate in (("RESV_CONFIRMED", 2), ("RESV_RUNNING", 5)):
        lines, ahead = reserve([shown(state, substate)], ahead=2.0)
        assert (lines, ahead) == ([LIST], 2.0)


@pytest.mark.parametrize(
    "wrong",
    [
        shown("RESV_UNCONFIRMED", 1),
        shown("RESV_RUNNING", 10),
        shown("RESV_DEGRADED", 10),
        shown(processors=3),
        said(shown().stdout + shown().stdout.replace("R112", "R113")),
    ],
)
def test_one_that_is_not_right_is_made_anew(wrong: Completed) -> None:
    lines, _ = reserve([wrong, said(), SERVER, CONFIRMED, shown()])
    assert lines[1].startswith(DELETE)


def test_somebody_elses_of_that_name_is_left_alone() -> None:
    lines, _ = reserve([shown(owner="mallory"), SERVER, CONFIRMED, shown()])
    assert not any("pbs_rdel" in line for line in lines)


def test_what_was_made_and_is_not_what_was_asked_for_does_not_count() -> None:
    for wrong in (shown(processors=3), shown("RESV_DEGRADED", 10), UNKNOWN):
        with refused(Cause.BUSY):
            reserve([NONE, SERVER, CONFIRMED, wrong, said()])


def test_what_was_made_and_cannot_be_seen_any_more_may_be_there() -> None:
    away, busy = Unreached("ssh: no route to host"), failed("pbs_rstat: try again\n", 104)
    with pytest.raises(UnknownOutcome, match="no route"):
        reserve([NONE, SERVER, CONFIRMED, away])
    with pytest.raises(UnknownOutcome, match="try again"):
        reserve([NONE, SERVER, CONFIRMED, busy])
    with pytest.raises(UnknownOutcome, match="no route"):
        reserve([NONE, SERVER, said("R112.pbsa UNCONFIRMED\n"), away])
    with pytest.raises(UnknownOutcome, match="no route"):
        reserve([shown(processors=3), away])


def test_whether_it_was_made_may_not_be_known() -> None:
    with pytest.raises(CommandLost):
        reserve([NONE, SERVER, CommandLost("pbs_rsub: no answer within 30 s")])
    with pytest.raises(UnknownOutcome):
        reserve([NONE, SERVER, failed("pbs_rsub: communication failure\n", 1)])
    # It succeeds where it has not even read where the server is.
    with refused(Cause.UNREACHABLE):
        reserve([case("70/25").completed])


def test_whole_nodes_are_reserved_as_such() -> None:
    told = Told()
    who, order = PbsIdentity("mbsvc", unit=2), ReserveRequest(TOKEN, 4, 600)
    drive(
        reserving.reserve(who, order, 0.0, OwnReservations("mbsvc")),
        [NONE, SERVER, CONFIRMED, shown()],
        told,
    )
    assert "select=2:ncpus=2:mpiprocs=2" in told.commands[2].argv
    assert "place=scatter:excl" in told.commands[2].argv


ALTER = f"pbs_ralter -I 8 -R 202611210544.00 {SHOW.split()[-1]}"
SOONER = ReserveRequest(TOKEN, 4, 600, start=NOW + 3618.0, move=True)


def move(
    answers: list[Answer], request: ReserveRequest = SOONER, own: OwnReservations | None = None
) -> list[str]:
    told = Told()
    drive(reserving.reserve(WHO, request, 0.0, own or OwnReservations("mbsvc")), answers, told)
    return told.lines


def altered(word: str) -> Completed:
    return said(f"pbs_ralter: R112.pbsa {word}\n")


PASSED = failed("pbs_ralter: Bad time specification(s)\n", 238)


def test_it_is_moved_if_the_scheduler_confirms_that_and_at_once_is_in_a_second() -> None:
    assert move([shown(), SERVER, altered("CONFIRMED")]) == [LIST, "date +%s", ALTER]
    soon = replace(SOONER, start=NOW + 0.0)
    assert "-R 202611210443.43" in move([shown(), SERVER, altered("CONFIRMED")], soon)[2]


def test_where_a_second_is_too_soon_it_is_moved_to_three_from_now() -> None:
    soon = replace(SOONER, start=NOW + 0.0)
    lines = move([shown(), SERVER, PASSED, SERVER, altered("CONFIRMED")], soon)
    assert [line.split()[4] for line in lines[2::2]] == ["202611210443.43", "202611210443.45"]


def test_what_has_begun_stays_if_it_lasts_and_does_not_wait_for_long() -> None:
    running = shown("RESV_RUNNING", 5)
    (found,) = reservations(running.stdout)
    whole = int(found.end_time - found.start_time)
    late = replace(SOONER, start=found.start_time + 600.0, seconds=whole - 570)
    assert move([running], late) == [LIST]
    for useless in (
        replace(late, seconds=late.seconds + 1),  # it ends before what is asked for
        replace(late, start=found.start_time + 601.0, seconds=10),
    ):
        with refused(Cause.LOST):
            move([running], useless)


@pytest.mark.parametrize(
    ("answers", "cause"),
    [
        ([NONE], Cause.LOST),
        ([shown(), SERVER, altered("DENIED")], Cause.BUSY),
        ([shown(), SERVER, failed("pbs_ralter: Reservation not empty\n", 74)], Cause.BUSY),
        ([shown(), SERVER, PASSED, SERVER, PASSED], Cause.BUSY),
    ],
)
def test_what_cannot_be_moved_is_as_it_was(answers: list[Answer], cause: Cause) -> None:
    with refused(cause):
        move(answers)


def test_a_move_that_is_not_answered_in_time_is_not_known() -> None:
    with pytest.raises(UnknownOutcome):
        move([shown(), SERVER, altered("UNCONFIRMED")])


def test_its_end_is_set() -> None:
    ends = ReserveRequest(TOKEN, 0, 0, move=True, end=NOW + 60.0)
    lines = move([shown("RESV_RUNNING", 5), altered("CONFIRMED")], ends)
    assert lines == [LIST, "pbs_ralter -I 8 -E 202611210444.42 R112.pbsa"]


# --- what is known of it ----------------------------------------------------------------------


def known(*answers: Completed, start: float | None = None) -> OwnReservations:
    """What is known after a poll has shown this (else the one of `shown`), which begins then."""
    own = OwnReservations("mbsvc")
    found = [r for a in answers or (shown(),) for r in reservations(a.stdout)]
    begins = NOW + 3600.0 if start is None else start
    own.seen(own.poll_begins(), (replace(each, start_time=begins) for each in found))
    return own


def test_one_that_is_known_and_far_is_moved_without_asking_for_it() -> None:
    own = known()
    denied = [SERVER, SERVER, altered("DENIED")]
    with refused(Cause.BUSY):
        move(list(denied), own=own)
    assert move([SERVER, SERVER, altered("CONFIRMED")], own=own)[-1] == ALTER
    found = own.of(TOKEN)
    assert found is not None and found.start_time == SOONER.start


@pytest.mark.parametrize("begins", [-5.0, 0.0, 15.0])
def test_one_that_may_have_begun_is_asked_for(begins: float) -> None:
    lines = move([SERVER, shown(), SERVER, altered("CONFIRMED")], own=known(start=NOW + begins))
    assert lines == ["date +%s", LIST, "date +%s", ALTER]


def test_one_that_is_known_wrongly_is_asked_for() -> None:
    own = known()
    gone = failed("pbs_ralter: Unknown Reservation Id\n", 236)
    with refused(Cause.LOST):
        move([SERVER, SERVER, gone, NONE], own=own)
    assert own.of(TOKEN) is None
    ends = ReserveRequest(TOKEN, 0, 0, move=True, end=NOW + 60.0)
    lines = move([gone, shown("RESV_RUNNING", 5), altered("CONFIRMED")], ends, known())
    assert lines[1:] == [LIST, "pbs_ralter -I 8 -E 202611210444.42 R112.pbsa"]


def test_one_whose_move_was_not_answered_is_not_known_any_more() -> None:
    own = known()
    with pytest.raises(UnknownOutcome):
        move([SERVER, SERVER, altered("UNCONFIRMED")], own=own)
    assert own.of(TOKEN) is None


def test_what_was_made_is_known_until_a_later_poll_does_not_show_it() -> None:
    own = OwnReservations("mbsvc")
    early = own.poll_begins()
    drive(reserving.reserve(WHO, ORDER, 0.0, own), [NONE, SERVER, CONFIRMED, shown()], Told())
    own.seen(early, ())
    assert own.of(TOKEN) is not None, "that poll began before"
    own.seen(own.poll_begins(), ())
    assert own.of(TOKEN) is None


def test_a_poll_that_began_before_tells_nothing_of_one_that_was_forgotten() -> None:
    own = known()
    early, before = own.poll_begins(), reservations(shown().stdout)
    with pytest.raises(UnknownOutcome):
        move([SERVER, SERVER, altered("UNCONFIRMED")], own=own)
    own.seen(early, before)
    assert own.of(TOKEN) is None
    own.seen(own.poll_begins(), before)
    assert own.of(TOKEN) is not None


def test_of_two_with_one_token_none_is_known() -> None:
    assert known(shown(), shown()).of(TOKEN) is None
