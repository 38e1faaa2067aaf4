"""How many jobs wait, counted along, is what counting all of them says."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker.job import Job
from metabroker.broker.resource_limits import Standing, keys
from metabroker.broker.states import JobState
from metabroker.policy import Request

_STATES = (JobState.QUEUED, JobState.HELD, JobState.RUNNING, JobState.COMPLETED)
_CHANGES = st.tuples(st.integers(0, 4), st.sampled_from(_STATES), st.integers(0, 2))


@given(st.lists(st.lists(_CHANGES, max_size=6), max_size=8))
def test_counting_along_is_counting(batches: list[list[tuple[int, JobState, int]]]) -> None:
    jobs = [Job(n, f"u{n % 2}", "j", Request((1,)), 60, 0.0, 0) for n in range(5)]
    standing = Standing(jobs)
    for batch in batches:
        for number, state, queue in batch:
            jobs[number].state, jobs[number].queue = state, queue
        standing.update({jobs[number] for number, _, _ in batch})
        wait = [job for job in jobs if job.state in (JobState.QUEUED, JobState.HELD)]
        counted = Counter(key for job in wait for key in keys(job.user, job.queue))
        assert +standing.count == counted
