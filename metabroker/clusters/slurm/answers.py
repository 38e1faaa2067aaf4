"""What Slurm's refusals mean: a sure no, or no answer at all."""

from __future__ import annotations

from collections.abc import Sequence

from metabroker.broker.states import Cause
from metabroker.clusters.answered import LONGEST, first_line
from metabroker.clusters.port import Doubt, Refusal
from metabroker.clusters.transports.base import Completed

# What the words in an answer mean, the surest first: the first that is found counts.
_NOT_DELIVERED = (
    "Munge encode failed",  # the client's own munged is down: nothing was sent
    "connect failure",
    "Connection refused",
    "Unable to resolve",
    "No route to host",
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
_BUSY = (
    "are busy",
    "Submit limit",
    "SubmitJobLimit",
    "SubmitLimit",
    "MaxJobCount",
    "too many jobs",
    "Requested node configuration is not available now",
    "Required partition not available",
    "Job/step already completing",
    "temporarily unable to accept job",
)
_DENIED = (
    "Invalid user id",
    "Access denied",
    "access denied",
    "ermission denied",
    "Invalid account",
    "not permitted",
    "only permitted by",
    "User not authorized",
)


def failure(done: Completed, what: str) -> Refusal | Doubt:
    """What a failed command means, as the exception to raise."""
    said = [line.strip() for line in (done.stderr + "\n" + done.stdout).splitlines()]

    def find(meaning: Sequence[str]) -> str | None:
        line = next((line for line in said if any(words in line for words in meaning)), None)
        return None if line is None else f"{what}: {line[:LONGEST]}"

    if (detail := find(_NOT_DELIVERED)) is not None:
        return Refusal(Cause.UNREACHABLE, detail)
    if (detail := find(_WRONG_CLIENT)) is not None:
        return Doubt(f"{detail}; the commands may be of another release than the controller")
    if (detail := find(_NO_ANSWER)) is not None:
        return Doubt(detail)
    if (detail := find(_BUSY)) is not None:
        return Refusal(Cause.BUSY, detail)
    if (detail := find(_DENIED)) is not None:
        return Refusal(Cause.DENIED, detail)
    text = first_line(done.stderr) or first_line(done.stdout) or f"exit status {done.exit_status}"
    return Refusal(Cause.INVALID, f"{what}: {text}")
