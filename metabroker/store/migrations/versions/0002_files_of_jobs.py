"""Files of jobs: which of them are sent to clusters or brought back"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for name in ("stages_in", "stages_out"):
        column: sa.Column[bool] = sa.Column(
            name, sa.Boolean(), server_default=sa.false(), nullable=False
        )
        op.add_column("jobs", column)
