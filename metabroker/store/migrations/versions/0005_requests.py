"""Requests that brokers which stand by pass on to the one that leads"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

# SQLite's numbers are as large as that by themselves, and its own keys must be plain.
NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "requests",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("broker", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("caller", sa.JSON(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("taken", sa.BigInteger(), nullable=True),
        sa.Column("answered", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
