"""The last transaction that was written, by its id: so that each is written once, and after the one
before it.

There is one writer, which writes a transaction again until it succeeds. So to know the last one is
enough to write none twice. And where the last one is not the one that this writer wrote before, the
database has lost what it had confirmed: a replica that was behind was promoted, or a file was put
back. What the writer remembers is then not what the store says, and must not be written over it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite

from . import tables
from .leadership import MustRestart

_NAME = "batch"
_C = tables.facts.c
_FOLLOWS = (
    update(tables.facts)
    .where(_C.name == _NAME, _C.value == bindparam("before"))
    .values(value=bindparam("id"))
)
_LAST = select(_C.value).where(_C.name == _NAME)
_LOST = (
    "the store has lost what was written into it, as where a replica takes over that was behind: "
    "this broker begins anew from what is there"
)


class CommitsLost(MustRestart):
    """The database is older than what this process has written into it."""


def _noted(dialect: Any) -> Any:
    statement = dialect.insert(tables.facts)
    value = statement.excluded.value
    return statement.on_conflict_do_update(
        index_elements=["name"], set_={"value": value}, where=_C.value != value
    ).execution_options(preserve_rowcount=True)


_FIRST = {"sqlite": _noted(sqlite), "postgresql": _noted(postgresql)}


class Batches:
    """`before`: what this process has written last, as far as it was told; None: nothing yet."""

    def __init__(self) -> None:
        self.before: str | None = None

    def is_new(self, connection: Connection, batch: str) -> bool:
        """Note this batch as the last one; False: it was that already. A transaction that the
        database has not ended yet is waited for: it holds the row.

        Raises:
            CommitsLost: the last one is neither this one nor the one before it.
        """
        if self.before is None:
            first = _FIRST[connection.dialect.name]
            return connection.execute(first, {"name": _NAME, "value": batch}).rowcount == 1
        if self.before == batch:
            return False
        follows = connection.execute(_FOLLOWS, {"before": self.before, "id": batch})
        if follows.rowcount == 1:
            return True
        if connection.execute(_LAST).scalar() == batch:
            return False
        raise CommitsLost(_LOST)

    def confirm(self, connection: Connection) -> None:
        """What this process has written last is there. For the writer, between two transactions.

        Raises:
            CommitsLost: it is not.
        """
        if self.before is not None and connection.execute(_LAST).scalar() != self.before:
            raise CommitsLost(_LOST)
