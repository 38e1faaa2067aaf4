"""Attempts that stood in a backup from which the store was restored"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

# The job's present attempt was begun before the store came back: in an earlier term.
_MARK = sa.text(
    "update jobs set uncertain = :backup "
    "where state in ('RESERVING', 'SUBMITTING', 'WAITING', 'RUNNING') and exists ("
    "select 1 from components c "
    "where c.job = jobs.id and c.attempt = jobs.attempt and c.term < :term)"
)


def upgrade() -> None:
    column: sa.Column[str] = sa.Column("uncertain", sa.Text(), nullable=True)
    op.add_column("jobs", column)
    connection = op.get_bind()
    found = connection.execute(sa.text("select value from facts where name = 'restored'")).scalar()
    if found is not None:
        latest = json.loads(found)[-1]
        connection.execute(_MARK, {"backup": latest["when"], "term": latest["term"]})
