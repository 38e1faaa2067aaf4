"""Whose a job is: its name is no proof, and nobody's name can pass for another line."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.openpbs import operations as pbs
from metabroker.clusters.openpbs.commands import PbsIdentity
from metabroker.clusters.openpbs.commands import reserve as pbs_reserve
from metabroker.clusters.openpbs.own_reservations import OwnReservations
from metabroker.clusters.owners import Verified
from metabroker.clusters.port import ReserveRequest
from metabroker.clusters.slurm import cleaning, operations, parsing
from metabroker.clusters.slurm.commands import SlurmIdentity
from metabroker.clusters.slurm.parsing import MARKED_COLUMNS, SEPARATOR, marked_format, marked_jobs
from metabroker.clusters.transports.base import Command
from tests.clusters.openpbs.test_submitting import ORDER as PBS_ORDER
from tests.clusters.slurm.drive import TOKEN, Told, drive, failed, job, said
from tests.clusters.slurm.test_submitting import ORDER

MARK = "0123456789abcdef"


class Known:
    """Owners as a broker knows them."""

    def __init__(self, **owners: str) -> None:
        self._owners = {token.replace("_", "-"): owner for token, owner in owners.items()}

    def of(self, token: str) -> str | None:
        return self._owners.get(token)

    def accounts(self) -> Sequence[str]:
        return ["mbsvc", "anna", "bob"]


def line(user: str, name: str, mark: str = MARK, state: str = "RUNNING") -> str:
    """A job as squeue prints it."""
    others = (state, "16", "delft1", "None", "1795244532", "N/A", "N/A", "(null)")
    return SEPARATOR.join((mark, user, "7", *others, name)) + "\n"


def test_the_columns_are_those_of_one_account_with_the_name_last() -> None:
    assert MARKED_COLUMNS == (
        "%u", "%i", "%T", "%C", "%N", "%r", "%V", "%S", "%e", "%v", "%j",
    )  # fmt: skip
    assert marked_format(MARK).split(SEPARATOR) == [MARK, *MARKED_COLUMNS]
    (found,) = marked_jobs(line("anna", TOKEN), MARK)
    (known,) = parsing.jobs(job("RUNNING"))
    assert (found.user, found.name, found.processors) == ("anna", TOKEN, 16)
    assert (found.id, found.state, found.nodes) == (known.id, known.state, known.nodes)


def test_a_name_cannot_pass_for_another_users_line() -> None:
    forged = line("bob", TOKEN, mark="fedcba9876543210")
    text = line("anna", f"mine\n{forged}") + line("bob", f"x{SEPARATOR}{TOKEN}") + "\n"
    assert [(found.user, found.name) for found in marked_jobs(text, MARK)] == [
        ("anna", "mine"), ("bob", f"x {TOKEN}"),
    ]  # fmt: skip


def test_what_is_cut_off_is_no_answer() -> None:
    with pytest.raises(Garbled):
        marked_jobs(line("anna", TOKEN)[:40], MARK)


def test_a_token_counts_only_with_its_owner() -> None:
    verified = Verified(Known(mb_1="anna", mb_2="bob"))
    assert verified.seen(
        [("mb-1", "anna"), ("mb-1", "bob"), ("mb-2", "anna"), ("mb-3", "anna")]
    ) == {("mb-1", "anna"), ("mb-3", "anna")}
    assert (verified.stray("mb-3"), verified.stray("mb-1")) == ("anna", None)
    verified.seen([])
    assert verified.stray("mb-3") is None


def asked(told: Told) -> list[tuple[str, str | None]]:
    """Each command's first word, and as whom it was run."""
    return [(command.argv[0], command.account) for command in told.commands]


def test_slurm_jobs_are_submitted_and_cancelled_as_their_users() -> None:
    who, told = SlurmIdentity("anna", "batch", acting=True), Told()
    drive(operations.submit(who, ORDER, b"#!/bin/sh\n"), [said("7\n")], told)
    answers = [said(job("RUNNING")), said(), said(job("CANCELLED")), said()]
    drive(cleaning.clean(who, TOKEN, reservation=True), answers, told)
    assert asked(told) == [
        ("sbatch", "anna"), ("squeue", None), ("scancel", "anna"), ("squeue", None),
        ("scontrol", None),
    ]  # fmt: skip
    assert told.lines[2] == f"scancel -u anna -n {TOKEN}"


def test_under_self_no_command_has_an_account() -> None:
    who, told = SlurmIdentity("mbsvc", "batch"), Told()
    drive(operations.submit(who, ORDER, b"#!/bin/sh\n"), [said("7\n")], told)
    answers = [said(job("RUNNING")), said(), said(job("CANCELLED")), said()]
    drive(cleaning.clean(who, TOKEN, reservation=True), answers, told)
    assert {account for _word, account in asked(told)} == {None}


def test_slurm_looks_at_all_accounts_at_once() -> None:
    look = operations.look(
        SlurmIdentity("mbsvc"), 0.0, "mb-", "22.05", Verified(Known(mb_1="anna"))
    )
    first = next(look)
    assert isinstance(first, Command)
    words = " ".join(first.argv[:-1])
    assert words == "squeue -h -a --local -r -t all -u mbsvc,anna,bob -o" and first.account is None
    mark = first.argv[-1].partition(SEPARATOR)[0]
    text = line("anna", "mb-1", mark) + line("bob", "mb-1", mark) + line("anna", "mine", mark)
    look.send(said(text))
    look.send(said())
    with pytest.raises(StopIteration) as end:
        look.send(said("No reservations in the system\n"))
    found = [(job.user, job.name) for job in end.value.value.jobs]
    assert found == [("anna", "mb-1"), ("anna", "mine")]  # the latter may be one of ours, renamed


def test_an_account_that_is_unknown_hides_nobody_elses_jobs() -> None:
    look = operations.look(
        SlurmIdentity("mbsvc"), 0.0, "mb-", "22.05", Verified(Known(mb_1="anna"))
    )
    next(look)
    again = look.send(failed("squeue: error: Invalid user: bob"))
    assert isinstance(again, Command) and "-u" not in again.argv
    look.send(said(line("anna", "mb-1", again.argv[-1].partition(SEPARATOR)[0])))
    look.send(said())
    with pytest.raises(StopIteration) as end:
        look.send(said("No reservations in the system\n"))
    assert [found.name for found in end.value.value.jobs] == ["mb-1"]


def test_pbs_reserves_for_the_user_and_acts_as_the_user() -> None:
    who, told = PbsIdentity("anna", operator="mbsvc"), Told()
    words = pbs_reserve(who, ReserveRequest(TOKEN, 2, 60), 0.0, 8)
    assert words.argv[-2:] == ("-U", "anna") and words.account is None
    assert "-U" not in pbs_reserve(PbsIdentity("mbsvc"), ReserveRequest(TOKEN, 2, 60), 0.0, 8).argv
    submitting = pbs.submit(who, PBS_ORDER, b"#!/bin/sh\n", OwnReservations("mbsvc"))
    drive(submitting, [said("7.pbsa\n")], told)
    drive(pbs.find(who, TOKEN), [said()], told)
    assert asked(told) == [("qsub", "anna"), ("qselect", None)]
    assert told.lines[1] == f"qselect -x -u anna -N {TOKEN}"
