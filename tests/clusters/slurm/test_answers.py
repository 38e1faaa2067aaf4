"""What Slurm's refusals mean: every recorded command that failed, in all releases."""

from __future__ import annotations

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.port import ClusterRefusal, UnknownOutcome
from metabroker.clusters.slurm.answers import confusing, failure, of_submission
from metabroker.clusters.transports.base import Completed

from . import recorded
from .recorded import RELEASES

DOUBT = None
POLICY = (
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit "
    "limit, user's size and/or time limits)"
)
# The meaning of every case that failed in any release. All that are not here are the request's own
# fault where sbatch says so; of other commands it is only sure that nothing was done.
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
    meant = {MEANING.get(case.case, Cause.INVALID)}
    if "Unspecified error" in case.stderr:
        meant = {Cause.REFUSED}
    elif case.case not in MEANING and (
        case.argv[0] != "sbatch" or "reservation is invalid" in case.stderr
    ):
        meant = {Cause.INVALID, Cause.REFUSED}
    error = failure(case.completed, case.argv[0])
    found = DOUBT if isinstance(error, UnknownOutcome) else error.cause
    assert found in meant, error.detail
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
        (f"sbatch: error: QOSMaxSubmitJobPerUserLimit\n{POLICY}", Cause.LIMIT),
        (f"sbatch: error: QOSMaxSubmitJobPerAccountLimit\n{POLICY}", Cause.LIMIT),
        (f"sbatch: error: QOSGrpSubmitJobsLimit\n{POLICY}", Cause.LIMIT),
        (f"sbatch: error: AssocMaxSubmitJobLimit\n{POLICY}", Cause.LIMIT),
        (f"sbatch: error: AssocGrpSubmitJobsLimit\n{POLICY}", Cause.LIMIT),
        (f"sbatch: error: QOSMaxCpuPerJobLimit\n{POLICY}", Cause.INVALID),
        (f"sbatch: error: QOSMaxWallDurationPerJobLimit\n{POLICY}", Cause.INVALID),
        (f"sbatch: error: QOSMinCpuNotSatisfied\n{POLICY}", Cause.INVALID),
        (f"sbatch: error: AssocMaxWallDurationPerJobLimit\n{POLICY}", Cause.INVALID),
        ("Batch job submission failed: Invalid partition name specified", Cause.INVALID),
        ("Batch job submission failed: Invalid qos specification", Cause.INVALID),
        ("Batch job submission failed: Invalid feature specification", Cause.INVALID),
        (
            "Batch job submission failed: Invalid generic resource (gres) specification",
            Cause.INVALID,
        ),
        ("Batch job submission failed: Node count specification invalid", Cause.INVALID),
        (
            "Batch job submission failed: Requested node configuration is not available",
            Cause.INVALID,
        ),
        (
            "Batch job submission failed: Requested time limit is invalid (missing or exceeds some "
            "limit)",
            Cause.INVALID,
        ),
        (
            "Batch job submission failed: Invalid account or account/partition combination "
            "specified",
            Cause.DENIED,
        ),
        (
            "Batch job submission failed: User's group not permitted to use this partition",
            Cause.DENIED,
        ),
        ("Batch job submission failed: Unable to create job record, try again", Cause.BUSY),
        (
            "Batch job submission failed: Required partition not available (inactive or drain)",
            Cause.BUSY,
        ),
        ("Batch job submission failed: Invalid authentication credential", Cause.UNREACHABLE),
        ("Batch job submission failed: Something that is new", Cause.REFUSED),
        (POLICY, Cause.DENIED),  # a limit of either kind
        ("", Cause.REFUSED),
    ],
)
def test_other_words(said: str, meant: Cause | None) -> None:
    error = failure(Completed(1, "", said), "sbatch")
    assert (DOUBT if isinstance(error, UnknownOutcome) else error.cause) is meant


@pytest.mark.parametrize(
    ("said", "own_options", "reserved", "meant"),
    [
        ("Required partition not available (inactive or drain)", False, False, Cause.BUSY),
        ("Required partition not available (inactive or drain)", True, False, Cause.OWN),
        ("Requested reservation is invalid", False, True, Cause.LOST),
        ("Requested reservation is invalid", True, False, Cause.OWN),
        ("Something that is new", True, False, Cause.OWN),
        ("Invalid partition name specified", True, False, Cause.INVALID),
        ("Invalid account or account/partition combination", False, False, Cause.DENIED),
        ("Invalid account or account/partition combination", True, False, Cause.INVALID),
    ],
)
def test_what_is_full_for_one_users_own_options_closes_no_cluster(
    said: str, own_options: bool, reserved: bool, meant: Cause
) -> None:
    done = Completed(1, "", f"sbatch: error: Batch job submission failed: {said}")
    error = of_submission(done, own_options=own_options, reserved=reserved)
    assert isinstance(error, ClusterRefusal)
    assert error.cause is meant


@pytest.mark.parametrize(
    "option", ["--partition=are busy", "--comment=timed out", "-pconnect failure", "-CMaxJobCount"]
)
def test_options_in_whose_echo_the_cluster_would_seem_to_speak_are_refused(option: str) -> None:
    assert "uses to report its own state" in str(confusing([option]))
    assert confusing(["--partition=short", "--constraint=gpu&fast", "--comment=busy"]) is None


def test_a_failure_without_a_word_tells_its_exit_status() -> None:
    error = failure(Completed(7, " \n", "\n"), "sbatch")
    assert isinstance(error, ClusterRefusal)
    assert error.detail == "sbatch: exit status 7"


def test_a_long_answer_is_cut() -> None:
    assert len(failure(Completed(1, "", "x" * 10_000), "sbatch").detail) < 400
    assert len(failure(Completed(1, "", "timed out" * 10_000), "sbatch").detail) < 400
