"""The schema's versions: an empty or older database is brought up to date, a newer one refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import SQLAlchemyError

from .postgres import unhurried
from .tables import metadata

_LOCK = 0x6D62_7363_6865_6D61  # of PostgreSQL's advisory locks: "mbschema"
MIGRATIONS = Path(__file__).with_name("migrations")


class NewerSchema(SQLAlchemyError):
    """The database was written by a newer metabroker."""


def bring_up_to_date(engine: Engine, *, migrate: bool = True) -> None:
    """Create or migrate the tables.

    Without `migrate` an empty database gets its tables at once, for tests that open thousands;
    a test proves that both ways end in the same tables.

    Raises:
        NewerSchema: this metabroker is older than the database.
    """
    if not migrate:
        metadata.create_all(engine)
        return
    scripts, config = _scripts()
    if _present(engine) == scripts.get_current_head():
        return
    with engine.begin() as connection, _alone(connection):
        present = MigrationContext.configure(connection).get_current_revision()
        refused = None if present is None else newer(present)
        if refused is not None:
            raise NewerSchema(": ".join(refused))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def newer(revision: str) -> tuple[str, str] | None:
    """What to say of a schema that this metabroker does not know, and what to do about it; None:
    it knows it."""
    scripts, _config = _scripts()
    if revision in {script.revision for script in scripts.walk_revisions()}:
        return None
    return (
        f"its schema ({revision}) is newer than this metabroker, which knows up to "
        f"{scripts.get_current_head()}",
        "install the metabroker that wrote it, or a newer one",
    )


def _scripts() -> tuple[ScriptDirectory, Config]:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return ScriptDirectory.from_config(config), config


def _present(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """One broker at a time: another that does this now is waited for. And all of it or nothing."""
    if connection.dialect.name != "postgresql":
        # By itself sqlite3 begins no transaction for DDL: each statement would be for good at once,
        # and a store with half of them could never be opened again.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield
        return
    with unhurried(connection):
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        yield
