"""What a cluster says of its jobs and reservations, for tests to compare with.

On purpose apart from metabroker's own parsers: a test that read with them would share their
errors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

SEPARATOR = "\x1f"
JOB_FORMAT = SEPARATOR.join(
    ("%i", "%j", "%T", "%u", "%C", "%N", "%r", "%v", "%V", "%S", "%e", "%k")
)
ACTIVE_STATES = frozenset(
    {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "RESIZING"}
    | {"SIGNALING", "STAGE_OUT", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
)


@dataclass(frozen=True)
class Job:
    """A job as squeue shows it; times in seconds since the epoch, None if not known."""

    id: str
    name: str
    state: str
    user: str
    processors: int
    nodes: str
    reason: str
    reservation: str | None
    submitted: float | None
    started: float | None
    ended: float | None
    comment: str | None

    @property
    def active(self) -> bool:
        """Waiting, running or ending: not yet over. (Slurm 26.05 calls what has ended RESV_DEL_HOLD
        where its controller was restarted and its reservation is gone.)"""
        over = self.state == "RESV_DEL_HOLD" and self.ended is not None
        return self.state in ACTIVE_STATES and not over


@dataclass(frozen=True)
class Reservation:
    """A reservation as scontrol shows it; `fields` has everything."""

    name: str
    processors: int
    node_count: int
    nodes: str
    users: list[str]
    active: bool
    flags: list[str]
    start: float
    end: float
    fields: dict[str, str]


def parse_jobs(text: str) -> list[Job]:
    """Parse `squeue -h -o JOB_FORMAT` printed with SLURM_TIME_FORMAT=%s."""
    jobs = []
    for line in text.splitlines():
        job_id, name, state, user, processors, nodes, reason, *rest = line.split(SEPARATOR)
        reservation, *times, comment = rest
        submitted, started, ended = map(_time, times)
        last = (submitted, started, ended, _text(comment))
        where = (int(processors), nodes, reason, _text(reservation))
        jobs.append(Job(job_id, name, state, user, *where, *last))
    return jobs


def parse_reservations(text: str) -> list[Reservation]:
    """Parse `scontrol -o show reservation` printed with SLURM_TIME_FORMAT=%s."""
    return [_reservation(line) for line in text.splitlines() if line.startswith("ReservationName=")]


def _reservation(line: str) -> Reservation:
    fields: dict[str, str] = {}
    for word in line.split():
        key, _, value = word.partition("=")
        fields.setdefault(key, value)
    return Reservation(
        name=fields["ReservationName"],
        processors=int(fields["CoreCnt"]),
        node_count=int(fields["NodeCnt"]),
        nodes=fields["Nodes"],
        users=_list(fields.get("Users", "")),
        active=fields["State"] == "ACTIVE",
        flags=_list(fields.get("Flags", "")),
        start=float(fields["StartTime"]),
        end=float(fields["EndTime"]),
        fields=fields,
    )


def parse_estimate(text: str) -> float | None:
    """When a job would start, as `sbatch --test-only` tells it on standard error (Unix seconds);
    None: it does not say."""
    found = re.search(r"to start at (\S+)", text)
    if found is None:
        return None
    known = _time(found[1])
    return datetime.fromisoformat(found[1]).timestamp() if known is None else known


def _text(value: str) -> str | None:
    return None if value in ("", "(null)", "N/A") else value


def _time(value: str) -> float | None:
    return float(value) if value.isdigit() else None


def _list(value: str) -> list[str]:
    return [] if value in ("", "(null)") else value.split(",")
