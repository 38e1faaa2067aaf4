"""Where the files of a job lie, and how large they are"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("inputs", sa.JSON(), nullable=True))
