"""A look into a store that is not ours to change: no lock, no migration."""

from __future__ import annotations

from sqlalchemy import create_engine, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from .tables import clusters


def last_sizes(url: str) -> dict[str, int]:
    """Processors of each cluster as last seen; empty if there is no store, or no telling."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        parsed = make_url(f"sqlite:///file:{parsed.database}?mode=ro&uri=true")
    engine = create_engine(parsed)
    try:
        with engine.connect() as connection:
            return {row.name: row.processors for row in connection.execute(select(clusters))}
    except SQLAlchemyError:
        return {}
    finally:
        engine.dispose()
