"""When components of planned jobs are to start"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("components", sa.Column("planned", sa.Float(), nullable=True))
