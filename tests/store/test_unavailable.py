"""A store that cannot be used says what is wrong, and no secret."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Table

from metabroker.store import Store, StoreUnavailable
from tests.testbed.processes import captured

from .making import NAMES, batch, job


def wrong(url: str) -> str:
    with pytest.raises(StoreUnavailable) as caught:
        Store(url).close()
    return str(caught.value)


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"\0" * 5000])
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.db").write_bytes(content)
    assert str(tmp_path / "a.db") in wrong(f"sqlite:///{tmp_path}/a.db")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert "unable to open" in wrong(f"sqlite:///{tmp_path}/gone/a.db")


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    assert "unable to open" in wrong(f"sqlite:///{tmp_path}")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:hunter2@db.example:port/x",
        "postgresql://user:hunter2@[::1/x",
        "nonsense://user:hunter2@host/x",
        "user:hunter2@host",
        "hunter2",
        "",
        "postgresql+nodriver://user:hunter2@host/x",
        "postgresql+psycopg2://user:hunter2@127.0.0.1:1/x",
        "mysql://user:hunter2@127.0.0.1:1/x",
    ],
)
def test_no_password_is_ever_told(url: str) -> None:
    message = wrong(url)
    assert message.startswith("store")
    assert "hunter2" not in message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_that_may_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    store = Store(f"sqlite:///{path}")
    store.close()
    path.chmod(0o400)
    tmp_path.chmod(0o500)
    assert "readonly" in wrong(f"sqlite:///{path}")


FULL = """
import resource, signal, sys
from metabroker.store import Store, StoreUnavailable
from tests.store.making import *
store = Store("sqlite:///" + sys.argv[1])
store.commit(batch(job(1)), NAMES)
# No file of this process may grow any more: as good as a full disk.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
try:
    store.commit(batch(*(job(n) for n in range(2, 2000))), NAMES)
except StoreUnavailable as error:
    print("told:", error)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
print("read:", len(store.jobs.rows()))
store.commit(batch(job(2)), NAMES)
print("again:", len(store.jobs.rows()))
"""


def test_a_full_disk_loses_nothing_and_can_be_written_again_later(tmp_path: Path) -> None:
    done = captured(
        [sys.executable, "-c", FULL, str(tmp_path / "a.db")], cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stderr
    told, read, again = done.stdout.splitlines()
    assert told.startswith(f"told: store sqlite:///{tmp_path}/a.db: ")
    assert (read, again) == ("read: 1", "again: 2")


def test_a_store_locked_for_long_by_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    store = Store(f"sqlite:///{tmp_path}/a.db")
    with store._write() as writer:
        writer.exec_driver_sql("pragma busy_timeout=50")
    with sqlite3.connect(tmp_path / "a.db", isolation_level=None) as other:
        other.execute("begin exclusive")
        with pytest.raises(StoreUnavailable, match="locked"):
            store.commit(batch(job(1)), NAMES)
        other.execute("rollback")
    store.commit(batch(job(1)), NAMES)
    assert len(store.jobs.rows()) == 1
    store.close()


def test_too_little_memory_is_the_stores_trouble_and_the_same_batch_can_be_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(f"sqlite:///{tmp_path}/a.db")
    whole = Store._upsert

    def failing(self: Store, connection: Connection, table: Table, rows: list[Any]) -> None:
        if table.name == "components":  # the job itself has been written by then
            raise MemoryError
        whole(self, connection, table, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "_upsert", failing)
        with pytest.raises(StoreUnavailable, match="too little memory"):
            store.commit(batch(job(1)), NAMES)
    assert not store.recover(NAMES).jobs
    store.commit(batch(job(1)), NAMES)
    assert [found.id for found in store.recover(NAMES).jobs] == [1]
    store.close()
