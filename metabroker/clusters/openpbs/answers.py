"""What PBS's refusals mean: a sure no, or no answer at all.

The exit status is the error's number modulo 256; it comes first, since some commands print a
document even where no server answered.
"""

from __future__ import annotations

from metabroker.broker.states import Cause
from metabroker.clusters.answered import LONGEST, first_line
from metabroker.clusters.port import Doubt, Refusal
from metabroker.clusters.transports.base import Completed

UNKNOWN_JOB = 153
FINISHED = 35
UNKNOWN_QUEUE = 170
QUEUE_NOT_ENABLED = 173
UNKNOWN_RESERVATION = 236
BAD_TIME = 238
ENDING = frozenset({202, 237})  # already exiting; its deletion is in progress

_NOT_DELIVERED = ("cannot connect", "Couldn't connect", "can not connect", "pbsconf error")
_NO_ANSWER = ("ommunication failure", "End of File", "Protocol", "timed out", "Premature end")
_NO_ANSWER_CODES = frozenset({162, 163, 183, 255})  # system, internal, protocol errors
_BUSY = frozenset(
    {
        13,  # too many connections
        38,  # a user's, group's or project's number of jobs
        39,  # ... or resources
        70,  # a resource is busy
        104,  # try again
        QUEUE_NOT_ENABLED,
        179,  # the object is busy
        185,  # no connections left
        196,  # resources are not available
        198,  # the queue is full
        200,
        212,  # the server is shutting down
        251,  # no scheduler
    }
)
_DENIED = frozenset(
    {
        159,  # unauthorized
        171,  # credentials
        172,
        174,  # no access to the queue
        175,  # bad user (root, without acl_roots)
        197,  # bad group
        244,  # reservations: host, group or user has no access
        245,
        246,
        247,  # bad user or group of a reservation
        248,
    }
)


def failure(done: Completed, what: str) -> Refusal | Doubt:
    """What a failed command means, as the exception to raise."""
    said = [line.strip() for line in (done.stderr + "\n" + done.stdout).splitlines()]
    text = first_line(done.stderr) or f"exit status {done.exit_status}"
    found = next((line for line in said if any(w in line for w in _NOT_DELIVERED)), None)
    if found is not None:
        return Refusal(Cause.UNREACHABLE, f"{what}: {text}: {found}"[:LONGEST])
    found = next((line for line in said if any(w in line for w in _NO_ANSWER)), None)
    if found is not None or done.exit_status in _NO_ANSWER_CODES:
        return Doubt(f"{what}: {found or text}"[:LONGEST])
    if done.exit_status in _BUSY:
        return Refusal(Cause.BUSY, f"{what}: {text}")
    if done.exit_status in _DENIED:
        return Refusal(Cause.DENIED, f"{what}: {text}")
    return Refusal(Cause.INVALID, f"{what}: {text}")


def not_pbs(done: Completed) -> Refusal:
    """What a `qstat` means that is not OpenPBS's."""
    said = done.stdout + done.stderr
    if "slurm" in said.lower() or "Unknown option" in said:
        what = "this is Slurm's wrapper of that name: use `system: slurm`"
    elif "Version:" in said or "torque" in said.lower():
        what = "this is TORQUE, which cannot reserve and is not supported"
    else:
        what = f"this is not OpenPBS or PBS Professional ({first_line(said) or 'it says nothing'})"
    return Refusal(Cause.INVALID, f"qstat --version: {what}")
