"""Who leads, where several brokers share one store: a lease with a fencing number, its term.

The database's own clock says when a lease has run out. Its holder goes by a clock of its own and by
what it was told before (`metabroker.broker.lease_term`). A take-over changes the term, which is a
key, so it waits for every transaction that has been let in under the old one (`fence`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, bindparam, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from .database import Guard, Part
from .postgres import patience
from .tables import leadership

Clock = Callable[[Connection], float]
"""The database's time, in Unix seconds."""

_ONLY = 1
_LEAST = 0.5  # seconds for an answer about a lease, however short that is
# Asked by every broker several times in each lease: built once.
_EXPIRES = select(leadership.c.expires)
_LOCKED = select(leadership).with_for_update()
_RENEWED = (
    update(leadership)
    .where(leadership.c.term == bindparam("of"))
    .values(expires=bindparam("until"))
)
_MINE = (
    select(leadership.c.term)
    .where(leadership.c.term == bindparam("of"))
    .with_for_update(read=True, key_share=True)
)


class LeadershipLost(Exception):
    """Another broker leads now: nothing may be written, nor done, in the name of the old term."""


@dataclass(frozen=True, slots=True)
class LastLeader:
    """Who led last. `seconds`: for how long the lease is good yet; none are left if it is not."""

    term: int
    holder: str
    seconds: float


def database_clock(connection: Connection) -> float:
    """What time it is where the rows are."""
    told = connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one()
    return float(told)


class Leadership(Part):
    """The row."""

    def __init__(self, engine: Engine, guard: Guard, clock: Clock = database_clock) -> None:
        super().__init__(engine, guard)
        self._clock = clock

    def take(self, holder: str, seconds: float) -> int | None:
        """Lead for so long: the new term, greater than all before. None: somebody else leads."""
        c = leadership.c
        with _quickly(seconds), self._guard(), self._engine.begin() as connection:
            expires = connection.execute(_EXPIRES).scalar()
            if expires is not None and self._clock(connection) < expires:
                return None  # and the row was locked for nobody
            self._make(connection)
            row = connection.execute(_LOCKED).one()
            now = self._clock(connection)
            if now < row.expires:
                return None
            term: int = row.term + 1
            taken = {"term": term, "holder": holder, "expires": now + seconds}
            connection.execute(update(leadership).where(c.only == _ONLY).values(**taken))
            return term

    def renew(self, term: int, seconds: float) -> bool:
        """Go on leading for so long from now. False: somebody else leads, or has led.

        A lease that has run out can be renewed as long as nobody has taken it: until then nothing
        was done but by its holder.
        """
        with _quickly(seconds), self._guard(), self._engine.begin() as connection:
            until = self._clock(connection) + seconds
            return connection.execute(_RENEWED, {"of": term, "until": until}).rowcount == 1

    def release(self, term: int) -> None:
        """Lead no more: another may at once."""
        with self._guard(), self._engine.begin() as connection:
            connection.execute(_RENEWED, {"of": term, "until": 0.0})

    def leader(self) -> LastLeader | None:
        """Who leads, or did last; None if nobody ever has."""
        with self._guard(), self._engine.connect() as connection:
            row = connection.execute(select(leadership)).first()
            if row is None or not row.holder:
                return None
            return LastLeader(row.term, row.holder, max(0.0, row.expires - self._clock(connection)))

    def now(self) -> float:
        """What time it is by the database's clock, in Unix seconds."""
        with self._guard(), self._engine.connect() as connection:
            return self._clock(connection)

    def term(self) -> int:
        """The term of now; 0 where there never was but one broker, and no backup came back."""
        found: list[int] = self._column(select(leadership.c.term))
        return found[0] if found else 0

    def raise_to(self, term: int) -> None:
        """Let the next term be greater than `term`, or be `term` where nobody takes the lead."""
        with self._guard(), self._engine.begin() as connection:
            self._make(connection)
            connection.execute(update(leadership).values(term=term, expires=0.0))

    def _make(self, connection: Connection) -> None:
        dialect = sqlite if self._engine.dialect.name == "sqlite" else postgresql
        first = {"only": _ONLY, "term": 0, "holder": "", "expires": 0.0}
        statement = dialect.insert(leadership).values(**first)
        connection.execute(statement.on_conflict_do_nothing(index_elements=["only"]))


def _quickly(seconds: float) -> AbstractContextManager[None]:
    """A connection that says nothing is given up while there is time to try another one."""
    return patience(max(_LEAST, seconds / 4))


def fence(connection: Connection, term: int) -> None:
    """Let a transaction in, if its term is the one of now; the next term begins after its end.

    Raises:
        LeadershipLost: it is not.
    """
    if connection.execute(_MINE, {"of": term}).first() is None:
        raise LeadershipLost(f"term {term} is over: another broker leads")
