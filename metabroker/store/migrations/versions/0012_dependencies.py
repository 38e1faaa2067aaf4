"""Jobs that wait for other jobs"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("dependency", sa.JSON(), nullable=True))
