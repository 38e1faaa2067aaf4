"""What is counted of all jobs that have not ended, in one look at each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from metabroker.broker.job import Job
from metabroker.broker.states import JobState

MOST = 150  # jobs that are named


@dataclass(frozen=True, slots=True)
class Survey:
    """`counts`: by queue and state; `oldest`: of each queue since when (Unix seconds) its oldest
    job waits there: held ones not counted, nor those that stand in no queue (arrays, and who waits
    for other jobs), nor tasks of arrays of which only so many may be under way at once. Of the
    others the numbers, `MOST` of each: `under_way` by their starts, `arrays`, `held`.
    """

    counts: Counter[tuple[int, str]]
    oldest: dict[int, float]
    under_way: Sequence[int]
    arrays: Sequence[int]
    held: Sequence[int]


def survey(jobs: Sequence[Job], now: float) -> Survey:
    """To go through very many takes too long for the core's thread, and nobody needs more than that
    each of them is right by itself."""
    oldest: dict[int, float] = {}
    under_way: list[tuple[float, int]] = []
    held: list[int] = []
    arrays: list[int] = []
    limited = {job.id for job in jobs if job.array is not None and job.array.most}
    for job in jobs:
        state = job.state
        if state is JobState.HELD:
            held.append(job.id)
        elif job.array is not None and job.after is None:
            arrays.append(job.id)
        elif state is not JobState.QUEUED:
            under_way.append((job.start_time or now, job.id))
        elif _counts(job, limited) and job.queued_at < oldest.get(job.queue, now):
            oldest[job.queue] = job.queued_at
    return Survey(
        Counter([(job.queue, job.state._value_) for job in jobs]),
        oldest,
        [number for _start, number in nsmallest(MOST, under_way)],
        nsmallest(MOST, arrays),
        nsmallest(MOST, held),
    )


def _counts(job: Job, limited: Collection[int]) -> bool:
    """Whether it waits for nothing but its turn."""
    return job.array is None and job.after is None and not job.kept and job.of not in limited
