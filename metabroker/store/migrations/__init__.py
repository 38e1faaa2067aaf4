"""Migrations, applied in order by `metabroker.store.schema`."""
