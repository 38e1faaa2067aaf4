"""What a transaction promises: all of it or nothing, durable when it returns, safe to repeat."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from metabroker.store import MustRestart, Store, StoreUnavailable
from tests.testbed.processes import captured

from .making import NAMES, accepted, batch, component, entry, job

ROOT = Path(__file__).parents[2]


def content(url: str) -> dict[str, list[Any]]:
    """All that is in the database, as another program sees it."""
    tables = ("jobs", "components", "events", "scripts", "clusters", "facts")
    return {name: run(url, f"select * from {name} order by 1") for name in tables}


def run(url: str, *statements: str) -> list[Any]:
    """Statements of another program; the rows of the last one."""
    other = create_engine(url)
    rows: list[Any] = []
    with other.begin() as connection:
        for statement in statements:
            done = connection.exec_driver_sql(statement)
            rows = [tuple(row) for row in done] if done.returns_rows else []
    other.dispose()
    return rows


def break_table(url: str, table: str) -> None:
    """Nothing can be written into it."""
    if url.startswith("sqlite"):
        run(
            url,
            *(
                f"create trigger no_{event} before {event} on {table} "
                "begin select raise(abort, 'disk is bad'); end"
                for event in ("insert", "update")
            ),
        )
        return
    run(
        url,
        "create function bad() returns trigger language plpgsql as "
        "$$begin raise 'disk is bad'; end$$",
        f"create trigger no before insert or update on {table} execute function bad()",
    )


def mend_table(url: str, table: str) -> None:
    """It can be written into again."""
    if url.startswith("sqlite"):
        run(url, "drop trigger no_insert", "drop trigger no_update")
    else:
        run(url, f"drop trigger no on {table}")


def whole(number: int = 1) -> dict[str, Any]:
    return {
        "components": [component(number), component(number, 1)],
        "journal": [entry(number), entry(number, "placed", clusters=["delft"])],
        "accepted": [accepted(number, f"r{number}")],
        "clusters": [{"name": "delft", "processors": 64, "version": "1", "seen": 5.0}],
        "memory": {"next_seq": number},
    }


def test_another_program_sees_all_of_it_when_commit_returns(store: Store, url: str) -> None:
    store.commit(batch(job(1), **whole()), NAMES)
    seen = content(url)
    assert {name: len(rows) for name, rows in seen.items()} == {
        "jobs": 1, "components": 2, "events": 2, "scripts": 1, "clusters": 1, "facts": 4,
    }  # fmt: skip


def test_every_commit_reaches_the_disk(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/metabroker.db")
    with store._engine.connect() as reader:
        assert reader.exec_driver_sql("pragma journal_mode").scalar() == "wal"
        assert reader.exec_driver_sql("pragma synchronous").scalar() == 2  # FULL
    with store._write() as writer:
        assert writer.exec_driver_sql("pragma synchronous").scalar() == 2
    store.close()


@pytest.mark.parametrize("broken", ["jobs", "components", "events", "scripts", "clusters", "facts"])
def test_what_cannot_be_written_whole_is_not_written(store: Store, url: str, broken: str) -> None:
    store.commit(batch(job(1), **whole()), NAMES)
    before = content(url)
    break_table(url, broken)
    with pytest.raises(StoreUnavailable, match="disk is bad"):
        store.commit(batch(job(1, name="changed"), job(2), **whole(2)), NAMES)
    assert content(url) == before
    mend_table(url, broken)
    store.commit(batch(job(1, name="changed"), job(2), **whole(2)), NAMES)
    assert len(content(url)["jobs"]) == 2, "it can be written again"


def test_the_same_batch_twice_is_the_batch_once(store: Store, url: str) -> None:
    it = batch(job(1), **whole())
    store.commit(it, NAMES)
    once = content(url)
    store.commit(it, NAMES)
    assert content(url) == once
    store.commit(batch(job(1), journal=it.ready.journal), NAMES)
    assert len(content(url)["events"]) == 4, "another batch, though it says the same"
    assert store.jobs.script(1) == (
        b"#!/bin/sh\n\xff\0",
        {"chdir": "/home/anna", "args": ["a b", "'\n"]},
    )


def test_the_secret_of_a_job_stays_the_same_when_its_batch_is_written_again(store: Store) -> None:
    it = batch(job(1), accepted=[accepted(1)])
    store.commit(it, NAMES)
    secret = store.jobs.meeting_place(1)[1]
    store.commit(it, NAMES)
    assert store.jobs.meeting_place(1)[1] == secret


def test_rows_are_replaced_not_added(store: Store) -> None:
    store.commit(batch(job(1), components=[component(1)]), NAMES)
    store.commit(batch(job(1, name="new"), components=[component(1, processors=4)]), NAMES)
    (row,) = store.jobs.rows(ids=[1])
    assert row["name"] == "new"


KILLED = """
import os, signal, sys
from metabroker.store import Store
from tests.store.making import *
store = Store(sys.argv[1])
for number in range(1, 51):
    store.commit(batch(job(number), accepted=[accepted(number)], journal=[entry(number)]), NAMES)
    print(number, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_acknowledged_survives_kill_9(url: str) -> None:
    done = captured([sys.executable, "-c", KILLED, url], cwd=ROOT)
    assert done.returncode == -9, done.stderr
    acknowledged = [int(line) for line in done.stdout.split()]
    store = Store(url)
    assert [j.id for j in store.recover(NAMES).jobs] == acknowledged == list(range(1, 51))
    assert all(store.jobs.script(number)[0] for number in acknowledged)
    store.close()


def test_readers_are_not_kept_waiting_by_the_writer(store: Store) -> None:
    store.commit(batch(job(1)), NAMES)
    with store._write() as writer:
        writer.exec_driver_sql("update jobs set name = 'not yet'")
        assert store.jobs.rows()[0]["name"] == "job"
    assert store.jobs.rows()[0]["name"] == "not yet"


def test_a_file_that_is_put_back_under_its_writer_is_not_written_into(tmp_path: Path) -> None:
    url, copy = f"sqlite:///{tmp_path / 'a.db'}", tmp_path / "copy.db"
    store = Store(url)
    store.commit(batch(job(1)), NAMES)
    run(url, f"vacuum into '{copy}'")
    lost = batch(job(2))
    store.commit(lost, NAMES)
    with closing(sqlite3.connect(copy)) as old, closing(sqlite3.connect(tmp_path / "a.db")) as new:
        old.backup(new)
    with pytest.raises(MustRestart, match="has lost what was written into it"):
        store.confirm()  # without a transaction too
    for another in (batch(job(3)), batch(job(3))):
        with pytest.raises(MustRestart, match="has lost what was written into it"):
            store.commit(another, NAMES)
    assert [found.id for found in store.recover(NAMES).jobs] == [1], "nothing was written"
    store.commit(batch(job(2)), NAMES)
    store.confirm()
    assert [found.id for found in store.recover(NAMES).jobs] == [1, 2]
    store.close()
