"""What Slurm's refusals mean: every recorded command that failed, in all releases."""

from __future__ import annotations

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.port import Doubt, Refusal
from metabroker.clusters.slurm.answers import failure
from metabroker.clusters.transports.base import Completed

from . import recorded
from .recorded import RELEASES

DOUBT = None
# The meaning of every case that failed in any release; all that are not here are INVALID.
MEANING: dict[str, Cause | None] = {
    "create too large": Cause.BUSY,
    "create on more nodes than exist": Cause.BUSY,
    "create with cores over the nodes' size": Cause.BUSY,
    "create: nodes unknown": Cause.BUSY,
    "partition inactive": Cause.BUSY,
    "create for an unknown user": Cause.DENIED,  # 26.05 says no more than "Unspecified error"
    "create as no operator": Cause.DENIED,
    "delete as no operator": Cause.DENIED,
    "another's reservation": Cause.DENIED,
    "scancel another's job": Cause.DENIED,
    "uid as no root": Cause.DENIED,
    **{f"{what}: controller frozen": DOUBT for what in
       ("sbatch", "squeue", "sinfo", "show", "create", "delete", "scancel")},
    **{f"{what}: controller down": Cause.UNREACHABLE for what in
       ("sbatch", "squeue", "sinfo", "show", "delete", "scancel")},
    "create: controller down": DOUBT,  # the same words as frozen: it may exist
    **{f"{what}: no munged": Cause.UNREACHABLE for what in
       ("sbatch", "squeue", "sinfo", "show", "create", "delete", "scancel")},
}  # fmt: skip
FAILED = [case for r in RELEASES for case in recorded.cases(r).values() if case.rc not in (0, None)]


@pytest.mark.parametrize("case", FAILED, ids=lambda case: f"{case.release} {case.case}")
def test_recorded_failures(case: recorded.Case) -> None:
    meant = MEANING.get(case.case, Cause.INVALID)
    if "Unspecified error" in case.stderr:
        meant = Cause.INVALID
    error = failure(case.completed, case.argv[0])
    found = DOUBT if isinstance(error, Doubt) else error.cause
    assert found is meant, error.detail
    assert error.detail.startswith(f"{case.argv[0]}: ")
    assert len(error.detail) > len(case.argv[0]) + 4
    assert "\n" not in error.detail


def test_the_recorded_failures_are_the_ones_expected() -> None:
    assert MEANING.keys() <= {case.case for case in FAILED}


@pytest.mark.parametrize("release", RELEASES)
def test_without_munge_the_line_that_says_so_is_told(release: str) -> None:
    error = failure(recorded.cases(release)["sbatch: no munged"].completed, "sbatch")
    assert "Did you start munged?" in error.detail


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("slurm_load_jobs error: Incompatible versions of client and server code", DOUBT),
        ("slurm_load_jobs error: Zero Bytes were transmitted or received", DOUBT),
        ("slurm_load_jobs error: Insane message length", DOUBT),
        ("Unable to contact slurm controller (connect failure)", Cause.UNREACHABLE),
        ("Unable to contact slurm controller", DOUBT),
        ("error: slurm_receive_msg: Zero Bytes were transmitted or received", DOUBT),
        ("Slurm backup controller in standby mode", DOUBT),
        ("Batch job submission failed: Connection reset by peer", DOUBT),
        ("Batch job submission failed: Resource temporarily unavailable", DOUBT),
        # A retry's note before the real answer.
        (
            "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n"
            "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
            DOUBT,
        ),
        ("sbatch: error: Slurm temporarily unable to accept job, sleeping", Cause.BUSY),
        ("sbatch: error: QOSMaxSubmitJobPerUserLimit", Cause.INVALID),
        ("sbatch: error: AssocMaxSubmitJobLimit", Cause.BUSY),
        (
            "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, "
            "user's size and/or time limits)",
            Cause.INVALID,
        ),
        ("", Cause.INVALID),
    ],
)
def test_other_words(said: str, meant: Cause | None) -> None:
    error = failure(Completed(1, "", said), "sbatch")
    assert (DOUBT if isinstance(error, Doubt) else error.cause) is meant


def test_a_failure_without_a_word_tells_its_exit_status() -> None:
    error = failure(Completed(7, " \n", "\n"), "sbatch")
    assert isinstance(error, Refusal)
    assert error.detail == "sbatch: exit status 7"


def test_a_long_answer_is_cut() -> None:
    assert len(failure(Completed(1, "", "x" * 10_000), "sbatch").detail) < 400
    assert len(failure(Completed(1, "", "timed out" * 10_000), "sbatch").detail) < 400
