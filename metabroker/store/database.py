"""Opening a database by its URL, and what is told when it cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, Executable, Select, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from . import postgres
from .columns import parsed, serialized

_TOLD = frozenset({"host", "port", "service"})  # keys after the ? of a URL that are no secrets


class StoreUnavailable(Exception):
    """The store cannot be read or written now: what is wrong, without secrets."""


class OutcomeUnknown(StoreUnavailable):
    """Nobody knows whether it was written: the answer to the COMMIT has not come."""


Guard = Callable[[], AbstractContextManager[None]]
"""Around each use of a database: raises StoreUnavailable for whatever goes wrong."""


def open_engine(url: str) -> Engine:
    """The engine of a store. Nothing is connected to yet.

    Raises:
        StoreUnavailable: the URL cannot be understood, or what it needs is not installed.
    """
    try:
        parsed_url = make_url(url)
    except (SQLAlchemyError, ValueError) as error:
        # What is wrong is not told in their words: they may quote a password.
        raise StoreUnavailable(
            "store: its URL cannot be understood; write sqlite:////path/to/metabroker.db, or "
            "postgresql://user@host/name"
        ) from error
    try:
        if parsed_url.drivername in ("postgresql", "postgresql+psycopg"):
            return postgres.engine_of(parsed_url)
        engine = create_engine(parsed_url, json_serializer=serialized, json_deserializer=parsed)
    except ImportError as error:
        advice = "pip install 'metabroker[postgresql]'"
        raise StoreUnavailable(f"store: {error}; install its driver: {advice}") from error
    except SQLAlchemyError as error:
        raise StoreUnavailable(f"store: {error}") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
    return engine


def place(url: URL) -> str:
    """The database's address for people: without its password, wherever that stands."""
    shown = {key: value for key, value in url.query.items() if key in _TOLD}
    return url.set(drivername=url.get_backend_name(), query=shown).render_as_string(
        hide_password=True
    )


def guard(engine: Engine) -> Guard:
    """What stands around each use of this engine."""
    where = place(engine.url)

    @contextmanager
    def guarded() -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            cause = getattr(error, "orig", None) or error  # not ours
            raise StoreUnavailable(f"store {where}: {postgres.told(cause)}") from error

    return guarded


def rows_of(connection: Connection, query: Executable, **asked: Any) -> list[dict[str, Any]]:
    """All rows of a query by their columns' names; faster than `mappings`."""
    result = connection.execute(query, asked)
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result]


class Part:
    """A part of a store: some tables, read and written beside the core's writer. Every call may
    raise StoreUnavailable."""

    def __init__(self, engine: Engine, guard: Guard) -> None:
        self._engine = engine
        self._guard = guard

    def _rows(self, query: Select[Any], **asked: Any) -> list[dict[str, Any]]:
        with self._guard(), self._engine.connect() as connection:
            return rows_of(connection, query, **asked)

    def _column(self, query: Select[Any], **asked: Any) -> list[Any]:
        with self._guard(), self._engine.connect() as connection:
            return list(connection.execute(query, asked).scalars())

    def _change(self, change: Executable) -> None:
        with self._guard(), self._engine.begin() as connection:
            connection.execute(change)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
