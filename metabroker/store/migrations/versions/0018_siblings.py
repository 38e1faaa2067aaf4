"""How many siblings a job's attempt has begun"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
# Each was written down as it was begun. Their rows go once they are cleaned up; the lines of the
# job's history stay.
_BEGUN = sa.text(
    "UPDATE jobs SET siblings = (SELECT count(*) FROM events WHERE events.job = jobs.id "
    "AND events.attempt = jobs.attempt AND events.what = 'in line') "
    "WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT')"
)


def upgrade() -> None:
    op.add_column("jobs", sa.Column("siblings", NUMBER, nullable=False, server_default="0"))
    op.execute(_BEGUN)
