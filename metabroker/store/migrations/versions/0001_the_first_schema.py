"""The first schema"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# SQLite's numbers are as large as that by themselves.
NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "clusters",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("processors", NUMBER, nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("seen", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "components",
        sa.Column("job", NUMBER, nullable=False),
        sa.Column("attempt", NUMBER, nullable=False),
        sa.Column("component", NUMBER, nullable=False),
        sa.Column("cluster", sa.Text(), nullable=False),
        sa.Column("processors", NUMBER, nullable=False),
        sa.Column("reserves", sa.Boolean(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("reservation", sa.Boolean(), nullable=False),
        sa.Column("started", sa.Boolean(), nullable=False),
        sa.Column("native_id", sa.Text(), nullable=True),
        sa.Column("submit_time", sa.Float(), nullable=True),
        sa.Column("hosts", sa.Text(), nullable=False),
        sa.Column("start_time", sa.Float(), nullable=True),
        sa.Column("end_time", sa.Float(), nullable=True),
        sa.Column("exit_code", NUMBER, nullable=True),
        sa.Column("cause", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("job", "attempt", "component"),
    )
    op.create_index("components_by_phase", "components", ["phase"])
    op.create_index("components_by_seq", "components", ["seq"])
    op.create_table(
        "events",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("job", NUMBER, nullable=False),
        sa.Column("attempt", NUMBER, nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("events_by_job", "events", ["job"])
    op.create_table(
        "facts",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "jobs",
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("sizes", sa.JSON(), nullable=False),
        sa.Column("clusters", sa.JSON(), nullable=True),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("local", sa.Text(), nullable=True),
        sa.Column("home", sa.Text(), nullable=True),
        sa.Column("time_limit", NUMBER, nullable=False),
        sa.Column("submit_time", sa.Float(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("queued_at", sa.Float(), nullable=False),
        sa.Column("attempt", NUMBER, nullable=False),
        sa.Column("submission_failures", NUMBER, nullable=False),
        sa.Column("completion_failures", NUMBER, nullable=False),
        sa.Column("start_time", sa.Float(), nullable=True),
        sa.Column("end_time", sa.Float(), nullable=True),
        sa.Column("exit_code", NUMBER, nullable=True),
        sa.Column("deadline", sa.Float(), nullable=True),
        sa.Column("goal", sa.Text(), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("jobs_by_end", "jobs", ["end_time"])
    op.create_index("jobs_by_state", "jobs", ["state"])
    op.create_table(
        "scripts",
        sa.Column("job", NUMBER, autoincrement=False, nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("script", sa.LargeBinary(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("job"),
        sa.UniqueConstraint("user", "request_id"),
    )
