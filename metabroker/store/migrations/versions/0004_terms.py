"""Who leads, and in which term an attempt was begun"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    term: sa.Column[int] = sa.Column("term", sa.BigInteger(), server_default="0", nullable=False)
    op.add_column("components", term)
    op.create_table(
        "leadership",
        sa.Column("only", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("term", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("only"),
        sa.UniqueConstraint("term"),
    )
