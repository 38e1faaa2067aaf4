"""Arrays of jobs"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.add_column("jobs", sa.Column("array", sa.JSON(), nullable=True))
    op.add_column("jobs", sa.Column("of", NUMBER, nullable=True))
    op.add_column("jobs", sa.Column("task", NUMBER, nullable=True))
    there = sa.text('"of" IS NOT NULL')
    op.create_index(
        "jobs_of_arrays", "jobs", ["of", "task"], sqlite_where=there, postgresql_where=there
    )
