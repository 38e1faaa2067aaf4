"""The state table of a job (contract C3), and the phases of one component of one attempt.

A job's history is a path through `TRANSITIONS`; `Job.move` refuses any other step, so that a
mistake in the saga is an exception where it is made and not a strange job a week later.

One attempt of a multi-component job (a saga; DCS 3.1, 3.5):

    QUEUED --placed--> RESERVING --all reserved--> SUBMITTING --all submitted--> WAITING
           --all at the barrier, all armed--> RUNNING --all ended--> COMPLETED | FAILED | TIMEOUT

A single-component job needs no reservation and no barrier: QUEUED -> SUBMITTING -> RUNNING.
A job that brings files is RESERVING while they are sent, before anything is asked for it.
Until the barrier opens everything can be undone, and leads back to QUEUED (the queue's tail).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class JobState(Enum):
    """States of a job, in the words of contract C3."""

    QUEUED = "QUEUED"
    HELD = "HELD"
    RESERVING = "RESERVING"
    SUBMITTING = "SUBMITTING"
    WAITING = "WAITING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMEOUT = "TIMEOUT"

    @property
    def ended(self) -> bool:
        """Whether a job in this state will never change again."""
        return self in ENDED


ENDED = frozenset(
    {JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED, JobState.TIMEOUT},
)
# An attempt is under way: the job has left its queue and may hold processors.
IN_ATTEMPT = frozenset(
    {JobState.RESERVING, JobState.SUBMITTING, JobState.WAITING, JobState.RUNNING},
)

_BACK = frozenset({JobState.QUEUED, JobState.HELD})
_GIVEN_UP = frozenset({JobState.FAILED, JobState.CANCELLED})

TRANSITIONS: Mapping[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset(
        {JobState.HELD, JobState.RESERVING, JobState.SUBMITTING, JobState.CANCELLED},
    ),
    # Submitting: held since the store came back from a backup, and found again in a cluster.
    JobState.HELD: frozenset({JobState.QUEUED, JobState.SUBMITTING, JobState.CANCELLED}),
    JobState.RESERVING: frozenset({JobState.SUBMITTING} | _BACK | _GIVEN_UP),
    # SUBMITTING reaches RUNNING directly where there is no barrier to wait at, and a final state
    # where a single component ended before it was ever seen to run.
    JobState.SUBMITTING: frozenset({JobState.WAITING, JobState.RUNNING} | _BACK | ENDED),
    JobState.WAITING: frozenset({JobState.RUNNING} | _BACK | _GIVEN_UP),
    # Held: restored from a backup, and nobody can tell how it ended.
    JobState.RUNNING: frozenset(_BACK | ENDED),
    JobState.COMPLETED: frozenset(),
    JobState.FAILED: frozenset(),
    JobState.CANCELLED: frozenset(),
    JobState.TIMEOUT: frozenset(),
}


class Phase(Enum):
    """How far one component of one attempt has come, as far as the broker knows."""

    PLACED = "placed"  # chosen by the policy; nothing asked of the cluster yet
    RESERVED = "reserved"  # its reservation was made, re-read and found right
    SUBMITTED = "submitted"  # the cluster has its job
    ARRIVED = "arrived"  # it waits at the barrier
    ARMED = "armed"  # it can no longer give up by itself
    STARTED = "started"  # the user's script has started
    ENDED = "ended"  # the user's script, or the component's job, is over
    GONE = "gone"  # the cluster holds nothing of it any more


class Step(Enum):
    """What the broker owes a component: at most one thing at a time.

    A step is written to the store before it is carried out, and is idempotent by the
    component's token, so that after a crash it is simply carried out again.
    """

    NONE = ""
    STAGE = "stage"  # its files are sent to its cluster
    RESERVE = "reserve"
    SUBMIT = "submit"
    ARM = "arm"
    OPEN = "open"
    CLEAN = "clean"
    FETCH = "fetch"  # its results are brought back
    KEEP = "keep"  # they could not be: they stay in its cluster, and all else goes
    DISCARD = "discard"


class Cause(Enum):
    """Why a step was refused, or a component ended otherwise than by its script's exit."""

    BUSY = "busy"  # the processors are not free, or the cluster takes nobody's job now
    LIMIT = "limit"  # its user has as many jobs there as may be: later
    DENIED = "denied"  # the cluster does not allow it
    INVALID = "invalid"  # the cluster will never accept it
    REFUSED = "refused"  # for a reason that is not known to last, or to be the cluster's
    UNREACHABLE = "unreachable"  # the cluster does not answer
    GAVE_UP = "gave-up"  # the component left the barrier at its deadline
    LOST = "lost"  # the cluster does not know it any more
    NODE = "node-failure"
    KILLED = "killed"
    OVERTIME = "time-limit"
    DEADLINE = "deadline"  # the broker waited long enough
    EXIT = "exit"  # the script's own non-zero exit code
    ABANDONED = "abandoned"  # an administrator has written it off
    RESULTS = "results"  # they could not be brought back
