"""How far the clusters of a job may be from each other"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("max_latency", sa.Float(), nullable=True))
