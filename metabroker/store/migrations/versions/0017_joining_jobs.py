"""The job that a job joins"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.add_column("jobs", sa.Column("joins", NUMBER, nullable=True))
    there = sa.text("joins IS NOT NULL")
    op.create_index(
        "jobs_that_join", "jobs", ["joins", "id"], sqlite_where=there, postgresql_where=there
    )
