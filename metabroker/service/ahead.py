"""Others' reservations that begin before a job would end, in words."""

from __future__ import annotations

from metabroker.broker.job import Job, NewJob
from metabroker.broker.view import BrokerView, ViewAt
from metabroker.submission.times import format_time


def words(view: BrokerView, at: ViewAt, job: Job | NewJob) -> str:
    """Which reservations keep a job away from which clusters; "": none do."""
    names, told = view.settings.clusters, []
    for cluster, coming in at.ahead(job).items():
        kind = "maintenance (reservation {})" if coming.maintenance else "reservation {}"
        what = f"{kind.format(coming.name)} in {names[cluster].name}"
        if coming.start <= at.now:
            told.append(f"{what} ends in {format_time(max(0, int(coming.end - at.now)))}")
            continue
        told.append(
            f"{what} begins in {format_time(int(coming.start - at.now))}, before this job's "
            f"{format_time(job.time_limit)} would end"
        )
    return "; ".join(told)
