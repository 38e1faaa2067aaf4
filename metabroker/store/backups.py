"""Copies of an SQLite store: made while it is in use, looked at, and put in its place again.

A copy is one file that only its account may read: users' scripts are in it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from .schema import newer

_FACT = "backup"
_SQLITE = "sqlite:///"
_LOG, _INDEX = "-wal", "-shm"  # SQLite's files beside the database


class BackupError(Exception):
    """It cannot be done, and nothing was changed: what is wrong, and what to do."""

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Content:
    """What a store, or a copy of one, holds. `time`: of the copy, in Unix seconds, or of the last
    that happened in it; `last_event`: a number that grows."""

    path: Path
    time: float
    instance: str
    schema: str
    jobs: Mapping[str, int]
    last_job: int
    last_event: int
    version: str | None = None


def file_of(url: str) -> Path:
    """The file of a store."""
    if not url.startswith(_SQLITE):
        raise BackupError(
            "the store is not an SQLite file",
            "use the tools of PostgreSQL: pg_dump, pg_restore, and then: metabroker restore "
            "--in-place",
        )
    return Path(url.removeprefix(_SQLITE))


def make(store: Path, target: Path, *, force: bool, now: float, version: str) -> Content:
    """Copy the store, at one moment of its life, whoever writes to it meanwhile.

    Raises:
        BackupError: nothing is at `target` that was not there before.
    """
    if not store.exists():
        raise BackupError(f"there is no store {store}", "see `store` in the configuration")
    if target.exists() and not force:
        raise _taken(target)
    _known_schema(store)
    part = target.with_name(f".{target.name}.{os.getpid()}")
    with _errors(target), _only_if_whole(part):
        _copy(store, part)
        with closing(_open(part)) as copy, copy:
            told = json.dumps({"time": now, "version": version})
            copy.execute("insert or replace into facts values (?, ?)", (_FACT, told))
        content = examine(part)
        _sync(part)
        if force:
            part.replace(target)
        else:
            _give_name(part, target)
        _sync(target.parent)
    return replace(content, path=target)


def examine(path: Path) -> Content:
    """What is in the file, which is sound.

    Raises:
        BackupError: it is not, it is no store, or one of a newer metabroker.
    """
    if not path.is_file():
        raise BackupError(f"there is no file {path}", "name a file that `metabroker backup` made")
    with _errors(path), closing(_open(path)) as store:
        trouble = store.execute("pragma integrity_check(1)").fetchone()[0]
        if trouble != "ok":
            raise BackupError(f"{path} is damaged: {trouble}", "take another backup")
    _known_schema(path)
    return content_of(path)


def content_of(path: Path) -> Content:
    """What is in the file; `examine` without the slow part."""
    with _errors(path), closing(_open(path)) as store:
        facts = dict(store.execute("select name, value from facts"))
        if "instance" not in facts:
            raise BackupError(f"{path} is not a store of metabroker", "name a backup of one")
        made = json.loads(facts.get(_FACT, "{}"))
        jobs = dict(store.execute("select state, count(*) from jobs group by state order by state"))
        (last_job,) = store.execute("select coalesce(max(id), 0) from jobs").fetchone()
        event, time = store.execute("select coalesce(max(id), 0), max(time) from events").fetchone()
        return Content(
            path,
            made.get("time") or time or path.stat().st_mtime,
            facts["instance"],
            _schema(store),
            jobs,
            last_job,
            event,
            made.get("version"),
        )


@contextmanager
def prepared(backup: Path, store: Path) -> Iterator[Path]:
    """A copy of the backup beside the store, to be worked on; gone afterwards, unless it has been
    put in the store's place."""
    part = store.with_name(f"{store.name}.part")
    with suppress(FileNotFoundError):
        part.unlink()
    with _errors(store), _only_if_whole(part):
        _copy(backup, part)
        with closing(_open(part)) as copy, copy:
            copy.execute("delete from facts where name = ?", (_FACT,))
        yield part


def put_in_place(made: Path, store: Path, stamp: str) -> Path | None:
    """`made` becomes the store; where that was is told: nothing is deleted. At no moment is there
    no store, and never one beside another one's log."""
    with _errors(store):
        aside = None
        if store.exists() and store.stat().st_size:
            aside = _free(store.with_name(f"{store.name}.before-restore-{stamp}"))
            _fold(store)
            os.link(store, aside)
            for suffix in (_LOG, _INDEX):
                with suppress(FileNotFoundError):
                    Path(f"{store}{suffix}").rename(f"{aside}{suffix}")
        _sync(made)
        made.replace(store)
        _sync(store.parent)
        return aside


def retire(store: Path, stamp: str) -> Path:
    """It is the store no more: where it is from now on."""
    with _errors(store):
        aside = _free(store.with_name(f"{store.name}.moved-{stamp}"))
        _fold(store)
        for suffix in (_LOG, _INDEX, ""):
            with suppress(FileNotFoundError):
                Path(f"{store}{suffix}").rename(f"{aside}{suffix}")
        _sync(store.parent)
        return aside


def _fold(store: Path) -> None:
    """What is in its log comes into the file itself, if it can be read at all."""
    with suppress(sqlite3.Error), closing(_open(store)) as present:
        present.execute("pragma wal_checkpoint(truncate)")


def _give_name(part: Path, target: Path) -> None:
    """Whoever came first keeps the name."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: that there was none is seen before
        part.rename(target)


def _free(path: Path) -> Path:
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}.{number}")
    return found


def _copy(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    with closing(_open(source)) as old, closing(_open(target)) as new:
        old.backup(new)
        # One file by itself, whatever mode the store is in.
        new.execute("pragma journal_mode=delete")


def _open(path: Path) -> sqlite3.Connection:
    """The database, which must be there. Who may only read it would leave files beside it."""
    mode = "rw" if os.access(path, os.W_OK) else "ro"
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=30)


def _schema(store: sqlite3.Connection) -> str:
    found = store.execute("select version_num from alembic_version").fetchone()
    return "" if found is None else str(found[0])


def _known_schema(path: Path) -> None:
    with _errors(path), closing(_open(path)) as store:
        refused = newer(_schema(store))
    if refused is not None:
        what, advice = refused
        raise BackupError(f"{path}: {what}", advice)


@contextmanager
def _only_if_whole(part: Path) -> Iterator[None]:
    """Of a file that is being made nothing is left, whatever happens: it was renamed, or is no
    good."""
    try:
        yield
    finally:
        for path in (part, *(Path(f"{part}{suffix}") for suffix in (_LOG, _INDEX, "-journal"))):
            with suppress(FileNotFoundError):
                path.unlink()


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BackupError(f"{path}: {error}", "check that it is a store of metabroker's") from error
    except FileExistsError as error:
        raise _taken(path) from error
    except OSError as error:
        where = error.filename or path
        raise BackupError(f"{where}: {error.strerror}", "check path, rights and space") from error


def _taken(path: Path) -> BackupError:
    return BackupError(f"{path} exists already", "name another file, or give --force")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
