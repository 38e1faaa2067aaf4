"""Which configured limits keep a job waiting, or away from clusters, in words."""

from __future__ import annotations

from metabroker.broker.job import Job, NewJob
from metabroker.broker.resource_limits import Beyond, Resource, Usage, whose
from metabroker.broker.view import BrokerView, ViewAt


def held_back(view: BrokerView, job: Job | NewJob, queue: int, usage: Usage) -> str:
    """Why a job waits for a share."""
    beyond = view.beyond(job, queue, usage)
    if beyond is None:
        return f"behind other jobs of {job.user}, or of its queue, that exceed a limit"
    if beyond.measure is Resource.COALLOCATED:
        return (
            f"{whose(beyond.key, view.settings.clusters)} has {beyond.have} co-allocated jobs "
            f"under way, and at most {beyond.most} are allowed ({_limit(beyond)})"
        )
    asked = sum(job.request.sizes)
    more = f", and would hold at least {beyond.held} (whole nodes)" if beyond.held > asked else ""
    return f"asks for {asked} processors{more}; {_in_use(view, beyond)}"


def words(view: BrokerView, at: ViewAt, job: Job | NewJob, queue: int, usage: Usage) -> str:
    """In which clusters a job would hold too much; "": in none to which it could go else."""
    found = at.too_heavy(job, queue, usage)
    barred = at.barred(job) if found else frozenset()
    told = [
        f"in {view.settings.clusters[cluster].name} it would hold {beyond.held} processors (whole "
        f"nodes), and {_in_use(view, beyond)}"
        for cluster, beyond in found.items()
        if cluster not in barred
    ]
    last = at.found_beyond(job)
    if last is not None and not told:
        where = f"where it was to start it would hold {last.held} processors (whole nodes)"
        told.append(f"{where}, and {_in_use(view, last)}")
    return "; ".join(told)


def _in_use(view: BrokerView, beyond: Beyond) -> str:
    who = whose(beyond.key, view.settings.clusters)
    return f"{who} uses {beyond.have}, and at most {beyond.most} are allowed ({_limit(beyond)})"


def _limit(beyond: Beyond) -> str:
    return f"limits.per_{beyond.key[0]}.{beyond.measure.value}"
