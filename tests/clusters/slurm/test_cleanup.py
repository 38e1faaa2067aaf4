"""Cleaning: cancel, wait, delete, until nothing is left of the token; or "not yet"."""

from __future__ import annotations

from unittest.mock import ANY

import pytest

from metabroker.broker.states import Cause
from metabroker.broker.tokens import NativeId
from metabroker.clusters.port import UnknownOutcome, Writer
from metabroker.clusters.slurm import cleaning
from metabroker.clusters.slurm.commands import SlurmIdentity

from . import recorded
from .drive import TOKEN, Answer, Told, drive, failed, job, said

WHO = SlurmIdentity("mbsvc")
FIND = f"squeue -h -a --local -r -t all -u mbsvc -n {TOKEN} -o JOBS"
CANCEL = f"scancel -u mbsvc -n {TOKEN}"
DELETE = f"scontrol delete ReservationName={TOKEN}"
IN_USE = failed(f"delete_reservation reservation={TOKEN}: Requested reservation is in use\n")
NO_SUCH_JOB = failed("slurm_load_jobs error: Invalid job id specified\n")
UNKNOWN = failed(f"delete_reservation reservation={TOKEN}: Requested reservation is invalid\n")


def clean(answers: list[Answer], *, reservation: bool = True) -> tuple[Cause | None, Told]:
    told = Told()
    last = drive(cleaning.clean(WHO, TOKEN, reservation=reservation), answers, told)
    return None if last is None else last.cause, told


def test_nothing_is_there() -> None:
    assert clean([said(), UNKNOWN])[1].lines == [FIND, DELETE]
    assert clean([said()], reservation=False)[1].lines == [FIND]


def test_a_running_job_and_its_reservation() -> None:
    cause, told = clean(
        [said(job("RUNNING")), said(), said(job("COMPLETING")), said(job("CANCELLED")), said()]
    )
    assert cause is Cause.KILLED
    assert told.lines == [FIND, CANCEL, FIND, FIND, DELETE]
    assert told.pauses == 1


def test_an_ended_job_whose_reservation_is_gone_is_over() -> None:
    """A restarted controller (26.05) calls it RESV_DEL_HOLD, and scancel ends no such job."""
    ended = job("RESV_DEL_HOLD").replace("N/A", "1795244540")
    assert clean([said(ended), UNKNOWN]) == (None, ANY)
    waits, told = clean([said(job("RESV_DEL_HOLD")), said(), said(job("CANCELLED")), UNKNOWN])
    assert (waits, told.lines) == (Cause.KILLED, [FIND, CANCEL, FIND, DELETE])


def test_it_is_cancelled_by_name_and_once() -> None:
    _cause, told = clean(
        [said(job("PENDING")), said(), *[said(job("PENDING"))] * 3, said(), NO_SUCH_JOB, said()]
    )
    assert told.lines.count(CANCEL) == 1


def test_twins_are_all_waited_for() -> None:
    both = job("CANCELLED", 1) + job("RUNNING", 2)
    _cause, told = clean(
        [said(both), said(), said(both), said(job("CANCELLED", 1)), said(), said()]
    )
    assert told.lines == [FIND, CANCEL, FIND, FIND, BY_ID.replace("7", "2"), DELETE]


def test_a_reservation_still_in_use_is_deleted_later() -> None:
    _cause, told = clean(
        [said(job("CANCELLED")), IN_USE, said(job("CANCELLED")), IN_USE, said(), said()]
    )
    assert told.lines == [FIND, DELETE, FIND, DELETE, FIND, DELETE]
    assert told.pauses == 2


@pytest.mark.parametrize(
    ("state", "cause"),
    [
        ("COMPLETED", None),
        ("TIMEOUT", Cause.OVERTIME),
        ("NODE_FAIL", Cause.NODE),
        ("FAILED", Cause.EXIT),
    ],
)
def test_its_clusters_word_on_how_it_ended(state: str, cause: Cause | None) -> None:
    assert clean([said(job(state)), said()])[0] is cause
    # Forgotten in between: what was seen last counts.
    assert clean([said(job(state)), IN_USE, said(), said()])[0] is cause


def test_what_does_not_end_is_not_gone_yet() -> None:
    with pytest.raises(UnknownOutcome, match=f"{TOKEN} is COMPLETING: not gone yet"):
        clean([said(job("RUNNING")), said(), *[said(job("COMPLETING"))] * 29])
    with pytest.raises(UnknownOutcome, match=f"{TOKEN}: not gone yet"):
        clean([x for _ in range(30) for x in (said(), IN_USE)])


@pytest.mark.parametrize("release", recorded.RELEASES)
def test_recorded_answers_to_deleting(release: str) -> None:
    cases = recorded.cases(release)
    for gone in ("delete", "delete an unknown reservation"):
        clean([said(), cases[gone].completed])
    in_use = cases["delete in use by a pending job"].completed
    running = cases["delete in use by a running job"].completed
    clean([said(), in_use, said(), running, said(), said()])
    for trouble in ("frozen", "down"):
        with pytest.raises(UnknownOutcome):
            clean([said(), cases[f"delete: controller {trouble}"].completed])
    with pytest.raises(UnknownOutcome):
        clean([said(), cases["delete as no operator"].completed])


@pytest.mark.parametrize("release", recorded.RELEASES)
def test_recorded_answers_to_cancelling(release: str) -> None:
    cases = recorded.cases(release)
    done = cases["scancel a running job"].completed
    clean([said(job("RUNNING")), done, said(), NO_SUCH_JOB, said()])
    for case in ("scancel: controller frozen", "scancel: controller down", "scancel another's job"):
        with pytest.raises(UnknownOutcome):
            clean([said(job("RUNNING")), cases[case].completed])


def test_a_job_that_ended_just_before_it_was_cancelled_is_no_error() -> None:
    late = failed("scancel: error: Kill job error on job id 7: Job/step already completing\n")
    clean([said(job("RUNNING")), late, said(job("COMPLETED")), said()])
    gone = failed("scancel: error: Kill job error on job id 7: Invalid job id specified\n")
    clean([said(job("RUNNING")), gone, said(), NO_SUCH_JOB, said()])


NATIVE = NativeId("7", 1795244532.0)
ANOTHER = TOKEN.replace("-1-1-0", "-2-1-0")  # another component's token
BY_ID = "squeue -h -a --local -r -t all -u mbsvc -j 7 -o JOBS"


def clean_renamed(*answers: Answer, writer: Writer | None = None) -> list[str]:
    told = Told()
    native = NATIVE if writer is None else None
    steps = cleaning.clean(WHO, TOKEN, reservation=False, native=native, writer=writer)
    drive(steps, answers, told)
    return told.lines


def test_a_job_that_is_renamed_while_it_is_cleaned_is_cancelled_by_its_id() -> None:
    """Its script may do that just before it is cancelled by its name."""
    mine, over = job("RUNNING", name="mine"), job("CANCELLED", name="mine")
    _cause, told = clean(
        [said(job("RUNNING")), said(), said(), said(mine), said(), said(), said(over)],
        reservation=False,
    )
    assert told.lines == [FIND, CANCEL, FIND, BY_ID, "scancel -u mbsvc 7", FIND, BY_ID]


def test_a_job_that_was_renamed_is_found_and_cancelled_by_its_id() -> None:
    mine, over = job("RUNNING", name="mine"), job("CANCELLED", name="mine")
    lines = clean_renamed(said(), said(mine), said(), said(), said(), said(over))
    assert lines == [FIND, BY_ID, CANCEL, "scancel -u mbsvc 7", FIND, BY_ID]
    assert clean_renamed(said(job("COMPLETED"))) == [FIND]


@pytest.mark.parametrize(
    "answer",
    [
        said(job("RUNNING", name="other", submitted=1795244592)),  # the id was issued again
        said(job("RUNNING", name=ANOTHER, submitted=1795244533)),  # ... and within a second
        said(),  # ... to another account
        failed("slurm_load_jobs error: Invalid job id specified\n"),
    ],
)
def test_a_job_that_only_has_its_id_is_left_alone(answer: Answer) -> None:
    assert clean_renamed(said(), answer) == [FIND, BY_ID]


@pytest.mark.parametrize(
    ("submitted", "cancelled"), [(1795244532, True), (1795244592, False), (1795244000, False)]
)
def test_the_job_that_wrote_the_record_is_cancelled_if_it_can_be_it(
    submitted: int, cancelled: bool
) -> None:
    mine, twin = job("RUNNING", name="mine", submitted=submitted), job("FAILED", 8)
    more = [said(), said(), said(twin), said()] if cancelled else []
    writer = Writer("7", made=1795244530.0, started=1795244540.0)
    lines = clean_renamed(said(twin), said(mine), *more, writer=writer)
    assert ("scancel -u mbsvc 7" in lines) is cancelled


def test_a_record_leads_to_no_job_of_another_component() -> None:
    writer = Writer("7", made=1795244530.0, started=1795244540.0)
    lines = clean_renamed(said(), said(job("RUNNING", name=ANOTHER)), writer=writer)
    assert lines == [FIND, BY_ID]


def test_a_job_that_its_script_has_given_the_token_of_another_is_cancelled_all_the_same() -> None:
    """Its cluster has told when it was submitted, so it is no later one."""
    told, native = Told(), NATIVE._replace(listed=True)
    mine, over = job("RUNNING", name=ANOTHER), job("CANCELLED", name=ANOTHER)
    steps = cleaning.clean(WHO, TOKEN, reservation=False, native=native)
    drive(steps, [said(), said(mine), said(), said(), said(), said(over)], told)
    assert told.lines == [FIND, BY_ID, CANCEL, "scancel -u mbsvc 7", FIND, BY_ID]


def test_a_record_names_no_job_that_is_not_a_number() -> None:
    assert clean_renamed(said(), writer=Writer("7_[1-9]", 0.0, 1.0)) == [FIND]


def test_one_whose_script_has_ended_is_waited_for_and_then_its_reservation_is_deleted() -> None:
    told, seen = Told(), cleaning.Ending(recorded=True)
    answers = [said(job("RUNNING")), said(job("COMPLETED")), IN_USE, said(), said()]
    drive(cleaning.clean(WHO, TOKEN, reservation=True, seen=seen), answers, told)
    assert told.lines == [FIND, FIND, DELETE, FIND, DELETE] and not seen.late
