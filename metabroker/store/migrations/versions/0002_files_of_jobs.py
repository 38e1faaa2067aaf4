"""Files of jobs: which of them are sent to clusters or brought back"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("stages_in", "stages_out"):
        column: sa.Column[bool] = sa.Column(
            name, sa.Boolean(), server_default=sa.false(), nullable=False
        )
        op.add_column("jobs", column)


def downgrade() -> None:
    for name in ("stages_out", "stages_in"):
        op.drop_column("jobs", name)
