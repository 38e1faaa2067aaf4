"""OpenPBS's words for the states of jobs, nodes and reservations, and what they mean."""

from __future__ import annotations

from collections.abc import Collection

from metabroker.broker.observation import NativeState
from metabroker.broker.states import Cause

JOB_STATES: dict[str, NativeState] = {
    **dict.fromkeys("QHWT", NativeState.PENDING),  # queued, held, waits for a time, in transit
    **dict.fromkeys("RSUEB", NativeState.RUNNING),  # running, suspended (2), exiting, array begun
    **dict.fromkeys("FX", NativeState.ENDED),  # finished, and so of a part of an array
}
_DELETED = 91  # the substate of a finished job that somebody ended
_OVER_WALLTIME = -29
_OVER_OTHER_LIMITS = range(-28, -23)  # cput, mem, vmem, ncpus


def job_state(word: str) -> NativeState:
    """What a job's state letter means; others (M: moved to another server) are unknown."""
    return JOB_STATES.get(word, NativeState.UNKNOWN)


def end_cause(substate: int | None, exit_status: int | None) -> Cause | None:
    """Why a finished job ended, if not by itself. `exit_status`: 0 to 255 the job's own, 256 and
    the signal's number where the server killed it, below 0 what PBS itself did; None: it never
    ran, or that was not written down."""
    if exit_status is None:
        return Cause.KILLED
    if exit_status == _OVER_WALLTIME:
        return Cause.OVERTIME
    if exit_status in _OVER_OTHER_LIMITS or substate == _DELETED or exit_status >= 256:
        return Cause.KILLED
    if exit_status < 0:
        return Cause.NODE
    return Cause.EXIT if exit_status else None


_WORDS = {
    "Q": "queued",
    "H": "held",
    "W": "waiting for its time",
    "T": "in transit",
    "R": "running",
    "S": "suspended",
    "U": "suspended for its host's user",
    "E": "exiting",
    "B": "begun",
    "F": "finished",
    "X": "finished",
    "M": "moved to another server",
}


def state_word(letter: str) -> str:
    """What a job's state letter stands for; itself, where that is not known."""
    return _WORDS.get(letter, letter)


def ended_words(substate: int | None, exit_status: int | None) -> str:
    """How a finished job ended, in words; see `end_cause`."""
    if exit_status is None:
        deleted = substate == _DELETED
        return "deleted before it ran" if deleted else "its exit status is not known"
    if exit_status == _OVER_WALLTIME:
        return "it ran longer than its walltime"
    if exit_status in _OVER_OTHER_LIMITS:
        return "it used more of a resource than it asked for"
    if substate == _DELETED:
        return "deleted"
    if exit_status >= 256:
        return f"ended by signal {exit_status - 256}"
    if exit_status < 0:
        return f"PBS could not run it (exit status {exit_status})"
    return f"exit status {exit_status}"


# All words of a node's state must be of these (`job-exclusive,resv-exclusive`).
_EXCLUSIVE = frozenset({"job-exclusive", "resv-exclusive"})
_WHOLE = _EXCLUSIVE | {"job-busy"}
_TAKES_JOBS = _WHOLE | {"free", "busy"}


def takes_jobs(words: Collection[str]) -> bool:
    """Whether a node in this state runs jobs (it may be full)."""
    return bool(words) and _TAKES_JOBS.issuperset(words)


def is_taken_whole(words: Collection[str]) -> bool:
    """Whether somebody has all of the node, however few of its processors were asked for."""
    return not _WHOLE.isdisjoint(words)


def is_exclusive(words: Collection[str]) -> bool:
    """Whether one job or reservation alone has all of the node."""
    return not _EXCLUSIVE.isdisjoint(words)


def is_sole(sharing: str) -> bool:
    """Whether a node is given whole to any job that does not ask to share it, as ours do not."""
    return sharing.startswith(("default_excl", "force_excl"))


def is_unsettled(words: Collection[str]) -> bool:
    """Whether the server has not heard of the node yet (it has just been started)."""
    return not {"state-unknown", "unknown", "initializing"}.isdisjoint(words)


_HEALTHY = frozenset({"RESV_CONFIRMED", "RESV_TIME_TO_RUN", "RESV_RUNNING"})
_BEGUN = frozenset({"RESV_RUNNING", "RESV_BEING_DELETED", "RESV_DELETING_JOBS"})
_HOLDS_NOTHING = frozenset({"RESV_NONE", "RESV_UNCONFIRMED", "RESV_FINISHED", "RESV_DELETED"})
_GOING = frozenset({"RESV_FINISHED", "RESV_BEING_DELETED", "RESV_DELETED", "RESV_DELETING_JOBS"})
_DEGRADED = (10, 12)  # substates: it has lost a node, whatever the state says


def is_healthy(word: str, substate: int | None) -> bool:
    """Whether a reservation in this state takes jobs, and has all that it was given."""
    return word in _HEALTHY and substate not in _DEGRADED


def is_degraded(word: str, substate: int | None) -> bool:
    """Whether a reservation that takes jobs has lost a node, so that they may never run."""
    return word == "RESV_DEGRADED" or (word in _HEALTHY and substate in _DEGRADED)


def is_going(word: str) -> bool:
    """Whether a reservation in this state is over, or being deleted."""
    return word in _GOING


def has_begun(word: str) -> bool:
    """Whether its processors are among those that its nodes show as assigned."""
    return word in _BEGUN


def holds(word: str) -> bool:
    """Whether a reservation in this state, also one that is unknown here, keeps processors."""
    return word not in _HOLDS_NOTHING
