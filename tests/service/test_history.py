"""Ended jobs as the API tells them: a page at a time, and what is no longer kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from metabroker.api.calls import BY_ROUTE, DEFAULT, LARGEST_PAGE, Asked
from metabroker.api.pages import encoded
from metabroker.api.service import Failure, Json, ServiceError
from metabroker.broker.states import JobState
from metabroker.service import queries
from metabroker.service.queries import Queries
from metabroker.store import Store, StoreUnavailable
from metabroker.store.ended import FIRST, Archived, What
from metabroker.store.job_queries import JobQueries
from tests.store.making import NAMES, accepted, batch, entry, job

CALL = BY_ROUTE["GET", "/v1/history"]


@pytest.fixture
def store() -> Iterator[Store]:
    """Jobs 1 to 5 have ended, job 6 waits."""
    made = Store("sqlite://", migrate=False)
    ended = [job(n, JobState.COMPLETED, end_time=10.0 * n) for n in range(1, 6)]
    told = [entry(n) for n in range(1, 7)]
    scripts = [accepted(n) for n in range(1, 7)]
    made.commit(batch(*ended, job(6), journal=told, accepted=scripts), NAMES)
    yield made
    made.close()


def no_lists() -> NoReturn:
    """No long list of jobs that have not ended is asked for here."""
    raise AssertionError


def asked(store: Store, **query: object) -> Json:
    given = {key: str(value) for key, value in query.items() if value is not None}
    return Queries(store, lambda _rows: {}, no_lists).ended(**CALL.arguments(Asked({}, given)))


def numbers(answer: Json) -> list[int]:
    return [view["job"] for view in answer["jobs"]]


def test_a_page_leads_to_the_next_one(store: Store) -> None:
    found, answer = [], asked(store, limit=4, page=2)
    assert answer["older"], "there is one more than that"
    while True:
        found.append(numbers(answer))
        if answer["next"] is None:
            break
        answer = asked(store, limit=4, page=2, after=answer["next"])
    assert found == [[2, 3], [4, 5]]
    assert asked(store, limit="all") == {**asked(store), "older": False}
    assert numbers(asked(store, state="completed,failed")) == [1, 2, 3, 4, 5]
    assert numbers(asked(store, state="FAILED")) == []


def test_records_of_all_that_have_ended_are_read_page_by_page(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand with their components took a hundred megabytes for each who asked."""
    monkeypatch.setattr(queries, "PAGE", 2)
    monkeypatch.setattr(JobQueries, "history", None)
    read: list[int] = []
    whole = JobQueries.rows

    def rows(self: JobQueries, *, ids: Sequence[int], **more: Any) -> Any:
        read.append(len(ids))
        return whole(self, ids=ids, **more)

    monkeypatch.setattr(JobQueries, "rows", rows)
    monkeypatch.setattr(queries, "GREATEST", 3)
    listing: Any = SimpleNamespace(places=lambda _rows: {})
    asked = Queries(store, lambda _rows: {}, lambda: listing)
    told = b"".join(encoded(asked.records()))
    assert [one["job"] for one in json.loads(told)["jobs"]] == [3, 4, 5, 6] and max(read) == 2
    assert [one["job"] for one in asked.records(since=50.0)["jobs"]] == [5, 6]


def test_it_has_a_default_and_a_greatest_limit() -> None:
    def arguments(**query: str) -> Json:
        return CALL.arguments(Asked({}, query))

    assert (arguments()["limit"], arguments()["page"]) == (DEFAULT, LARGEST_PAGE)
    many = arguments(limit="50000", page="50000")
    assert (many["limit"], many["page"]) == (50_000, LARGEST_PAGE)
    assert arguments(limit="all")["limit"] is None


@pytest.mark.parametrize(
    "query",
    [
        {"after": "x"}, {"after": "1,2"}, {"after": "1,2,nan,4"}, {"after": "1,2,3,-4"},
        {"after": f"1,2,3,{2**63}"}, {"after": "1,2,3,4,5,6"}, {"state": "RUNNING"},
        {"page": "0"}, {"limit": "-1"}, {"limit": "everything"},
    ],
)  # fmt: skip
def test_what_is_no_sound_question_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(ServiceError) as refused:
        CALL.arguments(Asked({}, query))
    assert refused.value.failure is Failure.INVALID


def test_a_removed_job_is_said_to_be_no_longer_kept(store: Store) -> None:
    due = store.ended.batch(What.JOB, 35.0, FIRST, 10, 1 << 20)
    assert due is not None and len(due.jobs) == 3
    files = Archived("2026-11", "/var/archive", 1e9, 1e9, 3, 1, 3)
    store.ended.remove(What.JOB, due.jobs, files, None)
    it = Queries(store, lambda _rows: {}, no_lists)
    with pytest.raises(ServiceError, match=r"job 2 is no longer kept.*2001-09-0") as refused:
        it.job(2)
    assert refused.value.failure is Failure.NOT_FOUND
    assert "/var/archive/2026-11.jsonl" in refused.value.advice
    with pytest.raises(ServiceError, match="there is no job 7"):
        it.job(7)
    assert it.job(4)["events_kept"]


def test_records_are_of_a_moment_by_the_clock_of_the_store(store: Store) -> None:
    told = Queries(store, lambda _rows: {}, no_lists, lambda: 77.0).records(jobs=[4])
    assert told["time"] == 77.0


def test_a_job_whose_events_were_removed_says_so(store: Store) -> None:
    due = store.ended.batch(What.EVENTS, 15.0, FIRST, 10, 1 << 20)
    assert due is not None
    store.ended.remove(What.EVENTS, due.jobs, Archived("2026-11", "/a", 1.0, 1.0), None)
    told = Queries(store, lambda _rows: {}, no_lists).job(1)
    assert (told["events"], told["events_kept"], told["chdir"]) == ([], False, "/home/anna")


def test_a_long_answer_is_made_some_jobs_at_a_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = asked(store, limit=4)
    monkeypatch.setattr(queries, "PAGE", 3)
    read: list[list[int]] = []
    rows = store.jobs.rows

    def counted(**which: Any) -> list[dict[str, Any]]:
        read.append(list(which["ids"]))
        return rows(**which)

    monkeypatch.setattr(store.jobs, "rows", counted)
    answer = asked(store, limit=4)
    assert read == []
    pieces = list(encoded(answer))
    assert json.loads(b"".join(pieces)) == whole
    assert read == [[2, 3, 4], [5]]


def test_of_jobs_that_have_ended_records_keep_their_numbers_alone(store: Store) -> None:
    asks = Queries(store, lambda _rows: {}, no_lists)
    assert [each["job"] for each in asks.records(since=25.0)["jobs"]] == [3, 4, 5, 6]


def test_who_asks_just_after_the_store_kept_somebody_waiting_is_told_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, asked = 100.0, 0
    monkeypatch.setattr("metabroker.service.queries.time", SimpleNamespace(monotonic=lambda: now))

    def hangs(seconds: float) -> None:
        nonlocal now, asked
        asked += 1
        now += seconds
        raise StoreUnavailable("no answer in 10 s")

    it = Queries(store, lambda _rows: {}, no_lists, lambda: 77.0)
    for seconds, pause, times in ((0.1, 0.0, 1), (10.0, 0.9, 2), (10.0, 0.2, 2), (0.1, 0.0, 3)):
        with pytest.raises(ServiceError, match="no answer in 10 s") as refused:
            it.reading(partial(hangs, seconds))
        now += pause
        assert (refused.value.failure, asked) == (Failure.UNAVAILABLE, times)
    assert it.reading(lambda: 5) == 5


def test_one_read_that_takes_too_long_is_no_store_that_is_away(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("metabroker.service.queries.time", SimpleNamespace(monotonic=lambda: now))
    it = Queries(store, lambda _rows: {}, no_lists, lambda: 77.0)

    def slow() -> None:
        nonlocal now
        now += 5.0
        assert it.reading(lambda: 5) == 5  # somebody else's, meanwhile
        now += 5.0
        raise StoreUnavailable("canceling statement due to statement timeout")

    with pytest.raises(ServiceError):
        it.reading(slow)
    assert it.reading(lambda: 6) == 6
