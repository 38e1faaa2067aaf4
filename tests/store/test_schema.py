"""The schema: both ways to make it are the same, and a newer one is refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

from metabroker.store import Store, StoreUnavailable
from metabroker.store.database import open_engine
from metabroker.store.tables import metadata


def made(path: Path, *, migrate: bool) -> dict[str, object]:
    """A new store, described."""
    store = Store(f"sqlite:///{path}", migrate=migrate)
    store.close()
    return described(path)


def described(path: Path) -> dict[str, object]:
    """What SQLite says of every table and index that is there."""
    with sqlite3.connect(path) as other:
        names = [
            row[0]
            for row in other.execute("select name from sqlite_master where type = 'table'")
            if row[0] not in ("alembic_version", "sqlite_sequence")
        ]
        return {
            name: (
                other.execute(f"pragma table_info({name})").fetchall(),
                sorted(
                    (index[2], index[3], tuple(other.execute(f"pragma index_info({index[1]})")))
                    for index in other.execute(f"pragma index_list({name})").fetchall()
                ),
            )
            for name in names
        }


def test_migrations_make_the_very_tables_of_the_code(tmp_path: Path) -> None:
    migrated = made(tmp_path / "migrated.db", migrate=True)
    assert migrated == made(tmp_path / "created.db", migrate=False)
    jobs = {"clusters", "jobs", "components", "events", "scripts", "archives"}
    assert migrated.keys() == {"facts", "requests", "access_tokens", "leadership", *jobs}
    with create_engine(f"sqlite:///{tmp_path}/migrated.db").connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_so_they_do_on_postgresql(database: str) -> None:
    Store(database).close()
    with open_engine(database).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_opened_again_it_stays_as_it_is(tmp_path: Path) -> None:
    first = Store(f"sqlite:///{tmp_path}/a.db")
    again = Store(f"sqlite:///{tmp_path}/a.db")
    assert first.instance == again.instance
    assert len(first.instance) == 8 and set(first.instance) <= set("0123456789abcdef")
    other = Store(f"sqlite:///{tmp_path}/b.db")
    assert other.instance != first.instance
    for store in (first, again, other):
        store.close()


def test_older_code_refuses_a_newer_schema(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    Store(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as other:
        other.execute("update alembic_version set version_num = '9999'")
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable) as caught:
        Store(f"sqlite:///{path}")
    assert "its schema (9999) is newer than this metabroker" in str(caught.value)
    assert "knows up to 0" in str(caught.value)
    assert "install the metabroker that wrote it" in str(caught.value)
    assert path.read_bytes() == before
