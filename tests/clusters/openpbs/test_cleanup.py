"""Cleaning: end the job, wait, and only then delete the reservation; with and without history."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.broker.states import Cause
from metabroker.broker.tokens import NativeId
from metabroker.clusters.openpbs import operations, parsing
from metabroker.clusters.openpbs.commands import PbsIdentity
from metabroker.clusters.openpbs.snapshot import PbsPoll, snapshot
from metabroker.clusters.port import UnknownOutcome, Writer
from metabroker.clusters.transports.base import Completed
from tests.clusters.slurm.drive import TOKEN, Answer, Told, drive, said

from .recorded import case
from .test_reserving import shown
from .test_submitting import NO_HISTORY

WHO = PbsIdentity("mbsvc")
ID = said("37.pbsa\n")
FIND = f"qselect -x -u mbsvc -N {TOKEN}"
LIVE = f"qselect -u mbsvc -N {TOKEN}"
SHOW = "qstat -E -x -f -F dsv 37.pbsa"
LIST = "pbs_rstat -F"
NONE_LISTED = "pbs_rstat -B"


def job(state: str, substate: int = 42, status: int | None = None) -> Completed:
    text = f"Job Id: 37.pbsa|Job_Name={TOKEN}|Job_Owner=mbsvc@h|job_state={state}"
    text += f"|substate={substate}" + ("" if status is None else f"|Exit_status={status}")
    return said(text + "\n")


def clean(answers: list[Answer], *, reservation: bool = True) -> tuple[Cause | None, Told]:
    told = Told()
    last = drive(operations.clean(WHO, TOKEN, reservation=reservation), answers, told)
    return (None if last is None else last.cause), told


def test_the_quick_order() -> None:
    cause, told = clean(
        [ID, job("R"), said(), ID, job("E", 53), ID, job("F", 91, 271), shown(), said(), said()]
    )
    assert cause is Cause.KILLED
    assert told.lines == [
        *(FIND, SHOW, "qdel 37.pbsa", FIND, SHOW, FIND, SHOW),
        *(LIST, "pbs_rdel R112.pbsa", NONE_LISTED),
    ]
    assert told.pauses == 1


def test_nothing_there() -> None:
    assert clean([said(), said()])[1].lines == [FIND, NONE_LISTED]
    assert clean([said()], reservation=False)[1].lines == [FIND]


def test_without_history_a_job_that_is_gone_has_ended() -> None:
    gone, shown = (
        Completed(153, "", "qstat: Unknown Job Id 37.pbsa\n"),
        "qstat -E -f -F dsv 37.pbsa",
    )
    answers: list[Answer] = [NO_HISTORY, ID, job("R"), said(), NO_HISTORY, said(), gone]
    cause, told = clean(answers, reservation=False)
    assert cause is None
    assert told.lines == [FIND, LIVE, shown, "qdel 37.pbsa", FIND, LIVE, shown]


def test_a_job_that_vanishes_between_two_commands() -> None:
    gone = case("20/19").completed
    assert gone.exit_status == 153
    # In the form asked for nothing is printed.
    nothing = Completed(153, "", gone.stderr)
    assert clean([ID, nothing], reservation=False)[0] is None


@pytest.mark.parametrize("name", ["30/08", "30/09", "30/04", "30/06", "30/12"])
def test_recorded_answers_to_ending_a_job(name: str) -> None:
    clean([ID, job("R"), case(name).completed, ID, job("F", 91, 271)], reservation=False)


def test_a_job_that_is_in_no_state_to_be_ended_is_ending() -> None:
    ending = Completed(168, "", "qdel: Request invalid for state of job 37.pbsa\n")
    clean([ID, job("R"), ending, ID, job("F", 91, 271)], reservation=False)


def words(answers: list[Answer]) -> tuple[Cause | None, str]:
    """What is told of an end."""
    seen = operations.Ending()
    last = drive(operations.clean(WHO, TOKEN, reservation=True, seen=seen), answers, Told())
    seen.last = last
    cause = None if last is None else last.cause
    return cause, seen.words(cause)


def test_an_end_that_the_broker_has_not_brought_about_is_told_in_words() -> None:
    gone = shown("RESV_BEING_DELETED", 9)
    deleted = "its reservation was deleted in the cluster, and its job with it"
    # As of `pbs_rdel` on a live server: substate 91, and an exit status of 0.
    ended = [ID, job("F", 91, 0)]
    assert words([*ended, gone, said(), said()]) == (Cause.KILLED, deleted)
    assert words([*ended, said()]) == (Cause.KILLED, deleted)
    assert words([*ended, shown(), said(), said()]) == (Cause.KILLED, "deleted")
    over = [ID, job("F", 93, -29)]
    late = "it ran longer than its walltime"
    assert words([*over, shown(), said(), said()]) == (Cause.OVERTIME, late)
    # Ended by the broker itself: no more is known than why it did so.
    own = [ID, job("R"), said(), ID, job("F", 91, 271)]
    assert words([*own, shown(), said(), said()]) == (Cause.KILLED, "")


@pytest.mark.parametrize("name", ["30/01", "30/11", "70/07", "70/19"])
def test_a_job_that_cannot_be_ended_is_a_doubt(name: str) -> None:
    with pytest.raises(UnknownOutcome, match="qdel"):
        clean([ID, job("R"), case(name).completed], reservation=False)


@pytest.mark.parametrize("name", ["40/60", "40/62", "40/63", "50/30"])
def test_recorded_answers_to_deleting_a_reservation(name: str) -> None:
    clean([said(), shown(), case(name).completed, said()])


@pytest.mark.parametrize("name", ["40/59", "70/15"])
def test_a_reservation_that_cannot_be_deleted_is_a_doubt(name: str) -> None:
    with pytest.raises(UnknownOutcome, match="pbs_rdel"):
        clean([said(), shown(), case(name).completed])


def test_a_reservation_that_is_slow_to_go_is_waited_for() -> None:
    slow = shown("RESV_BEING_DELETED", 9)
    _, told = clean([said(), shown(), said(), slow, said(), slow, said(), said()])
    assert told.pauses == 1


def test_all_of_a_token_are_deleted_and_nobody_elses() -> None:
    three = said(
        shown().stdout
        + shown().stdout.replace("R112", "R113")
        + shown(owner="mallory").stdout.replace("R112", "R114")
    )
    left = shown(owner="mallory").stdout.replace("R112", "R114")
    _, told = clean([said(), three, said(), said(left)])
    assert "pbs_rdel R112.pbsa R113.pbsa" in told.lines


def test_what_does_not_end_is_not_gone_yet() -> None:
    with pytest.raises(UnknownOutcome, match=f"{TOKEN} is exiting: not gone yet"):
        clean([ID, job("R"), said(), *[x for _ in range(8) for x in (ID, job("E"))]])


RENAMED = case("30/37").completed  # qalter -N newname


@pytest.mark.parametrize(
    ("who", "submitted", "cancelled"),
    [("pbsal", 1795236067.0, True), ("pbsal", 1795236007.0, False), ("mbsvc", 1795236067.0, False)],
)
def test_a_job_that_was_renamed_is_found_by_its_id(
    who: str, submitted: float, cancelled: bool
) -> None:
    told, gone = Told(), Completed(153, "", "qstat: Unknown Job Id 84.pbsa\n")
    more: list[Answer] = [said(), said(), gone] if cancelled else []
    native = NativeId("84.pbsa", submitted)
    cleaning = operations.clean(PbsIdentity(who), TOKEN, reservation=False, native=native)
    drive(cleaning, [said(), RENAMED, *more], told)
    assert ("qdel 84.pbsa" in told.lines) is cancelled


@pytest.mark.parametrize("listed", [False, True])
def test_a_job_that_bears_the_token_of_another_is_that_ones(listed: bool) -> None:
    """Its id was given again within seconds; unless its server has told that it is the same."""
    told, gone = Told(), Completed(153, "", "qstat: Unknown Job Id 84.pbsa\n")
    another = TOKEN.replace("-1-1-0", "-2-1-0")
    named = replace(RENAMED, stdout=RENAMED.stdout.replace("newname", another))
    more: list[Answer] = [said(), said(), gone] if listed else []
    native = NativeId("84.pbsa", 1795236067.0, listed)
    cleaning = operations.clean(PbsIdentity("pbsal"), TOKEN, reservation=False, native=native)
    drive(cleaning, [said(), named, *more], told)
    assert ("qdel 84.pbsa" in told.lines) is listed


@pytest.mark.parametrize("listed", ["84.pbsa\n", "85.pbsa\n"])
def test_the_job_that_wrote_the_record_is_found_among_those_of_its_account(listed: str) -> None:
    told, gone = Told(), Completed(153, "", "qstat: Unknown Job Id 84.pbsa\n")
    writer = Writer("84.pbsa", made=1795236060.0, started=1795236070.0)
    cleaning = operations.clean(PbsIdentity("pbsal"), TOKEN, reservation=False, writer=writer)
    more: list[Answer] = [RENAMED, said(), said(), gone]  # seen once, it is asked for by its id
    drive(cleaning, [said(), said(listed), *(more if "84" in listed else [])], told)
    assert ("qdel 84.pbsa" in told.lines) is ("84" in listed)


def test_a_poll_tells_of_renamed_jobs_by_their_ids() -> None:
    look = PbsPoll(0.0, (), parsing.jobs(RENAMED.stdout), ())
    seen = snapshot(look, PbsIdentity("pbsal"), "mb-")
    assert not seen.jobs
    assert seen.unnamed["84.pbsa"].is_of(NativeId("84.pbsa", 1795236067.0))
