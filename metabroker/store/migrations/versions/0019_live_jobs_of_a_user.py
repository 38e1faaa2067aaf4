"""A user's live jobs are found without a look at everybody's"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

LIVE = sa.text("state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT')")


def upgrade() -> None:
    op.drop_index("jobs_live", "jobs")
    op.create_index(
        "jobs_live", "jobs", ["user", "state"], sqlite_where=LIVE, postgresql_where=LIVE
    )
