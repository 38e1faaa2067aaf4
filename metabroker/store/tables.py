"""The tables. Times in Unix seconds; clusters by name, since their order is the configuration's.

A component's row tells what is owed to it (`step`), so a job's state and the effects that it
still waits for are written in the same transaction. `scripts` is apart: what only a start needs.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
)

metadata = MetaData()

# SQLite's numbers are as large as that by themselves.
Number = Integer().with_variant(BigInteger(), "postgresql")

facts = Table(
    "facts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

# One row. That `term` is unique makes it a key: who changes it waits for all that hold it shared,
# and who renews the lease for nobody.
leadership = Table(
    "leadership",
    metadata,
    Column("only", Integer, primary_key=True, autoincrement=False),
    Column("term", BigInteger, nullable=False, unique=True),
    Column("holder", Text, nullable=False),
    Column("expires", Float, nullable=False),
)

clusters = Table(
    "clusters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("processors", Number, nullable=False),
    Column("version", Text, nullable=False),
    Column("seen", Float, nullable=False),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("user", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("sizes", JSON, nullable=False),
    Column("clusters", JSON),  # of an ordered request, one name for each component
    Column("queue", Text, nullable=False),  # a cluster's name, or "" for the global queue
    Column("local", Text),
    Column("home", Text),
    Column("time_limit", Number, nullable=False),
    Column("submit_time", Float, nullable=False),
    Column("seq", Number, nullable=False),
    Column("queued_at", Float, nullable=False),
    Column("attempt", Number, nullable=False),
    Column("submission_failures", Number, nullable=False),
    Column("completion_failures", Number, nullable=False),
    Column("start_time", Float),
    Column("end_time", Float),
    Column("exit_code", Number),
    Column("deadline", Float),
    Column("goal", Text),
    Column("by", Text, nullable=False),
    Column("stages_in", Boolean, nullable=False, server_default=false()),
    Column("stages_out", Boolean, nullable=False, server_default=false()),
    Index("jobs_by_state", "state"),
    Index("jobs_by_end", "end_time"),
)

components = Table(
    "components",
    metadata,
    Column("job", Number, nullable=False),
    Column("attempt", Number, nullable=False),
    Column("component", Number, nullable=False),
    Column("cluster", Text, nullable=False),
    Column("processors", Number, nullable=False),
    Column("reserves", Boolean, nullable=False),
    Column("seq", Number, nullable=False),
    Column("phase", Text, nullable=False),
    Column("step", Text, nullable=False),
    Column("reservation", Boolean, nullable=False),
    Column("started", Boolean, nullable=False),
    Column("native_id", Text),
    Column("submit_time", Float),
    Column("hosts", Text, nullable=False),
    Column("start_time", Float),
    Column("end_time", Float),
    Column("exit_code", Number),
    Column("cause", Text),
    Column("detail", Text, nullable=False),
    Column("term", BigInteger, nullable=False, server_default="0"),
    PrimaryKeyConstraint("job", "attempt", "component"),
    Index("components_by_phase", "phase"),
    Index("components_by_seq", "seq"),
)

events = Table(
    "events",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=True),
    Column("time", Float, nullable=False),
    Column("job", Number, nullable=False),
    Column("attempt", Number, nullable=False),
    Column("what", Text, nullable=False),
    Column("detail", JSON, nullable=False),
    Index("events_by_job", "job"),
)

scripts = Table(
    "scripts",
    metadata,
    Column("job", Number, primary_key=True, autoincrement=False),
    Column("user", Text, nullable=False),
    Column("request_id", Text),
    Column("secret", Text, nullable=False),  # of the folders in which its components meet
    Column("script", LargeBinary, nullable=False),
    Column("spec", JSON, nullable=False),
    UniqueConstraint("user", "request_id"),
)

access_tokens = Table(
    "access_tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("digest", Text, nullable=False),  # SHA-256 of the whole token, which is kept nowhere
    Column("created", Float, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("expires", Float, nullable=False),
    Column("last_used", Float),
    Column("revoked", Float),
    Index("access_tokens_by_user", "user"),
)

# What a broker that stands by passes on to the one that leads, until it has read the answer.
requests = Table(
    "requests",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=True),
    Column("broker", Text, nullable=False),  # who was asked
    Column("kind", Text, nullable=False),
    Column("caller", JSON, nullable=False),
    Column("body", JSON, nullable=False),
    Column("expires", Float, nullable=False),  # nobody waits for it any more; the database's time
    Column("taken", BigInteger),  # the term of the broker that carries it out
    Column("answered", Boolean, nullable=False, server_default=false()),
    Column("answer", JSON),
)
