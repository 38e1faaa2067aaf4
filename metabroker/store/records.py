"""Jobs as the archive has them: a line of JSON, and a record of a log."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from metabroker.traces.records import Record
from metabroker.traces.swf import UNKNOWN

from .columns import serialized
from .ended import EndedJob, Row, What

STATUS = {"COMPLETED": 1, "FAILED": 0, "TIMEOUT": 0, "CANCELLED": 5}
"""The status of a job in a log, by its state."""


def line_of(what: What, job: EndedJob, now: float) -> bytes:
    """One line: `archived` says what of the job it has, `time` when that was removed."""
    row = job.row
    told: dict[str, Any] = {
        "archived": what.value,
        "time": now,
        "job": job.number,
        "submit_time": row["submit_time"],
    }
    if what is What.JOB:
        told["row"] = dict(row)
        told["components"] = [_without_job(part) for part in job.components]
    if what is not What.SCRIPT:
        told["events"] = [_without_job(event) for event in job.events]
    if what is not What.EVENTS and job.script is not None:
        told["script"] = _script(job.script)
    return serialized(told).encode() + b"\n"


def _without_job(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "job"}


def _script(row: Row) -> dict[str, Any]:
    """A script as it was submitted: as text, if it is that. The secret of its folders is nobody's
    business."""
    kept = {"request_id": row["request_id"], "spec": row["spec"]}
    script: bytes = row["script"]
    try:
        return {**kept, "text": script.decode()}
    except UnicodeDecodeError:
        return {**kept, "base64": base64.b64encode(script).decode("ascii")}


def record_of(row: Row, components: Sequence[Row]) -> Record:
    """A job's record in a log: its present attempt's components, or what it asked for."""
    latest = [p for p in components if p["attempt"] == row["attempt"] and p["processors"]]
    sizes = [part["processors"] for part in latest] or list(row["sizes"])
    where = [part["cluster"] for part in latest] or list(row["clusters"] or ())
    began, ended = row["start_time"], row["end_time"]
    ran = began is not None and ended is not None
    single = set(where)
    ordered = row["clusters"] is not None and len(sizes) > 1
    return Record(
        number=row["id"],
        submit=row["submit_time"],
        start=began,
        end=ended,
        processors=sum(row["sizes"]),
        used_processors=sum(row["sizes"]) if ran else None,
        run=ended - began if ran else None,
        time_limit=row["time_limit"] or None,
        status=STATUS.get(row["state"], UNKNOWN),
        user=row["user"],
        queue=row["queue"] or "global",
        partition=single.pop() if len(single) == 1 else None,
        components=tuple(sizes) if len(sizes) > 1 else (),
        clusters=tuple(where) if ordered else (),
    )
