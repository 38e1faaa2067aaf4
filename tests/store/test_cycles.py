"""Reading leaves no cycles of references: what is in one, a page's numbers say, stays in memory
until Python's collector comes by, which is seldom while very many jobs are listed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from metabroker.broker.states import JobState
from metabroker.store import Store
from metabroker.store.job_queries import JobQueries, Selection
from metabroker.submission.dependency import Named
from tests.store.making import NAMES, accepted, batch, entry, job

_PLACES = Selection("u", ("COMPLETED",), 0.0, 1e9, None, (10.0, 1), (50.0, 5))
_READS: dict[str, Callable[[JobQueries], Any]] = {
    "rows": lambda jobs: jobs.rows(ids=[1, 2, 3]),
    "live": lambda jobs: jobs.live(user="u", limit=5),
    "history": lambda jobs: jobs.history(Selection(newest=3), 2),
    "a page of it": lambda jobs: jobs.history(_PLACES, 2, numbers=True),
    "the newest": lambda jobs: jobs.newest_ended(_PLACES, 2),
    "events": lambda jobs: jobs.events(1),
    "specs": lambda jobs: jobs.specs([1, 2, 3]),
    "tasks": lambda jobs: jobs.tasks([1, 2], [1]),
    "outcomes": lambda jobs: jobs.outcomes([Named(1), Named(2, 1)]),
}


@pytest.fixture
def jobs() -> Iterator[JobQueries]:
    """Jobs 1 to 5 have ended, job 6 waits."""
    made = Store("sqlite://", migrate=False)
    ended = [job(n, JobState.COMPLETED, end_time=10.0 * n) for n in range(1, 6)]
    told = [entry(n) for n in range(1, 7)]
    made.commit(
        batch(*ended, job(6), journal=told, accepted=[accepted(n) for n in range(1, 7)]), NAMES
    )
    yield made.jobs
    made.close()


@pytest.fixture
def collector() -> Iterator[None]:
    """It comes by only when it is told to."""
    gc.disable()
    yield
    gc.enable()


def left_by(call: Callable[[], Any]) -> list[str]:
    """What only the collector of cycles would have freed since."""
    for _ in range(10):  # what it frees may leave more to it
        if not gc.collect():
            break
    gc.set_debug(gc.DEBUG_SAVEALL)  # it frees nothing then, and tells what it has found
    try:
        call()
        gc.collect()
        return [type(each).__name__ for each in gc.garbage if _of_the_store(each)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def _of_the_store(found: object) -> bool:
    return type(found).__module__.startswith(("sqlalchemy", "metabroker"))


@pytest.mark.parametrize("read", _READS.values(), ids=list(_READS))
def test_reading_jobs_leaves_nothing_to_the_collector_of_cycles(
    jobs: JobQueries, read: Callable[[JobQueries], Any], collector: None
) -> None:
    read(jobs)  # what is kept for the next time is made
    # Stores of other tests may come to their end meanwhile; what a question leaves is left by each.
    left = [left_by(lambda: read(jobs)) for _ in range(3)]
    assert min(left, key=len) == []
