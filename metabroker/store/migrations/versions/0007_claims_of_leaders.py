"""Whose the lease is, besides its term, and how often it was renewed"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    new = {
        "claim": (sa.Text(), ""),
        "seconds": (sa.Float(), "0"),
        "renewals": (sa.BigInteger(), "0"),
    }
    for name, (kind, default) in new.items():
        column: sa.Column[object] = sa.Column(name, kind, server_default=default, nullable=False)
        op.add_column("leadership", column)
