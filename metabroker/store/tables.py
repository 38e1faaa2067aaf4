"""The tables. Times in Unix seconds; clusters by name, since their order is the configuration's.

A component's row tells what is pending to it (`step`), so a job's state and the effects that it
still waits for are written in the same transaction. `scripts` is apart: what only a start needs.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    FromClause,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    false,
    literal_column,
    select,
    tuple_,
)

from metabroker.broker.states import ENDED, IN_ATTEMPT, JobState, Phase, Step

from .columns import Int64, Moment, Words

metadata = MetaData()

facts = Table(
    "facts",
    metadata,
    Column("name", Words, primary_key=True),
    Column("value", Words, nullable=False),
)

# One row. That `term` is unique makes it a key: who changes it waits for all that hold it shared,
# and who renews the lease for nobody.
leadership = Table(
    "leadership",
    metadata,
    Column("only", Integer, primary_key=True, autoincrement=False),
    Column("term", BigInteger, nullable=False, unique=True),
    Column("holder", Words, nullable=False),
    Column("expires", Moment, nullable=False),
    Column("claim", Words, nullable=False, server_default=""),  # of the process that leads
    Column("seconds", Moment, nullable=False, server_default="0"),  # of its lease
    Column("renewals", BigInteger, nullable=False, server_default="0"),
)

clusters = Table(
    "clusters",
    metadata,
    Column("name", Words, primary_key=True),
    Column("processors", Int64, nullable=False),
    Column("version", Words, nullable=False),
    Column("seen", Moment, nullable=False),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Int64, primary_key=True, autoincrement=False),
    Column("user", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("sizes", JSON, nullable=False),
    Column("clusters", JSON),  # of an ordered request, one name for each component
    Column("queue", Words, nullable=False),  # a cluster's name, or "" for the global queue
    Column("local", Words),
    Column("home", Words),
    Column("time_limit", Int64, nullable=False),
    Column("submit_time", Moment, nullable=False),
    Column("seq", Int64, nullable=False),
    Column("queued_at", Moment, nullable=False),
    Column("attempt", Int64, nullable=False),
    Column("submission_failures", Int64, nullable=False),
    Column("completion_failures", Int64, nullable=False),
    Column("start_time", Moment),
    Column("end_time", Moment),
    Column("exit_code", Int64),
    Column("deadline", Moment),
    Column("goal", Words),
    Column("by", Words, nullable=False),
    Column("stages_in", Boolean, nullable=False, server_default=false()),
    Column("stages_out", Boolean, nullable=False, server_default=false()),
    Column("uncertain", Words),  # the backup in which its attempt stood, by that backup's time
    Column("shape", JSON(none_as_null=True)),  # what its tasks ask of nodes beside a processor each
    Column("closed", JSON(none_as_null=True)),  # clusters that cannot be asked for what it asks for
    Column("dependency", JSON(none_as_null=True)),  # `on`, `kill`, `never`: what it waits for
    Column("array", JSON(none_as_null=True)),  # its tasks, and how far they have come
    Column("of", Int64),  # the array that it is a task of
    Column("task", Int64),
    Column("max_latency", Float),  # milliseconds between its clusters
    Column("inputs", JSON(none_as_null=True)),  # bytes of its files, and clusters that have them
    Column("split", JSON(none_as_null=True)),  # how the policy may split it, and has
    Column("joins", Int64),  # the job whose optional component it is
    # Begun in its attempt, in line.
    Column("siblings", Int64, nullable=False, server_default="0"),
    Column("nodes", JSON(none_as_null=True)),  # on how many its tasks are: [at least, at most]
)

components = Table(
    "components",
    metadata,
    Column("job", Int64, nullable=False),
    Column("attempt", Int64, nullable=False),
    Column("component", Int64, nullable=False),
    Column("cluster", Words, nullable=False),
    Column("processors", Int64, nullable=False),
    Column("reserves", Boolean, nullable=False),
    Column("seq", Int64, nullable=False),
    Column("phase", Words, nullable=False),
    Column("step", Words, nullable=False),
    Column("reservation", Boolean, nullable=False),
    Column("started", Boolean, nullable=False),
    Column("native_id", Words),
    Column("submit_time", Moment),
    Column("hosts", Words, nullable=False),
    Column("start_time", Moment),
    Column("end_time", Moment),
    Column("exit_code", Int64),
    Column("cause", Words),
    Column("detail", Words, nullable=False),
    Column("term", BigInteger, nullable=False, server_default="0"),
    Column("planned", Moment),  # when its reservation begins, if that is later
    PrimaryKeyConstraint("job", "attempt", "component"),
)

events = Table(
    "events",
    metadata,
    Column("id", Int64, primary_key=True, autoincrement=True),
    Column("time", Moment, nullable=False),
    Column("job", Int64, nullable=False),
    Column("attempt", Int64, nullable=False),
    Column("what", Words, nullable=False),
    Column("detail", JSON, nullable=False),
    Index("events_by_job", "job"),
)

scripts = Table(
    "scripts",
    metadata,
    Column("job", Int64, primary_key=True, autoincrement=False),
    Column("user", Words, nullable=False),
    Column("request_id", Words),
    Column("secret", Words, nullable=False),  # of the folders in which its components meet
    Column("script", LargeBinary, nullable=False),
    Column("spec", JSON, nullable=False),
    UniqueConstraint("user", "request_id"),
)

access_tokens = Table(
    "access_tokens",
    metadata,
    Column("id", Words, primary_key=True),
    Column("user", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("scope", Words, nullable=False),
    Column("digest", Words, nullable=False),  # SHA-256 of the whole token, which is kept nowhere
    Column("created", Moment, nullable=False),
    Column("created_by", Words, nullable=False),
    Column("expires", Moment, nullable=False),
    Column("last_used", Moment),
    Column("revoked", Moment),
    Index("access_tokens_by_user", "user"),
)

# What a broker that stands by passes on to the one that leads, until it has read the answer.
requests = Table(
    "requests",
    metadata,
    Column("id", Int64, primary_key=True, autoincrement=True),
    Column("broker", Words, nullable=False),  # who was asked
    Column("kind", Words, nullable=False),
    Column("caller", JSON, nullable=False),
    Column("body", JSON, nullable=False),
    Column("expires", Moment, nullable=False),  # nobody waits for it any more; the database's time
    Column("taken", BigInteger),  # the term of the broker that carries it out
    Column("answered", Boolean, nullable=False, server_default=false()),
    Column("answer", JSON),
)


# Ended jobs whose records were removed, by the files that have them now (`archive`).
archives = Table(
    "archives",
    metadata,
    Column("name", Words, primary_key=True),  # of its files, without their endings
    Column("folder", Words, nullable=False),
    Column("began", Moment, nullable=False),
    Column("latest", Moment, nullable=False),
    Column("jobs", Int64, nullable=False),  # the jobs of which nothing is kept any more: how many,
    Column("first_job", Int64),  # and the lowest and highest of their numbers
    Column("last_job", Int64),
    Column("lines_size", Int64, nullable=False),  # bytes of each file that count
    Column("swf_size", Int64, nullable=False),
)


# Written out, and in one order: an index of a part of a table is used for the very condition that
# it was made with.
_ENDED: list[Any] = [literal_column(f"'{state.value}'") for state in JobState if state in ENDED]


def ended() -> Any:
    """That a job has ended."""
    return jobs.c.state.in_(_ENDED)


def live() -> Any:
    """That a job has not ended (or is in a state that nobody knows)."""
    return jobs.c.state.not_in(_ENDED)


def not_gone(parts: FromClause = components) -> Any:
    """That a component holds something, or that something is still to be done for it."""
    gone: Any = literal_column(f"'{Phase.GONE.value}'")
    none: Any = literal_column(f"'{Step.NONE.value}'")
    return (parts.c.phase != gone) | (parts.c.step != none)


def of_present_attempt() -> Any:
    """That a component is of the attempt that its job is in."""
    c, j = components.c, jobs.c
    under_way = j.state.in_([state.value for state in IN_ATTEMPT])
    return tuple_(c.job, c.attempt).in_(select(j.id, j.attempt).where(live(), under_way))


def of_jobs_in_line() -> Any:
    """That a component has stood in line with one that still does."""
    c, other = components.c, components.alias()
    stands = select(other.c.job, other.c.attempt).join(jobs, jobs.c.id == other.c.job)
    queued = jobs.c.state == JobState.QUEUED.value
    return tuple_(c.job, c.attempt).in_(stands.where(not_gone(other), queued))


def unfinished() -> tuple[Any, ...]:
    """The components that a broker goes on with. Each condition has an index of its own: together
    they would be looked for in all that ended."""
    return not_gone(), of_present_attempt(), of_jobs_in_line()


def _partial(name: str, condition: Any, *columns: Column[Any]) -> Index:
    return Index(name, *columns, sqlite_where=condition, postgresql_where=condition)


# What has not ended is found at once, however many jobs have.
_partial("jobs_live", live(), jobs.c.user, jobs.c.state)
_partial("jobs_ended", ended(), jobs.c.end_time, jobs.c.id, jobs.c.user, jobs.c.state)
_partial("jobs_of_arrays", jobs.c.of.is_not(None), jobs.c.of, jobs.c.task)
_partial("jobs_that_join", jobs.c.joins.is_not(None), jobs.c.joins, jobs.c.id)
_partial("components_not_gone", not_gone(), components.c.cluster)
