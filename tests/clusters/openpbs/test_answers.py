"""What qsub's refusals mean, and that one user's own options close no queue to others."""

from __future__ import annotations

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.openpbs.answers import confusing, failure, of_submission
from metabroker.clusters.port import ClusterRefusal, UnknownOutcome
from metabroker.clusters.transports.base import Completed

from .recorded import Case, cases


@pytest.mark.parametrize(
    ("status", "said", "meant"),
    [
        (170, "qsub: Unknown queue", Cause.INVALID),
        (187, "qsub: Unknown resource: ncpuz", Cause.INVALID),
        (188, "qsub: Job violates queue and/or server resource limits", Cause.INVALID),
        (166, "qsub: Illegal attribute or resource value Resource_List.walltime", Cause.INVALID),
        (201, "qsub: Invalid account", Cause.INVALID),
        (2, "usage: qsub", Cause.INVALID),
        (38, "qsub: would exceed queue generic's per-user limit", Cause.LIMIT),
        (39, "qsub: would exceed limit on resource ncpus in queue workq", Cause.LIMIT),
        (159, "qsub: Unauthorized Request", Cause.DENIED),
        (174, "qsub: Access to queue is denied", Cause.DENIED),
        (175, "qsub: Bad UID for job execution", Cause.DENIED),
        (173, "qsub: Queue is not enabled", Cause.BUSY),
        (198, "qsub: Maximum number of jobs already in queue", Cause.BUSY),
        (99, "qsub: something that is new", Cause.REFUSED),
    ],
)
def test_what_qsub_says(status: int, said: str, meant: Cause) -> None:
    error = failure(Completed(status, "", said), "qsub")
    assert isinstance(error, ClusterRefusal)
    assert error.cause is meant
    assert said in error.detail


_MEANT = {
    Cause.LIMIT: (*range(1, 5), 6, *range(8, 13)),
    Cause.BUSY: (5, 7, 13, 14, 53),
    Cause.DENIED: (*range(17, 22), 23, 28, *range(32, 37), 41),
    Cause.INVALID: (15, 16, 22, *range(24, 28), 29, 31, *range(43, 48), 51, 52),
    Cause.REFUSED: (48, 49, 50),
}


@pytest.mark.parametrize(
    "said", [c for c in cases() if c.id.startswith("95/") and c.exit_status], ids=lambda c: c.id
)
def test_what_a_servers_limits_and_lists_were_seen_to_say(said: Case) -> None:
    error = failure(said.completed, said.argv[0])
    assert isinstance(error, ClusterRefusal)
    assert int(said.id[3:5]) in _MEANT[error.cause], (error.cause, said.stderr)
    assert said.stderr.splitlines()[0].strip() in error.detail


@pytest.mark.parametrize(
    ("status", "own_options", "reserved", "meant"),
    [
        (198, False, False, Cause.BUSY),
        (198, True, False, Cause.OWN),
        (99, True, False, Cause.OWN),
        (170, False, True, Cause.LOST),
        (170, True, False, Cause.INVALID),
    ],
)
def test_what_is_full_for_one_users_own_options_closes_no_cluster(
    status: int, own_options: bool, reserved: bool, meant: Cause
) -> None:
    done = Completed(status, "", "qsub: no")
    error = of_submission(done, own_options=own_options, reserved=reserved)
    assert isinstance(error, ClusterRefusal)
    assert error.cause is meant


def test_options_in_whose_echo_the_server_would_seem_not_to_answer_are_refused() -> None:
    assert "uses to report its own state" in str(confusing(["-Acannot connect"]))
    assert confusing(["-qshort", "-lmem=1gb", "-Pphysics"]) is None
    lost = of_submission(Completed(255, "", "qsub: End of File"), own_options=True, reserved=False)
    assert isinstance(lost, UnknownOutcome)
