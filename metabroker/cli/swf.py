"""The broker's ended jobs as a log in the Standard Workload Format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from metabroker.api.client import Json
from metabroker.cli.views import processors
from metabroker.traces.records import Record
from metabroker.traces.swf import UNKNOWN
from metabroker.traces.write import write

_STATUS = {"COMPLETED": 1, "FAILED": 0, "TIMEOUT": 0, "CANCELLED": 5}
_NOTES = (
    "a job with components in several clusters has partition -1",
    "status 0 is failed or over its time limit, 5 cancelled",
)


def lines(jobs: Iterable[Json], clusters: Sequence[Json]) -> Iterator[str]:
    """The header's comments, then one line per job in the order of submission."""
    sizes = {str(cluster["name"]): int(cluster["processors"] or 0) for cluster in clusters}
    return write(
        (_record(job) for job in jobs if not job.get("array")),
        computer=", ".join(sizes),
        processors=sum(sizes.values()),
        clusters=sizes,
        notes=_NOTES,
    )


def _record(job: Json) -> Record:
    began, ended = job["start_time"], job["end_time"]
    size = processors(job)
    ran = began is not None and ended is not None
    parts, chosen = job["components"], job.get("ordered", False)
    where = {part["cluster"] for part in job["components"] if part["cluster"]}
    return Record(
        number=job["job"],
        submit=job["submit_time"],
        start=began,
        end=ended,
        processors=size,
        used_processors=size if ran else None,
        run=ended - began if ran else None,
        time_limit=job.get("time_limit") or None,
        status=_STATUS.get(job["state"], UNKNOWN),
        user=job["user"],
        queue=job.get("queue") or None,
        partition=where.pop() if len(where) == 1 else None,
        components=tuple(part["processors"] for part in parts) if len(parts) > 1 else (),
        clusters=tuple(part["cluster"] for part in parts) if chosen and len(parts) > 1 else (),
    )
