"""All that a store holds, written into another database, which is empty: at once, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, Table, delete, func, insert, select, text, update

from metabroker.broker.tokens import term_of

from .leadership import Leadership
from .postgres import unhurried
from .tables import (
    access_tokens,
    components,
    events,
    facts,
    jobs,
    leadership,
    metadata,
    requests,
    scripts,
)

TABLES = [table for table in metadata.sorted_tables if table not in (leadership, requests)]
"""What is moved: a lease is for now, and requests are between brokers that run."""

_WORK = (jobs, components, scripts, events, access_tokens)
_AT_ONCE = 1000  # rows

Told = Callable[[int, int], None]
"""How many rows have been written by now, and how many there are."""


class NotEmpty(Exception):
    """There are jobs, or tokens, where a store was to be moved to: it was left as it is."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a store has come: two of one broker that are equal in this hold the same."""

    instance: str
    jobs: int
    last_event: int


def extent(connection: Connection) -> Extent:
    """Of the store that this is a connection of."""
    instance = connection.execute(select(facts.c.value).where(facts.c.name == "instance"))
    counted = connection.execute(select(func.count()).select_from(jobs))
    last = connection.execute(select(func.coalesce(func.max(events.c.id), 0)))
    return Extent(instance.scalar_one(), counted.scalar_one(), last.scalar_one())


def move(
    source: Connection, target: Connection, lead: Leadership, term: int, told: Told
) -> Mapping[str, int]:
    """Write everything into a PostgreSQL database, in the term of whoever leads there, in one
    transaction, which is for the caller to end; then nobody leads. The rows by table.

    Raises:
        NotEmpty: something exists already.
        LeadershipLost: another broker leads there.
    """
    with unhurried(target):
        lead.fence(target, term)
        if any(target.execute(select(table).limit(1)).first() is not None for table in _WORK):
            raise NotEmpty
        counts = {table.name: _count(source, table) for table in TABLES}
        written = 0
        for table in TABLES:
            target.execute(delete(table))  # what an empty store says of itself
            for rows in _rows(source, table):
                target.execute(insert(table), rows)
                written += len(rows)
                told(written, sum(counts.values()))
        _go_on_counting(target)
        _lead_no_more(source, target, term)
    return counts


def _count(connection: Connection, table: Table) -> int:
    found: int = connection.execute(select(func.count()).select_from(table)).scalar_one()
    return found


def _rows(source: Connection, table: Table) -> Iterator[list[dict[str, object]]]:
    ordered = select(table).order_by(*table.primary_key)
    found = source.execution_options(yield_per=_AT_ONCE).execute(ordered)
    for some in found.mappings().partitions():
        yield [dict(row) for row in some]


def _go_on_counting(target: Connection) -> None:
    """New events are numbered after those that were brought."""
    target.execute(
        text(
            "select setval(pg_get_serial_sequence('events', 'id'), "
            "(select coalesce(max(id), 0) + 1 from events), false)"
        )
    )


def _lead_no_more(source: Connection, target: Connection, term: int) -> None:
    """Terms go on rising: above those of both, and above all that an attempt was begun in."""
    known = [term, source.execute(select(leadership.c.term)).scalar() or 0]
    known.append(term_of(source.execute(select(func.max(components.c.term))).scalar() or 0))
    target.execute(update(leadership).values(term=max(known), holder="", expires=0.0))
