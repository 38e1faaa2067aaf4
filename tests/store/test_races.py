"""The lease and the fence on a real PostgreSQL, where two brokers do the same at the same moment:
each case stops one of them between its last statement and its COMMIT."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import event, select, text, update

from metabroker.store import LeadershipLost, Store, StoreUnavailable, leadership
from metabroker.store.tables import leadership as table
from tests.testbed.postgres import Postgres
from tests.testbed.processes import wait_until

from .making import NAMES, batch, entry

_PATIENCE = 20.0  # seconds
LEASE = 2.0  # seconds


class Paused:
    """A store whose transactions stop before their COMMIT, until they are let go."""

    def __init__(self, store: Store) -> None:
        self.reached, self.goes_on = threading.Event(), threading.Event()
        event.listen(store._engine, "commit", self._stop)

    def _stop(self, _connection: object) -> None:
        self.reached.set()
        assert self.goes_on.wait(_PATIENCE)


class Two:
    """Two brokers over one database."""

    def __init__(self, url: str, postgres: Postgres, pool: ThreadPoolExecutor) -> None:
        self.first, self.second = Store(url), Store(url)
        self._postgres, self._pool = postgres, pool

    def overlap(self, one: Callable[[], Any], other: Callable[[], Any]) -> bool:
        """`one` is stopped before its COMMIT while the second broker does the `other`; whether
        that waited for it."""
        paused = Paused(self.first)
        begun = self._pool.submit(one)
        assert paused.reached.wait(_PATIENCE)
        follows = self._pool.submit(other)
        wait_until(lambda: follows.done() or self._waits(), _PATIENCE, "it is done, or waits")
        waited = not follows.done()
        paused.goes_on.set()
        self.results = (_result(begun), _result(follows))
        return waited

    def _waits(self) -> bool:
        return self._postgres.run("select 1 from pg_locks where not granted") != []


def _result(future: Future[Any]) -> Any:
    try:
        return future.result(_PATIENCE)
    except LeadershipLost as lost:
        return lost


@pytest.fixture
def two(database: str, postgres: Postgres) -> Iterator[Two]:
    with ThreadPoolExecutor(2) as pool:
        made = Two(database, postgres, pool)
        yield made
        made.first.close()
        made.second.close()


def looks_before_the_lock_only(patch: pytest.MonkeyPatch) -> None:
    """The row is not compared again when it has been locked."""
    patch.setattr(leadership, "_TAKEN", update(table))


def fence_takes_no_row_lock(patch: pytest.MonkeyPatch) -> None:
    """The fence only reads."""
    patch.setattr(leadership, "_MINE", select(table.c.term).where(leadership._OWN))


def right(_patch: pytest.MonkeyPatch) -> None:
    """The code as it is."""


@pytest.mark.parametrize("code", [right, looks_before_the_lock_only])
def test_of_two_that_have_seen_the_same_row_one_leads(
    two: Two, monkeypatch: pytest.MonkeyPatch, code: Callable[[pytest.MonkeyPatch], None]
) -> None:
    code(monkeypatch)
    seen = two.first.leadership.row(5.0)
    two.overlap(
        lambda: two.first.leadership.take("a", 5.0, seen),
        lambda: two.second.leadership.take("b", 5.0, seen),
    )
    assert (two.results == (1, None)) == (code is right)


@pytest.mark.parametrize("code", [right, looks_before_the_lock_only])
def test_a_renewal_that_comes_first_keeps_the_lead(
    two: Two, monkeypatch: pytest.MonkeyPatch, code: Callable[[pytest.MonkeyPatch], None]
) -> None:
    assert two.first.leadership.take("a", 5.0) == 1
    code(monkeypatch)
    seen = two.second.leadership.row(5.0)
    two.overlap(
        lambda: two.first.leadership.renew(1, 5.0),
        lambda: two.second.leadership.take("b", 5.0, seen),
    )
    assert (two.results == (True, None)) == (code is right)


@pytest.mark.parametrize("code", [right, fence_takes_no_row_lock])
def test_a_new_term_begins_when_what_was_let_in_before_has_ended(
    two: Two, monkeypatch: pytest.MonkeyPatch, code: Callable[[pytest.MonkeyPatch], None]
) -> None:
    two.first.term = two.first.leadership.take("a", 5.0)
    two.first.commit(batch(journal=[entry(1)]), NAMES)  # its connection is prepared by now
    code(monkeypatch)
    seen = two.second.leadership.row(5.0)
    waited = two.overlap(
        lambda: two.first.commit(batch(journal=[entry(1)]), NAMES),
        lambda: two.second.leadership.take("b", 5.0, seen),
    )
    assert two.results == (None, 2)
    assert waited == (code is right)


def test_who_waits_for_a_leader_that_was_stopped_leaves_nothing_behind_and_leads_soon(
    two: Two,
) -> None:
    """It was stopped in its renewal, and holds the row."""
    mine, other = two.first.leadership, two.second.leadership
    term = mine.take("a", LEASE)
    assert term is not None
    seen = other.row(LEASE)
    paused = Paused(two.first)
    renewal = two._pool.submit(mine.renew, term, LEASE)
    assert paused.reached.wait(_PATIENCE)
    for _ in range(4):
        with pytest.raises(StoreUnavailable):
            other.take("b", LEASE, seen)
    assert not two._waits(), "the server has given up, too"
    taken: list[int] = []

    def leads() -> bool:
        with contextlib.suppress(StoreUnavailable):
            taken.extend(filter(None, [other.take("b", LEASE, seen)]))
        return bool(taken)

    wait_until(leads, _PATIENCE, "the other leads")
    assert taken == [term + 1]
    paused.goes_on.set()
    with pytest.raises(StoreUnavailable):
        renewal.result(_PATIENCE)


def test_a_take_over_that_comes_first_shuts_the_former_leader_out(two: Two) -> None:
    two.second.term = two.second.leadership.take("a", 5.0)
    seen = two.first.leadership.row(5.0)
    assert two.overlap(
        lambda: two.first.leadership.take("b", 5.0, seen),
        lambda: two.second.commit(batch(journal=[entry(1)]), NAMES),
    )
    assert two.results[0] == 2 and isinstance(two.results[1], LeadershipLost)
    assert two.first.jobs.events(1) == []


def test_a_term_that_a_lost_commit_gives_twice_is_of_one_broker_only(two: Two) -> None:
    before = two.first.leadership.row(5.0)
    two.first.term = two.first.leadership.take("a", 5.0)
    two.first.commit(batch(journal=[entry(1)]), NAMES)
    with two.first._engine.begin() as connection:  # a replica that was behind is promoted
        connection.execute(update(table).values(before._asdict()))
        connection.execute(text("delete from events"))
    two.second.term = two.second.leadership.take("b", 5.0)
    assert two.first.term == two.second.term
    with pytest.raises(LeadershipLost):
        two.first.commit(batch(journal=[entry(2)]), NAMES)
    assert not two.first.leadership.renew(1, 5.0)
    with contextlib.closing(Store(two.second._engine.url.render_as_string(False))) as reader:
        two.first.leadership.release(1)
        assert reader.leadership.leader() is not None
        assert reader.leadership.row(5.0).claim == two.second.leadership.claim
