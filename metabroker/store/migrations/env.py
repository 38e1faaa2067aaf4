"""Alembic's entry: migrations run on the connection that the store hands over.

They only go up: a store that a newer release has written is refused by an older one."""

from alembic import context

from metabroker.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
