"""A long list of jobs is what a short one would be, job by job."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.api.answers import encode
from metabroker.api.pages import Pages, encoded
from metabroker.api.service import Json, read
from metabroker.broker.job import Job
from metabroker.broker.states import JobState
from metabroker.broker.view import BrokerView
from metabroker.policy import Request
from metabroker.service import queries, reasons
from metabroker.service.job_view import job_view, start_view, waiting_text
from metabroker.service.listing import CoreListing
from metabroker.store.rows import job_row
from metabroker.submission.dependency import parse_dependency
from metabroker.submission.model import Processors
from tests.daemon.harness import eventually
from tests.daemon_units.making import ANNA, House
from tests.store.making import NAMES

_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(
    name=_WORDS,
    reason=_WORDS,
    sizes=st.lists(st.integers(1, 99), min_size=1, max_size=3),
    ordered=st.booleans(),
    state=st.sampled_from((JobState.QUEUED, JobState.HELD)),
    queue=st.integers(0, len(NAMES.names)),
    time=st.floats(0, 2e9),
    position=st.none() | st.integers(0, 9),
    on=st.sampled_from((None, "afterok:3,singleton", "afterok:3?after:4+5")),
    joins=st.sampled_from((0, 3)),
)
def test_the_short_way_to_a_jobs_json_is_the_long_one(
    name: str, reason: str, sizes: list[int], state: JobState, queue: int, on: str | None,
    joins: int, **given: Any,
) -> None:  # fmt: skip
    where = tuple(n % len(NAMES.names) for n in range(len(sizes))) if given["ordered"] else None
    job = Job(7, "anna", name, Request(tuple(sizes), where), 60, given["time"], queue, state=state)
    job.after = None if on is None else parse_dependency(on, kill=True)
    job.joins = joins
    row = job_row(job, NAMES) | {"components": []}
    long = job_view(row, "abcdef01", reason)
    for start in (None, {"earliest": 5.0, "likely": 6.0, "latest": 9.0, "confidence": 0.9}):
        long |= {"position": given["position"], **start_view(start)}
        assert waiting_text(job, NAMES, given["position"], reason, start) == encode(long)


def _listed(house: House, **arguments: Any) -> tuple[bool, list[Json]]:
    """Whether it came in pages, and the jobs."""
    answer = read(house.service, "queue", **arguments)
    text = b"".join(encoded(answer)).decode()
    jobs: list[Json] = json.loads(re.sub(r"\d+ s ago", "some s ago", text))["jobs"]
    return isinstance(answer["jobs"], Pages), jobs


def _some_of_all_kinds(house: House) -> None:
    house.submit(processors=Processors(single=64), script=b"#!/bin/sh\nsleep 300\n")
    house.submit(processors=Processors(single=32), script=b"#!/bin/sh\nsleep 300\n")
    house.submit(hold=True)
    for _ in range(3):
        house.submit(processors=Processors(single=64))
    house.submit(processors=Processors(components=(60, 30)))
    eventually(lambda: [house.api.job(n)["state"] for n in (1, 2)] == ["RUNNING", "RUNNING"])


def test_a_long_list_is_what_a_short_one_is(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    _some_of_all_kinds(house)
    paged, whole = _listed(house, user=None, limit=None)
    assert (paged, len(whole)) == (False, 7)
    monkeypatch.setattr(queries, "PAGE", 2)
    assert _listed(house, user=None, limit=None) == (True, whole)
    assert _listed(house, user="anna", limit=3) == (True, whole[:3])
    assert _listed(house, user="bob", limit=None) == (False, [])


def test_while_the_store_is_away_nothing_is_told_that_is_not_in_it(house: House) -> None:
    _some_of_all_kinds(house)
    listing = CoreListing(house.loop, house.clock)
    assert set(listing.texts([3, 4])) == {3, 4}
    house.loop.stop()
    house.loop._turns.trouble = "the store is away"
    assert listing.texts([3, 4]) == {}


def test_jobs_that_change_while_they_are_listed_are_told_as_they_are_then(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    _some_of_all_kinds(house)
    monkeypatch.setattr(queries, "PAGE", 2)
    pages = iter(read(house.service, "queue")["jobs"].pages)
    first = json.loads(b"[%s]" % next(pages))
    house.answer(house.api.cancel(ANNA, 3))
    house.answer(house.api.hold(ANNA, 4))
    house.submit(hold=True)
    rest = [job for page in pages for job in json.loads(b"[%s]" % page)]
    assert [job["job"] for job in (*first, *rest)] == [1, 2, 4, 5, 6, 7]
    assert (rest[0]["state"], rest[0]["position"]) == ("HELD", None)
    assert "behind 1 in queue" in rest[1]["reason"]  # as of the first page


def test_the_core_is_asked_only_about_jobs_that_a_moment_does_not_tell_of(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    _some_of_all_kinds(house)
    listing = CoreListing(house.loop, house.clock)
    asked: list[int] = []

    def of(view: BrokerView, now: float, jobs: Iterable[int]) -> dict[int, reasons.Waiting]:
        asked.extend(jobs)
        return {}

    monkeypatch.setattr(reasons, "of", of)
    assert set(listing.texts([1, 2, 3, 4, 5, 6, 7])) == {3, 4, 5, 6, 7}
    assert asked == []
