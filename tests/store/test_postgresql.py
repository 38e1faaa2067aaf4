"""What holds of PostgreSQL alone: several brokers, a server that goes, and what it refuses."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from metabroker.store import MustRestart, Store, StoreUnavailable, postgres
from metabroker.store.read_only import last_sizes, may_lose_commits
from tests.testbed.postgres import DATABASE, Postgres
from tests.testbed.processes import wait_until
from tests.testbed.proxy import Proxy

from .making import NAMES, accepted, batch, entry, job


@pytest.fixture
def name(postgres: Postgres) -> str:
    """A database's name."""
    return postgres.database()


@pytest.fixture
def url(database: str) -> str:
    """`store` is one there."""
    return database


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(StoreUnavailable) as caught:
        act()
    return str(caught.value)


def test_brokers_that_start_at_once_find_one_store(database: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: Store(database), range(4)))
    assert len({store.instance for store in stores}) == 1
    for store in stores:
        store.close()


def test_what_a_submission_may_hold_is_kept_as_it_is(store: Store) -> None:
    word = "'\\\n\\u0000 \\ud800 {}[]\" \N{SNOWMAN}\N{PILE OF POO}\x01\x7f"
    made = accepted(1)
    store.commit(batch(job(1, name=word), accepted=[made]), NAMES)
    assert store.jobs.rows()[0]["name"] == word
    spec = {**made.spec, "args": [word], "environment": {"A": word}}
    again = type(made)(2, "anna", None, b"#!\xff\0", spec)
    store.commit(batch(job(2), accepted=[again]), NAMES)
    assert store.jobs.script(2) == (b"#!\xff\0", spec)


@pytest.mark.parametrize("default", ["off", "remote_apply"])
def test_a_commit_is_durable_whatever_the_servers_default_is(database: str, default: str) -> None:
    sign = "&" if "?" in database else "?"
    store = Store(f"{database}{sign}options=-c%20synchronous_commit%3D{default}")
    with store._write() as writer:
        found = writer.execute(text("SHOW synchronous_commit")).scalar()
    assert found == ("on" if default == "off" else default)
    store.close()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_server_that_comes_back_is_used_again(
    database: str, postgres: Postgres, end: str
) -> None:
    store = Store(database)
    store.commit(batch(job(1)), NAMES)
    getattr(postgres, end)()
    refused(lambda: store.commit(batch(job(2)), NAMES))
    assert "store postgresql" in refused(store.jobs.rows)
    postgres.start()
    store.commit(batch(job(2)), NAMES)
    assert [row["id"] for row in store.jobs.rows()] == [1, 2]
    store.close()


def test_a_connection_that_is_cut_is_replaced(name: str, postgres: Postgres, proxy: Proxy) -> None:
    store = Store(postgres.url(name, proxy.port))
    store.commit(batch(job(1)), NAMES)
    proxy.cut()
    refused(lambda: store.commit(batch(job(2)), NAMES))
    store.commit(batch(job(2)), NAMES)
    proxy.cut()
    assert [row["id"] for row in store.jobs.rows()] == [1, 2], "a reader is given a good one"
    store.close()


def test_a_server_that_says_nothing_is_given_up(
    name: str, postgres: Postgres, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metabroker.store.postgres.SILENCE", 0.5)
    store = Store(postgres.url(name, proxy.port))
    store.commit(batch(job(1)), NAMES)
    proxy.silence()
    assert "has not answered for 0.5 s" in refused(lambda: store.commit(batch(job(2)), NAMES))
    proxy.heal()
    store.commit(batch(job(2)), NAMES)
    store.close()


def test_a_broker_that_hangs_in_a_transaction_keeps_no_other_waiting(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "IDLE_TRANSACTION", 1)
    store, other = Store(database), Store(database)
    term = store.term = store.leadership.take("a", 0.0)
    assert term == 1
    with pytest.raises(StoreUnavailable), store._guard(), store._write() as writer:
        writer.exec_driver_sql("select * from leadership for key share")
        assert other.leadership.take("b", 60.0) == 2
        writer.exec_driver_sql("select 1")
    store.close()
    other.close()


@pytest.mark.parametrize("same", [True, False], ids=["", "by a process that has written nothing"])
def test_a_batch_is_written_once_though_its_first_transaction_ends_late(
    database: str, same: bool
) -> None:
    first, again = Store(database), Store(database)
    it, before = batch(job(1), journal=[entry(1)]), batch(job(1), journal=[entry(1)])
    first.commit(before, NAMES)
    if same:
        again._batches.before = before.id
    with ThreadPoolExecutor(1) as pool, first._write() as writer:
        assert first._batches.is_new(writer, it.id), "the server has it, and has not ended it yet"
        retried = pool.submit(again.commit, it, NAMES)
        blocked = text("select count(*) from pg_locks where not granted")
        wait_until(lambda: writer.execute(blocked).scalar_one() > 0, 10, "the second one waits")
    retried.result()
    assert len(first.jobs.events(1)) == 1, "the second one has written nothing"
    again.commit(batch(job(2)), NAMES)
    first.close()
    again.close()


def test_who_writes_into_a_database_that_has_lost_commits_begins_anew(
    name: str, postgres: Postgres
) -> None:
    store = Store(postgres.url(name))
    store.commit(batch(job(1)), NAMES)
    older = postgres.dump(name)
    store.commit(batch(job(2)), NAMES)
    store.confirm()
    postgres.bring_back(name, older)
    with pytest.raises(MustRestart, match="has lost what was written into it"):
        store.confirm()
    with pytest.raises(MustRestart, match="has lost what was written into it"):
        store.commit(batch(job(3)), NAMES)
    assert [found.id for found in store.recover(NAMES).jobs] == [1]
    store.commit(batch(job(2)), NAMES)
    store.close()


def test_no_password_is_told(name: str, postgres: Postgres) -> None:
    wrong = f"postgresql://{name}:hunter2@127.0.0.1:{postgres.port}/{DATABASE}"
    hidden = f"postgresql://{name}@127.0.0.1:{postgres.port}/{DATABASE}?password=hunter2"
    for url in (wrong, hidden):
        message = refused(lambda url=url: Store(url))  # type: ignore[misc]
        assert "hunter2" not in message and "password authentication failed" in message
        assert "\n" not in message


def test_a_row_that_is_refused_is_not_told(store: Store) -> None:
    with store._engine.begin() as other:
        other.exec_driver_sql("alter table scripts add constraint c check (job > 1)")
    message = refused(lambda: store.commit(batch(job(1), accepted=[accepted(1)]), NAMES))
    assert "violates check constraint" in message and "anna" not in message


def test_sizes_are_looked_at_in_passing(database: str) -> None:
    assert last_sizes(database) == {}
    store = Store(database)
    seen = {"name": "delft", "processors": 64, "version": "1", "seen": time.time()}
    store.commit(batch(clusters=[seen]), NAMES)
    assert last_sizes(database) == {"delft": 64}
    store.close()


def test_a_server_that_may_lose_what_it_acknowledged_is_told_of(database: str) -> None:
    (fsync, pages) = may_lose_commits(database)  # the tests' own server is fast, not safe
    assert "`fsync` is off" in fsync and "`full_page_writes` is off" in pages


class Told:
    """A connection that answers as a server would."""

    def __init__(self, behind: int, replicas: int, waits: str) -> None:
        self._replicas, self._waits = (behind, replicas), waits

    def execute(self, statement: object) -> Any:
        asked = str(statement)
        said = self._waits if "synchronous_commit" in asked else "on"
        return SimpleNamespace(scalar_one=lambda: said, one=lambda: self._replicas)


@pytest.mark.parametrize(
    ("behind", "replicas", "waits", "wrong"),
    [
        (0, 0, "on", False),
        (1, 1, "on", True),
        (1, 2, "on", False),
        (0, 1, "local", True),
    ],
)
def test_replicas_that_nobody_waits_for_are_told_of(
    behind: int, replicas: int, waits: str, wrong: bool
) -> None:
    connection: Any = Told(behind, replicas, waits)
    assert bool(postgres.may_lose(connection)) is wrong
