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
    """The jobs by their tokens; of several with one token (a twin) the liveliest."""
    found: dict[str, NativeJob] = {}
    for token, job in jobs:
        other = found.get(token)
        if other is None or _LIVELIEST[job.state] < _LIVELIEST[other.state]:
            found[token] = job
    return found


def liveliest_first(jobs: Iterable[NativeJob]) -> list[NativeJob]:
    """The jobs of one token, the liveliest first, then the latest."""
    return sorted(jobs, key=lambda job: (_LIVELIEST[job.state], -(job.submit_time or 0.0)))
