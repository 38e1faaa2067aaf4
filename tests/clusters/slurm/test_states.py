"""Slurm's words for states."""

from __future__ import annotations

import pytest

from metabroker.broker.observation import NativeState
from metabroker.broker.states import Cause
from metabroker.clusters.slurm.states import end_cause, is_unsettled, job_state, takes_jobs


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("PENDING", NativeState.PENDING),
        ("CONFIGURING", NativeState.RUNNING),  # its nodes are its own already
        ("POWER_UP_NODE", NativeState.RUNNING),
        ("REQUEUE_HOLD", NativeState.PENDING),
        ("RESV_DEL_HOLD", NativeState.PENDING),
        ("RUNNING", NativeState.RUNNING),
        ("SUSPENDED", NativeState.RUNNING),
        ("COMPLETING", NativeState.RUNNING),
        ("COMPLETED", NativeState.ENDED),
        ("FAILED", NativeState.ENDED),
        ("NODE_FAIL", NativeState.ENDED),
        ("PREEMPTED", NativeState.ENDED),
        ("OUT_OF_MEMORY", NativeState.ENDED),
        ("REVOKED", NativeState.UNKNOWN),  # a sibling of its federation runs
        # Outside the table: not guessed.
        ("TELEPORTING", NativeState.UNKNOWN),
        ("", NativeState.UNKNOWN),
        ("running", NativeState.UNKNOWN),
    ],
)
def test_job_states(word: str, state: NativeState) -> None:
    assert job_state(word) is state


@pytest.mark.parametrize(
    ("word", "cause"),
    [
        ("COMPLETED", None),
        ("FAILED", Cause.EXIT),
        ("CANCELLED", Cause.KILLED),
        ("TIMEOUT", Cause.OVERTIME),
        ("DEADLINE", Cause.OVERTIME),
        ("NODE_FAIL", Cause.NODE),
        ("BOOT_FAIL", Cause.NODE),
    ],
)
def test_why_a_job_ended(word: str, cause: Cause | None) -> None:
    assert end_cause(word) is cause


@pytest.mark.parametrize(
    "word",
    [
        "idle",
        "mixed",
        "allocated",
        "mixed-",
        "idle+",
        "reserved",
        "maint",
        "planned",
        "idle$",
        "idle~",
        "mixed#",
    ],
)
def test_nodes_that_take_jobs(word: str) -> None:
    assert takes_jobs(word)


@pytest.mark.parametrize(
    "word",
    ["down", "down*", "idle*", "idle!", "idle%", "idle@", "idle^", "drained",
     "draining", "drained*", "fail", "failing", "unknown", "unk*", "future", "reboot^", "", "~",
     "perfctrs", "powering_down", "mixed*$"],
)  # fmt: skip
def test_nodes_that_do_not(word: str) -> None:
    assert not takes_jobs(word)


def test_a_controller_that_has_just_started_does_not_know_its_nodes() -> None:
    assert is_unsettled("unknown") and is_unsettled("unk*")
    assert not is_unsettled("down*") and not is_unsettled("idle")
