"""Clusters that cannot be asked for all that a job asks for"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("closed", sa.JSON(), nullable=True))
