"""What Slurm's refusals mean: a sure no, or no answer at all."""

from __future__ import annotations

from collections.abc import Sequence

from metabroker.broker.states import Cause
from metabroker.clusters.port import OF_OWN_OPTIONS, ClusterRefusal, UnknownOutcome
from metabroker.clusters.transports.base import LONGEST, Completed, first_line

# What the words in an answer mean, the surest first: the first that is found counts.
_NOT_DELIVERED = (
    "Munge encode failed",  # the client's own munged is down: nothing was sent
    "connect failure",
    "Connection refused",
    "Unable to resolve",
    "No route to host",
    "uthentication credential",
    "authentication agent",
)
_WRONG_CLIENT = (
    "Incompatible versions of client and server",
    "Insane message length",
    "Zero Bytes were transmitted",
    "Protocol authentication error",
)
# It may have been delivered, and carried out.
_NO_ANSWER = (
    "timed out",
    "Unexpected message",
    "Unable to contact slurm controller",
    "communication",
    "Communication",
    "Connection reset",
    "connection failure",
    "Slurm backup controller",
    "in standby",
    "Transport endpoint",
    "Resource temporarily unavailable",
)
# Its user, or the account, has as many jobs there as may be; the next is taken when one has ended.
_LIMIT = ("SubmitJob", "Submit limit", "SubmitLimit")
# Nobody's job is taken now.
_BUSY = (
    "are busy",
    "overlaps with another reservation",
    "MaxJobCount",
    "too many jobs",
    "Unable to create job record",
    "Requested node configuration is not available now",
    "configuration not available now",
    "Required partition not available",
    "Partition in DOWN state",
    "System submissions disabled",
    "Job/step already completing",
    "temporarily unable to accept job",
)
# The broker's own reservation is not there any more, or not yet.
_NO_RESERVATION = ("Requested reservation is invalid", "Requested reservation not usable")
_DENIED = (
    "Invalid user id",
    "Access denied",
    "access denied",
    "ermission denied",
    "Invalid account",
    "not permitted",
    "only permitted by",
    "User not authorized",
    "group not permitted",
    "breached requested QOS",
)


# The request itself: it will be the same at the next try. Limits of size and time that reach
# beyond the job (a group's, say) keep it pending and do not refuse it.
_INVALID = (
    "Invalid partition",
    "invalid partition",
    "No partition specified",
    "Multiple partition job request",
    "Invalid qos",
    "Invalid feature",
    "Invalid preferred feature",
    "Invalid wckey",
    "Invalid license",
    "Invalid time",
    "Invalid --time",
    "Invalid node",
    "Invalid generic resource",
    "Invalid gres",
    "Invalid GRES",
    "Invalid Trackable",
    "Invalid mcs_label",
    "Invalid job array",
    "Invalid accounting frequency",
    "Invalid numeric value",
    "Invalid --",
    "Invalid directive",
    "Duplicate generic resource",
    "specification invalid",
    "specification needs to be provided",
    "option is invalid",
    "time limit is invalid",
    "not in this partition",
    "processors requested than permitted",
    "more tasks than available processors",
    "more threads per core than",
    "node configuration is not available",
    "Memory required by task is not available",
    "GRES option unsupported",
    "Burst Buffer request invalid",
    "Job dependency problem",
    "parameter too long",
    "unrecognized option",
    "invalid option",
    "requires an argument",
    "is ambiguous",
    "ob script",
    "atch script",
    "does not allow scripts",
    "QOSM",  # QOSMaxCpuPerJobLimit, QOSMinGRES and the like, which the job is beyond by itself
    "QOSGrp",
    "QOSTime",
    "AssocMax",
    "AssocGrp",
    "PartitionTimeLimit",
    "PartitionNodeLimit",
    "MaxMemPerLimit",
)
_MEANING = (
    (_LIMIT, Cause.LIMIT),
    (_BUSY, Cause.BUSY),
    (_DENIED, Cause.DENIED),
    (_INVALID, Cause.INVALID),
    (("violates accounting/QOS policy",), Cause.DENIED),  # and no line tells of which limit
)
_THE_CLUSTERS = (*_NOT_DELIVERED, *_WRONG_CLIENT, *_NO_ANSWER, *_BUSY)


def confusing(options: Sequence[str]) -> str | None:
    """What is wrong with options of a user in whose echo the cluster would seem to speak of itself:
    what Slurm says of an option it does not know has the option's own words in it."""
    for word in options:
        found = next((words for words in _THE_CLUSTERS if words in word), None)
        if found is not None:
            return f"{word!r} has {found!r} in it, which Slurm uses to report its own state"
    return None


def of_submission(
    done: Completed, *, own_options: bool, reserved: bool
) -> ClusterRefusal | UnknownOutcome:
    """What a failed sbatch means. `own_options`: its user has chosen more than the broker knows, so
    that what is full or denied there (a partition, say) is not what other jobs need; `reserved`: it
    was to run in a reservation of the broker's."""
    reason = failure(done, "sbatch")
    if isinstance(reason, UnknownOutcome):
        return reason
    said = done.stderr + done.stdout
    if reserved and any(words in said for words in _NO_RESERVATION):
        return ClusterRefusal(Cause.LOST, reason.detail)
    if own_options and reason.cause in OF_OWN_OPTIONS:
        return ClusterRefusal(OF_OWN_OPTIONS[reason.cause], reason.detail)
    return reason


def failure(done: Completed, what: str) -> ClusterRefusal | UnknownOutcome:
    """What a failed command means, as the exception to raise."""
    said = [line.strip() for line in (done.stderr + "\n" + done.stdout).splitlines()]

    def find(meaning: Sequence[str]) -> str | None:
        line = next((line for line in said if any(words in line for words in meaning)), None)
        return None if line is None else f"{what}: {line[:LONGEST]}"

    if (detail := find(_NOT_DELIVERED)) is not None:
        return ClusterRefusal(Cause.UNREACHABLE, detail)
    if (detail := find(_WRONG_CLIENT)) is not None:
        return UnknownOutcome(
            f"{detail}; the commands may be of another release than the controller"
        )
    if (detail := find(_NO_ANSWER)) is not None:
        return UnknownOutcome(detail)
    for meaning, cause in _MEANING:
        if (detail := find(meaning)) is not None:
            return ClusterRefusal(cause, detail)
    text = first_line(done.stderr) or first_line(done.stdout) or f"exit status {done.exit_status}"
    return ClusterRefusal(Cause.REFUSED, f"{what}: {text}")
