"""Jobs of several components that want clusters near to each other (`submit --max-latency`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from metabroker.policy import Request
from metabroker.simulation.job import SimJob

Groups = tuple[tuple[int, ...], ...]
_MOST_SHAPES = 4096  # of requests that are shared


def near_each_other(jobs: Iterable[SimJob], groups: Groups) -> Iterator[SimJob]:
    """The same jobs; those of several components go into clusters of one of these sets."""
    shared: dict[Request, Request] = {}
    for job in jobs:
        if job.request.single:
            yield job
            continue
        request = shared.get(job.request)
        if request is None:
            if len(shared) >= _MOST_SHAPES:
                shared.clear()
            request = shared[job.request] = replace(job.request, groups=groups)
        yield job._replace(request=request)
