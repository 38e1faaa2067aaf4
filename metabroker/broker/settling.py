"""Jobs that a former policy would have split as it starts them, under one that splits none."""

from __future__ import annotations

from metabroker.policy import Limits, Request, split_total

from .job import Job
from .state import BrokerState

_ANY = 10**9  # a cluster that was never seen may be of any size


def settle_parts(job: Job, state: BrokerState) -> bool:
    """Split such a job now, as at a submission; whether that was to be done. One that nothing can
    run as it is waits as one component."""
    split, cpus = job.split, job.shape.cpus_per_task
    if split is None or state.settings.splits:
        return False
    most = None if split.component is None else split.component // cpus
    bounds = dict(state.ledger.bounds(job.shape)) if job.shape else {}
    rooms = [
        0 if c in job.closed else min(size or _ANY, bounds.get(c, _ANY)) // cpus
        for c, size in enumerate(state.ledger.sizes())
    ]
    limits = Limits(component=most, components=split.parts)
    sizes = split_total(job.request.total // cpus, rooms, limits)
    job.split = None
    if isinstance(sizes, tuple):
        job.request = Request(tuple(size * cpus for size in sizes))
    state.outbox.changed(job)
    return True
