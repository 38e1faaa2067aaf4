"""Several jobs with one token: which of them counts."""

from __future__ import annotations

from collections.abc import Iterable

from metabroker.broker.observation import NativeJob, NativeState

_LIVELIEST = {
    NativeState.RUNNING: 0,
    NativeState.PENDING: 1,
    NativeState.UNKNOWN: 2,
    NativeState.ENDED: 3,
}


def by_token(jobs: Iterable[tuple[str, NativeJob]]) -> dict[str, NativeJob]:
    """The jobs by their tokens; of several with one token (a twin) the first as below."""
    found: dict[str, NativeJob] = {}
    for token, job in jobs:
        other = found.get(token)
        if other is None or _rank(job) < _rank(other):
            found[token] = job
    return found


def liveliest_first(jobs: Iterable[NativeJob]) -> list[NativeJob]:
    """The jobs of one token, the liveliest first; of ended ones that which has ended last: a twin
    that may not pass the gate ends sooner than the one that has passed it. Then the latest."""
    return sorted(jobs, key=_rank)


def _rank(job: NativeJob) -> tuple[float, ...]:
    return _LIVELIEST[job.state], -(job.end_time or 0.0), -(job.submit_time or 0.0)
