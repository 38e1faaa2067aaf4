"""Backups of a store: whole, private, looked at before they are trusted, and never in the way."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from metabroker.broker.states import JobState
from metabroker.store import Store
from metabroker.store.backups import (
    BackupError,
    Content,
    examine,
    file_of,
    make,
    prepared,
    put_in_place,
)

from .making import NAMES, accepted, batch, component, entry, job


def made(path: Path) -> Store:
    """A store with three jobs in it."""
    store = Store(f"sqlite:///{path}")
    jobs = [job(1, JobState.COMPLETED), job(2, JobState.RUNNING), job(3)]
    parts, said = [component(2)], [entry(n, time=50.0 + n) for n in (1, 2, 3)]
    scripts = [accepted(n) for n in (1, 2, 3)]
    store.commit(batch(*jobs, components=parts, journal=said, accepted=scripts), NAMES)
    return store


def back_up(store: Path, target: Path, *, force: bool = False) -> Content:
    return make(store, target, force=force, now=1000.5, version="0.1.0")


def refused(store: Path, target: Path) -> BackupError:
    with pytest.raises(BackupError) as caught:
        back_up(store, target)
    assert caught.value.advice
    return caught.value


def test_a_backup_is_one_private_file_that_tells_what_it_holds(tmp_path: Path) -> None:
    store = made(tmp_path / "a.db")
    content = back_up(tmp_path / "a.db", tmp_path / "b.db")
    assert content == examine(tmp_path / "b.db")
    assert (content.time, content.version, content.instance) == (1000.5, "0.1.0", store.instance)
    assert content.jobs == {"COMPLETED": 1, "QUEUED": 1, "RUNNING": 1}
    assert (content.last_job, content.last_event) == (3, 3)
    assert (tmp_path / "b.db").stat().st_mode & 0o777 == 0o600
    store.close()
    assert {path.name for path in tmp_path.iterdir()} == {"a.db", "b.db"}
    again = Store(f"sqlite:///{tmp_path}/b.db")
    assert [found.id for found in again.recover(NAMES).jobs] == [2, 3]
    assert again.jobs.script(2) == store.jobs.script(2)
    assert again.jobs.meeting_place(2) == store.jobs.meeting_place(2)
    again.close()
    store.close()


def test_it_is_of_one_moment_while_jobs_come(tmp_path: Path) -> None:
    store = made(tmp_path / "a.db")
    stop = threading.Event()

    def submit() -> None:
        number = 4
        while not stop.is_set():
            both = batch(job(number), accepted=[accepted(number)], journal=[entry(number)])
            store.commit(both, NAMES)
            number += 1

    user = threading.Thread(target=submit)
    user.start()
    try:
        for turn in range(10):
            content = back_up(tmp_path / "a.db", tmp_path / f"{turn}.db")
            with closing(sqlite3.connect(content.path)) as copy:
                (scripts,) = copy.execute("select count(*) from scripts").fetchone()
            assert scripts == content.last_job == content.last_event
    finally:
        stop.set()
        user.join()
    assert len(store.jobs.rows()) >= content.last_job
    store.close()


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    made(tmp_path / "a.db").close()
    (tmp_path / "b.db").write_text("precious")
    assert "exists already" in refused(tmp_path / "a.db", tmp_path / "b.db").message
    assert (tmp_path / "b.db").read_text() == "precious"
    back_up(tmp_path / "a.db", tmp_path / "b.db", force=True)
    assert examine(tmp_path / "b.db").last_job == 3


def test_what_cannot_be_copied(tmp_path: Path) -> None:
    assert "there is no store" in refused(tmp_path / "a.db", tmp_path / "b.db").message
    (tmp_path / "a.db").write_bytes(b"this is no database" * 100)
    assert "not a database" in refused(tmp_path / "a.db", tmp_path / "b.db").message
    made(tmp_path / "c.db").close()
    assert str(tmp_path / "gone") in refused(tmp_path / "c.db", tmp_path / "gone/b.db").message
    assert {path.name for path in tmp_path.iterdir()} == {"a.db", "c.db"}
    with pytest.raises(BackupError, match="not an SQLite file") as caught:
        file_of("postgresql://broker:hunter2@db/metabroker")
    assert "pg_dump" in caught.value.advice and "hunter2" not in str(caught.value)


def test_a_damaged_backup_is_told_before_it_is_used(tmp_path: Path) -> None:
    made(tmp_path / "a.db").close()
    back_up(tmp_path / "a.db", tmp_path / "b.db")
    content = bytearray((tmp_path / "b.db").read_bytes())
    size = len(content)
    content[size // 2 : size // 2 + 3000] = b"\xff" * 3000
    (tmp_path / "b.db").write_bytes(content)
    with pytest.raises(BackupError, match=str(tmp_path / "b.db")):
        examine(tmp_path / "b.db")
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("create table t (x)")
    with pytest.raises(BackupError, match="no such table"):
        examine(tmp_path / "other.db")
    with pytest.raises(BackupError, match="there is no file"):
        examine(tmp_path / "gone.db")


def test_a_newer_store_is_neither_copied_nor_taken(tmp_path: Path) -> None:
    made(tmp_path / "a.db").close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as other, other:
        other.execute("update alembic_version set version_num = '9999'")
    before = (tmp_path / "a.db").read_bytes()
    told = refused(tmp_path / "a.db", tmp_path / "b.db")
    assert "its schema (9999) is newer" in told.message and "install" in told.advice
    with pytest.raises(BackupError, match="is newer"):
        examine(tmp_path / "a.db")
    assert (tmp_path / "a.db").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


def test_the_store_that_was_there_is_put_aside_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    store = made(path)
    back_up(path, tmp_path / "b.db")
    store.commit(batch(job(4), journal=[entry(4)]), NAMES)
    # As after a kill: what was written last is only in the log.
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"killed.db{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    store.close()
    killed = tmp_path / "killed.db"
    asides = []
    for _ in range(2):
        with prepared(tmp_path / "b.db", killed) as part:
            asides.append(put_in_place(part, killed, "now"))
    first, second = asides
    assert first is not None and second is not None and first != second
    assert examine(first).last_job == 4
    assert examine(killed).last_job == examine(second).last_job == 3
    assert killed.stat().st_mode & 0o777 == 0o600
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"a.db", "b.db", "killed.db", first.name, second.name}


def test_what_goes_wrong_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    made(tmp_path / "a.db").close()
    back_up(tmp_path / "a.db", tmp_path / "b.db")
    before = (tmp_path / "a.db").read_bytes()
    with pytest.raises(RuntimeError), prepared(tmp_path / "b.db", tmp_path / "a.db"):
        raise RuntimeError
    assert (tmp_path / "a.db").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"a.db", "b.db"}


def test_where_files_cannot_have_two_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "a.db").close()

    def refuse(*_paths: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    assert back_up(tmp_path / "a.db", tmp_path / "b.db").last_job == 3
    assert {path.name for path in tmp_path.iterdir()} == {"a.db", "b.db"}
    before = (tmp_path / "a.db").read_bytes()
    with (
        pytest.raises(BackupError, match="not permitted"),
        prepared(tmp_path / "b.db", tmp_path / "a.db") as part,
    ):
        put_in_place(part, tmp_path / "a.db", "now")
    assert (tmp_path / "a.db").read_bytes() == before
