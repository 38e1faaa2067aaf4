"""Who leads, where several brokers share one store: a lease with a fencing number, its term.

No two clocks are compared. Its holder goes by its own clock (`metabroker.broker.lease_term`), and
so does a broker that stands by: it takes over once it has seen the row unchanged for the whole
lease, and only if the row is unchanged at that moment too. So no step of the database's clock makes
a second leader; that clock is for commands, which replace nobody that runs, and for people.

A take-over changes the term, which is a key, so it waits for every transaction that has been let in
under the old one (`Leadership.fence`). A database that loses a take-over (a replica that was behind
is promoted) gives its term once more. So whoever leads is known by its claim too, which each
process makes for itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, Engine, and_, bindparam, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from .database import Guard, Part
from .postgres import SILENCE, hurry, patience
from .tables import leadership

Clock = Callable[[Connection], float]
"""The database's time, in Unix seconds."""

_ONLY = 1
_LEAST = 0.5  # seconds for an answer about a lease, however short that is


class LeaseRow(NamedTuple):
    """The row, as it was read; each renewal changes it. `seconds`: of the lease (0: an older
    metabroker's). `expires`: by the database's clock, in Unix seconds; 0: nobody leads."""

    term: int
    holder: str
    expires: float
    claim: str
    seconds: float
    renewals: int


# Asked by every broker several times in each lease: built once.
_C = leadership.c
_PRESENT = select(*(_C[name] for name in LeaseRow._fields))
_OWN = and_(_C.term == bindparam("of"), _C.claim == bindparam("by"))
_RENEWED = (
    update(leadership).where(_OWN).values(expires=bindparam("until"), renewals=_C.renewals + 1)
)
_MINE = select(_C.term).where(_OWN).with_for_update(read=True, key_share=True)
_TAKEN = update(leadership).where(
    *(_C[name] == bindparam(f"seen_{name}") for name in LeaseRow._fields)
)


class MustRestart(Exception):
    """The broker cannot go on as it is: it must begin anew, from the store."""


class LeadershipLost(MustRestart):
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
        self.claim = secrets.token_hex(8)

    def row(self, seconds: float) -> LeaseRow:
        """As it is now; made if nobody has ever led. Waited for as fits a lease of so long."""
        with self._quickly(seconds) as connection:
            return self._present(connection)

    def take(
        self, holder: str, seconds: float, seen: LeaseRow | None = None, after: int = 0
    ) -> int | None:
        """Lead for so long: the new term, greater than all before. None: somebody else leads.

        `seen`: the row, of which the caller knows by its own clock that nobody leads by it any
        more. Without it the database's clock says so. `after`: a term that there has been, though
        the database may not know it any more.
        """
        with self._quickly(seconds) as connection:
            before = seen or self._present(connection)
            now = self._clock(connection)
            if seen is None and now < before.expires:
                return None
            new = max(before.term, after) + 1
            taken = LeaseRow(new, holder, now + seconds, self.claim, seconds, 0)
            old = {f"seen_{name}": value for name, value in before._asdict().items()}
            done = connection.execute(_TAKEN.values(taken._asdict()), old)
            return taken.term if done.rowcount == 1 else None

    def renew(self, term: int, seconds: float) -> bool:
        """Go on leading for so long from now. False: somebody else leads, or has led.

        A lease that has run out can be renewed as long as nobody has taken it: until then nothing
        was done but by its holder.
        """
        with self._quickly(seconds) as connection:
            until = self._clock(connection) + seconds
            mine = {"of": term, "by": self.claim, "until": until}
            return connection.execute(_RENEWED, mine).rowcount == 1

    def release(self, term: int) -> None:
        """Lead no more: another may at once."""
        with self._guard(), self._engine.begin() as connection:
            mine = {"of": term, "by": self.claim}
            connection.execute(update(leadership).where(_OWN).values(expires=0.0), mine)

    def fence(self, connection: Connection, term: int) -> None:
        """Let a transaction in, if its term is the one of now, and this process's; the next term
        begins after its end.

        Raises:
            LeadershipLost: it is not.
        """
        if connection.execute(_MINE, {"of": term, "by": self.claim}).first() is None:
            raise LeadershipLost(f"term {term} is over: another broker leads")

    def must_be(self, term: int) -> None:
        """The term is the one of now, and this process's.

        Raises:
            LeadershipLost: it is not.
        """
        with self._guard(), self._engine.connect() as connection:
            hurry(connection, SILENCE)
            self.fence(connection, term)

    def leader(self) -> LastLeader | None:
        """Who leads, or did last; None if nobody ever has."""
        with self._guard(), self._engine.connect() as connection:
            row = connection.execute(_PRESENT).first()
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

    @contextmanager
    def _quickly(self, seconds: float) -> Iterator[Connection]:
        """A transaction about a lease of so long. A connection that says nothing is given up while
        there is time to try another one."""
        most = max(_LEAST, seconds / 4)
        with patience(most), self._guard(), self._engine.begin() as connection:
            hurry(connection, most)
            yield connection

    def _present(self, connection: Connection) -> LeaseRow:
        found = connection.execute(_PRESENT).first()
        if found is None:
            self._make(connection)
            found = connection.execute(_PRESENT).one()
        return LeaseRow(*found)

    def _make(self, connection: Connection) -> None:
        dialect = sqlite if self._engine.dialect.name == "sqlite" else postgresql
        first = {"only": _ONLY, "term": 0, "holder": "", "expires": 0.0}
        statement = dialect.insert(leadership).values(**first)
        connection.execute(statement.on_conflict_do_nothing(index_elements=["only"]))
