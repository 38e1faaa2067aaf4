"""The states of a job, the phases of a component, and the steps that are pending for it.

A job's history is a path through `TRANSITIONS`. `Job.move` refuses any other transition, so that a
mistake in the saga is an exception where it is made, and not a strange job a week later.

A co-allocated job takes the whole way of an attempt (DCS 3.1, 3.5); its way back is to the tail of
its queue, or to HELD if its user wanted that meanwhile:

    QUEUED --placed--> RESERVING --all reserved--> SUBMITTING --all submitted--> WAITING
           --all at the barrier, all armed--> RUNNING --all ended--> COMPLETED | FAILED | TIMEOUT

What is true in each state of an attempt, and what ends it:

    state       what its components do                 it goes on when            and back by
    ----------  -------------------------------------  -------------------------  ----------------
    RESERVING   files are sent; reservations are made  all voted yes              undoing
    SUBMITTING  native jobs are submitted              all are in their clusters  undoing [1]
    WAITING     some have arrived, some are armed      all are armed: the commit  undoing
    RUNNING     the scripts run, or will               all are over, results back nothing: it ends

[1] A job of one component has no barrier: it is never WAITING, and is RUNNING as soon as its script
was seen to start. In SUBMITTING its script may be running already, so it is ended, not undone; and
it may reach an end without having been seen to run. Where nothing is reserved and no files are
sent, an attempt begins with SUBMITTING.

Why each transition is there, beside those of that way:

    QUEUED, HELD -> CANCELLED       a user's wish; no cluster knows of the job
    QUEUED <-> HELD                 held and released
    HELD -> SUBMITTING              held since the store came back from a backup, and found again in
                                    a cluster, in an attempt that the backup does not know
    RESERVING, SUBMITTING, WAITING
      -> QUEUED                     rolled back: a failed submission that may be repeated
      -> HELD, CANCELLED            rolled back because a user wanted it
      -> FAILED                     the last submission allowed, or no cluster is left for it; or
                                    written off; or something told of it could not be handled
    SUBMITTING -> TIMEOUT, COMPLETED  one component, whose end was told before its start
    RUNNING -> QUEUED               a failed run, where a site lets those be repeated (DCS 3.5)
    QUEUED, HELD -> COMPLETED, FAILED   an array of jobs, all tasks of which have ended
    RUNNING -> HELD                 restored from a backup, and nobody can tell how it ended
    ended -> nothing                a job that has ended never changes again

A component of an attempt goes through the phases in their order, may skip some, and never goes
back. Its phase says what is known of it; its step says what is to be done for it next, and is NONE
while it waits for others or for its cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class JobState(Enum):
    """States of a job, in the words that users see."""

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
_OF_ARRAYS = frozenset({JobState.COMPLETED, JobState.FAILED})  # all their tasks have ended
_GIVEN_UP = frozenset({JobState.FAILED, JobState.CANCELLED})

TRANSITIONS: Mapping[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset(
        {JobState.HELD, JobState.RESERVING, JobState.SUBMITTING, JobState.CANCELLED} | _OF_ARRAYS,
    ),
    JobState.HELD: frozenset(
        {JobState.QUEUED, JobState.SUBMITTING, JobState.CANCELLED} | _OF_ARRAYS,
    ),
    JobState.RESERVING: frozenset({JobState.SUBMITTING} | _BACK | _GIVEN_UP),
    JobState.SUBMITTING: frozenset({JobState.WAITING, JobState.RUNNING} | _BACK | ENDED),
    JobState.WAITING: frozenset({JobState.RUNNING} | _BACK | _GIVEN_UP),
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
    """What must be done for a component next: at most one step is pending at a time.

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
    DENIED = "denied"  # the cluster does not allow its user
    INVALID = "invalid"  # the cluster will never accept it
    REFUSED = "refused"  # for a reason that is not known to last, or to be the cluster's
    OWN = "own"  # for one that may be its own: what its user chose, or where its files are
    FILES = "files"  # its files cannot be read, or not be written there, just now
    STUCK = "stuck"  # it would stay pending there for long
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
