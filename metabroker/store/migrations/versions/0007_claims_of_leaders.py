"""Whose the lease is, besides its term, and how often it was renewed"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    claim: sa.Column[str] = sa.Column("claim", sa.Text(), server_default="", nullable=False)
    seconds: sa.Column[float] = sa.Column("seconds", sa.Float(), server_default="0", nullable=False)
    count: sa.Column[int] = sa.Column(
        "renewals", sa.BigInteger(), server_default="0", nullable=False
    )
    for column in (claim, seconds, count):
        op.add_column("leadership", column)
