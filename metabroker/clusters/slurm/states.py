"""Slurm's words for job and node states, and what they mean to the broker."""

from __future__ import annotations

from metabroker.broker.observation import NativeState
from metabroker.broker.states import Cause

RESERVATION_GONE = "RESV_DEL_HOLD"
"""A job that waits, and whose reservation is gone. But a controller (26.05) that was started again
calls jobs so that have ended, too; these have an end."""
_PENDING = (
    "PENDING",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
    RESERVATION_GONE,
    "RESIZING",
    "EXPEDITING",
)
# REVOKED is in no list: another cluster of the federation has started the job. It is not over, and
# does not run here; its own record tells its end.
PREPARING = ("CONFIGURING", "POWER_UP_NODE")
"""Its nodes are being made ready, or woken up: they are its own already."""
_RUNNING = (
    "RUNNING",
    *PREPARING,
    "COMPLETING",
    "SUSPENDED",
    "STOPPED",
    "SIGNALING",
    "STAGE_OUT",
)
_ENDED: dict[str, Cause | None] = {
    "COMPLETED": None,
    "FAILED": Cause.EXIT,  # or killed by a signal that nobody sent through Slurm: the record knows
    "CANCELLED": Cause.KILLED,
    "TIMEOUT": Cause.OVERTIME,
    "DEADLINE": Cause.OVERTIME,
    "NODE_FAIL": Cause.NODE,
    "BOOT_FAIL": Cause.NODE,
    "LAUNCH_FAILED": Cause.NODE,
    "RECONFIG_FAIL": Cause.NODE,
    "PREEMPTED": Cause.KILLED,
    "OUT_OF_MEMORY": Cause.KILLED,
}
JOB_STATES: dict[str, NativeState] = {
    **dict.fromkeys(_PENDING, NativeState.PENDING),
    **dict.fromkeys(_RUNNING, NativeState.RUNNING),
    **dict.fromkeys(_ENDED, NativeState.ENDED),
}


def job_state(word: str) -> NativeState:
    """What a job's state word means; words outside the table are unknown, not guessed."""
    return JOB_STATES.get(word, NativeState.UNKNOWN)


def end_cause(word: str) -> Cause | None:
    """Why a job in an ended state ended, if not by itself."""
    return _ENDED.get(word, Cause.KILLED)


# Reasons (squeue's `%r`) that will not pass soon by themselves. More may follow such a word, and of
# each job it is one at a time: where several hold, Slurm names one of them.
_STUCK = (
    "ReqNodeNotAvail",
    "Nodes required for job are DOWN",
    "Reservation",
    "BeginTime",
    "PartitionDown",
    "PartitionInactive",
    "PartitionNodeLimit",
    "PartitionTimeLimit",
    "PartitionConfig",
    "NodeDown",
    "BadConstraints",
    "JobHeldAdmin",
    "JobHoldMaxRequeue",
    "AccountNotAllowed",
    "QOSNotAllowed",
    "InvalidAccount",
    "InvalidQOS",
)


def will_not_pass(reason: str) -> bool:
    """Whether a job that is pending for this reason will stay so for long."""
    return reason.startswith(_STUCK)


# Node states in which jobs can start now. What is left of a word after its suffix says more:
# `*` the node does not answer, `~ # ! % @ ^` it is, goes or comes from powered down; `$` a
# maintenance reservation (counted as a reservation) and `-` planned by backfill do not matter here.
_TAKES_JOBS = frozenset(
    {
        "idle",
        "mixed",
        "allocated",
        "completing",
        "reserved",
        "maint",
        "planned",
        "allocated+",
        "blocked",
    }
)
# `~` and `#`: asleep, and being woken up: whoever is given such a node wakes it.
_BAD_SUFFIXES = frozenset("*!%@^")


def takes_jobs(word: str) -> bool:
    """Whether a node in this state (as `sinfo %T` says it) can start jobs now."""
    base = word.rstrip("*~#!%$@^+-")
    return base in _TAKES_JOBS and not _BAD_SUFFIXES.intersection(word[len(base) :])


def is_unsettled(word: str) -> bool:
    """Whether the controller does not know the node yet (it has just been started)."""
    return word.rstrip("*~#!%$@^+-") in ("unknown", "unk")
