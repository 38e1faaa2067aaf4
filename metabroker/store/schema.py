"""The schema's versions: an empty or older database is brought up to date, a newer one refused."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from .tables import metadata


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
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    scripts = ScriptDirectory.from_config(config)
    with engine.connect() as connection:
        present = MigrationContext.configure(connection).get_current_revision()
    if present == scripts.get_current_head():
        return
    if present is not None and present not in {s.revision for s in scripts.walk_revisions()}:
        raise NewerSchema(
            f"its schema ({present}) is newer than this metabroker: install the metabroker that "
            "wrote it, or a newer one"
        )
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
