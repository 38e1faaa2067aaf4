"""A look into a store that is not ours to change: no lock, no migration."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from .database import StoreUnavailable, guard, open_engine
from .postgres import may_lose
from .tables import clusters


def last_sizes(url: str) -> dict[str, int]:
    """Processors of each cluster as last seen; empty if there is no store, or no telling."""
    if make_url(url).get_backend_name() == "sqlite":
        url = f"sqlite:///file:{make_url(url).database}?mode=ro&uri=true"
    try:
        engine = open_engine(url)
    except StoreUnavailable:
        return {}
    try:
        with engine.connect() as connection:
            return {row.name: row.processors for row in connection.execute(select(clusters))}
    except SQLAlchemyError:
        return {}
    finally:
        engine.dispose()


def may_lose_commits(url: str) -> list[str]:
    """Why the database may lose what it has acknowledged; of an SQLite file nothing is said.

    Raises:
        StoreUnavailable: it cannot be asked.
    """
    engine = open_engine(url)
    try:
        if engine.dialect.name == "sqlite":
            return []
        with guard(engine)(), engine.connect() as connection:
            return may_lose(connection)
    finally:
        engine.dispose()
