"""What PBS's refusals mean: a sure no, or no answer at all.

The exit status is the error's number modulo 256; it comes first, since some commands print a
document even where no server answered.
"""

from __future__ import annotations

from collections.abc import Sequence

from metabroker.broker.states import Cause
from metabroker.clusters.port import OF_OWN_OPTIONS, ClusterRefusal, UnknownOutcome
from metabroker.clusters.transports.base import LONGEST, Completed, first_line

UNKNOWN_JOB = 153
FINISHED = 35
UNKNOWN_QUEUE = 170
QUEUE_NOT_ENABLED = 173
UNKNOWN_RESERVATION = 236
NOT_EMPTY = 74  # a reservation that has begun
BAD_TIME = 238
ENDING = frozenset({168, 202, 237})
"""It is ending already: in a state in which it cannot be ended, exiting, being deleted."""

_NOT_DELIVERED = ("cannot connect", "Couldn't connect", "can not connect", "pbsconf error")
_NO_ANSWER = ("ommunication failure", "End of File", "Protocol", "timed out", "Premature end")
_NO_ANSWER_CODES = frozenset({162, 163, 183, 255})  # system, internal, protocol errors
# As many jobs, or as much of a resource, as may be there: a user's, a group's, a project's; or all
# users' together, which is told in words alone. A large job may be over the limit of a resource all
# by itself, and so never says that the cluster is full.
_LIMIT = frozenset({38, 39})
_FULL = "Maximum number of jobs already in "
# Nobody's job is taken now.
_BUSY = frozenset(
    {
        13,  # too many connections
        70,  # a resource is busy
        104,  # try again
        QUEUE_NOT_ENABLED,
        179,  # the object is busy
        185,  # no connections left
        196,  # resources are not available
        198,  # the queue is full
        212,  # the server is shutting down
        251,  # no scheduler
    }
)
_DENIED = frozenset(
    {
        159,  # unauthorized: lists of users and groups
        160,  # the list of hosts
        171,  # credentials
        172,
        174,  # no access to the queue, which takes jobs from other queues only
        175,  # bad user (root, without acl_roots)
        197,  # bad group
        244,  # reservations: host, group or user has no access
        245,
        246,
        247,  # bad user or group of a reservation
        248,
    }
)
# The request itself: it will be the same at the next try.
_INVALID = frozenset(
    {
        1,  # the command's own: an option, the script
        2,
        4,  # a resource: not for `select`, or for nothing else, for no `place`, twice in a chunk
        5,
        6,
        7,
        12,
        58,  # the least and the most of a time that may vary
        59,
        154,  # an attribute: unknown, read only
        155,
        156,  # a request: invalid, unknown, too many arguments
        157,
        158,
        166,  # a value
        UNKNOWN_QUEUE,
        176,  # a routing queue has no place for it
        178,
        180,
        184,  # a list of attributes
        186,
        187,  # a resource
        188,  # ... more of it than the queue, or the server, gives a job
        189,  # no queue
        191,  # refused by all queues that it was routed to
        194,  # the script
        201,  # the account
        206,  # a dependency
        UNKNOWN_RESERVATION,
        BAD_TIME,
    }
)
_MEANING = (
    (_LIMIT, Cause.LIMIT),
    (_BUSY, Cause.BUSY),
    (_DENIED, Cause.DENIED),
    (_INVALID, Cause.INVALID),
)


def confusing(options: Sequence[str]) -> str | None:
    """What is wrong with options of a user in whose echo the server would seem not to answer."""
    for word in options:
        found = next((words for words in (*_NOT_DELIVERED, *_NO_ANSWER) if words in word), None)
        if found is not None:
            return f"{word!r} has {found!r} in it, which PBS uses to report its own state"
    return None


def of_submission(
    done: Completed, *, own_options: bool, reserved: bool
) -> ClusterRefusal | UnknownOutcome:
    """What a failed qsub means. `own_options`: its user has chosen more than the broker knows, so
    that what is full or denied there (a queue, say) is not what other jobs need; `reserved`: it
    was to run in a reservation of the broker's, which is a queue that may be gone."""
    reason = failure(done, "qsub")
    if isinstance(reason, UnknownOutcome):
        return reason
    if reserved and done.exit_status in (UNKNOWN_QUEUE, QUEUE_NOT_ENABLED):
        return ClusterRefusal(Cause.LOST, reason.detail)
    if own_options and reason.cause in OF_OWN_OPTIONS:
        return ClusterRefusal(OF_OWN_OPTIONS[reason.cause], reason.detail)
    return reason


def failure(done: Completed, what: str) -> ClusterRefusal | UnknownOutcome:
    """What a failed command means, as the exception to raise."""
    said = [line.strip() for line in (done.stderr + "\n" + done.stdout).splitlines()]
    text = first_line(done.stderr) or f"exit status {done.exit_status}"
    found = next((line for line in said if any(w in line for w in _NOT_DELIVERED)), None)
    if found is not None:
        return ClusterRefusal(Cause.UNREACHABLE, f"{what}: {text}: {found}"[:LONGEST])
    found = next((line for line in said if any(w in line for w in _NO_ANSWER)), None)
    if found is not None or done.exit_status in _NO_ANSWER_CODES:
        return UnknownOutcome(f"{what}: {found or text}"[:LONGEST])
    cause = next((cause for codes, cause in _MEANING if done.exit_status in codes), Cause.REFUSED)
    if cause is Cause.LIMIT and _FULL in text:
        cause = Cause.BUSY
    return ClusterRefusal(cause, f"{what}: {text}")


def not_pbs(done: Completed) -> ClusterRefusal:
    """What a `qstat` means that is not OpenPBS's."""
    said = done.stdout + done.stderr
    if "slurm" in said.lower() or "Unknown option" in said:
        what = "this is Slurm's wrapper of that name: use `system: slurm`"
    elif "Version:" in said or "torque" in said.lower():
        what = "this is TORQUE, which cannot reserve and is not supported"
    else:
        what = f"this is not OpenPBS or PBS Professional ({first_line(said) or 'it says nothing'})"
    return ClusterRefusal(Cause.INVALID, f"qstat --version: {what}")
