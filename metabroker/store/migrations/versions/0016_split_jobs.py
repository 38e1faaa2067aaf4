"""How the policy may split a job, and has"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("split", sa.JSON(), nullable=True))
