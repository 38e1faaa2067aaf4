"""Whatever one job's rows hold, either database takes them, and all else written with them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from metabroker.store import Store
from tests.share import share

from .making import NAMES, accepted, batch, component, entry, job

_words = st.text(st.characters(codec=None, categories=None), max_size=20)  # half characters too
_numbers = st.integers() | st.just(2**63) | st.just(10**23)
_moments = st.floats() | st.integers().map(lambda n: n * 10**20)
_facts = st.recursive(
    _words | _moments | _numbers | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(_words, inner),
    max_leaves=5,
)


@pytest.fixture
def store(kept_url: str) -> Iterator[Store]:
    made = Store(kept_url)
    yield made
    made.close()


@given(words=_words, number=_numbers, moment=_moments, fact=_facts)
@settings(max_examples=share(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_what_one_job_brings_never_keeps_others_from_being_written(
    store: Store, words: str, number: int, moment: float, fact: object
) -> None:
    part = component(
        7, hosts=words, detail=words, native_id=words, exit_code=number, end_time=moment
    )
    bad = job(7, reason=words, name=words, attempt=1, end_time=moment, exit_code=number)
    before = len(store.jobs.events(8))
    told = [entry(7, words, said=fact), entry(8, "fine")]
    store.commit(batch(bad, job(8), components=[part], journal=told), NAMES)
    assert [row["id"] for row in store.jobs.rows(ids=[7, 8])] == [7, 8]
    assert len(store.jobs.events(8)) == before + 1 and store.jobs.events(7)


def test_text_is_cleaned_and_numbers_are_as_large_as_they_can_be(store: Store) -> None:
    bad, good = "a\0b\ud800c\udcff\N{SNOWMAN}", "a\ufffdb?c?\N{SNOWMAN}"
    part = component(9, detail=bad, native_id="\0", exit_code=10**23, end_time=math.inf)
    what = entry(9, "x", why=bad, number=math.inf, more=[{bad: -math.inf}])
    seen = {"name": "delft", "processors": 2**70, "version": bad, "seen": math.inf}
    told = batch(job(9, reason=bad, attempt=1), components=[part], journal=[what], clusters=[seen])
    store.commit(told, NAMES)
    (row,) = store.jobs.rows(ids=[9])
    (shown,) = row["components"]
    assert row["reason"] == shown["detail"] == good
    assert (shown["exit_code"], shown["end_time"]) == (2**63 - 1, 0.0)
    said = {"why": good, "number": None, "more": [{good: None}]}
    assert store.jobs.events(9)[-1]["detail"] == said
    assert store.known_clusters()["delft"] > 2**60
    assert store.jobs.rows(user=bad) == [] and store.jobs.find_request(bad, bad) is None
    for number in (999_999_999_999_999_999, 2**63, 2**80, -1):
        assert store.jobs.rows(ids=[number]) == []


def test_a_job_that_cannot_be_read_is_given_up_and_the_others_are_recovered(url: str) -> None:
    store = Store(url)
    rows = [job(1), job(2), job(3)]
    store.commit(batch(*rows, accepted=[accepted(n) for n in (1, 2, 3)]), NAMES)
    with create_engine(url).begin() as connection:
        connection.execute(text("UPDATE jobs SET state = 'DREAMING' WHERE id = 2"))
    found = store.recover(NAMES)
    assert [one.id for one in found.jobs] == [1, 3] and list(found.unreadable) == [2]
    store.give_up(2, "it cannot be read", 50.0)
    assert not store.recover(NAMES).unreadable
    (row,) = store.jobs.rows(ids=[2])
    assert (row["state"], row["reason"], row["end_time"]) == ("FAILED", "it cannot be read", 50.0)
    store.close()
