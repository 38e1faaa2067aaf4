"""What jobs ask of nodes beside processors"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("shape", sa.JSON(), nullable=True))
