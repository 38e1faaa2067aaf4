"""Indexes that part live jobs from ended ones, and where the records of removed jobs are"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
LIVE = "state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT')"
ENDED = "state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT')"
NOT_GONE = "phase != 'gone' OR step != ''"


def upgrade() -> None:
    for name, table in (
        ("jobs_by_state", "jobs"),
        ("jobs_by_end", "jobs"),
        ("components_by_phase", "components"),
        ("components_by_seq", "components"),
    ):
        op.drop_index(name, table)
    _partial("jobs_live", "jobs", LIVE, "state")
    _partial("jobs_ended", "jobs", ENDED, "end_time", "id", "user", "state")
    _partial("components_not_gone", "components", NOT_GONE, "cluster")
    op.create_table(
        "archives",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("began", sa.Float(), nullable=False),
        sa.Column("latest", sa.Float(), nullable=False),
        sa.Column("jobs", NUMBER, nullable=False),
        sa.Column("first_job", NUMBER, nullable=True),
        sa.Column("last_job", NUMBER, nullable=True),
        sa.Column("lines_size", NUMBER, nullable=False),
        sa.Column("swf_size", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def _partial(name: str, table: str, condition: str, *columns: str) -> None:
    where = sa.text(condition)
    op.create_index(name, table, list(columns), sqlite_where=where, postgresql_where=where)
