"""What a broker that stands by passes on to the one that leads, and what that answers.

The one that was asked writes a row and waits; the one that leads takes it in its term, carries it
out and writes the answer; the one that was asked reads and removes it. A row that a former leader
has taken and not answered is taken again: what it asks for may have been done already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, delete, func, insert, or_, select, update

from .database import Guard, OutcomeUnknown, Part, StoreUnavailable
from .leadership import Clock, database_clock
from .tables import requests

ASKED, ANSWERED = "asked", "answered"
"""The bells that are rung: for the broker that leads, and for all that wait for an answer."""

_MOST = 200  # taken at once
_KEPT = 60.0  # seconds after which a row that nobody waits for is removed
_ALL_ANSWERS = (
    update(requests)
    .where(
        requests.c.id == bindparam("request"),
        requests.c.taken == bindparam("term"),
        requests.c.answered.is_(False),
    )
    # What it held, a script and an environment it may be, is needed no more.
    .values(answered=True, answer=bindparam("told"), body={})
)


@dataclass(frozen=True, slots=True)
class Passed:
    """A request. `again`: a former leader took it, and may have carried it out."""

    id: int
    kind: str
    caller: Mapping[str, Any]
    body: Any
    again: bool


class Requests(Part):
    """The rows."""

    def __init__(
        self, engine: Engine, guard: Guard, instance: str, clock: Clock = database_clock
    ) -> None:
        super().__init__(engine, guard)
        self._instance = instance
        self._clock = clock

    def ask(
        self, broker: str, kind: str, caller: Mapping[str, Any], body: Any, seconds: float
    ) -> int:
        """Ask whoever leads; its number. After so many seconds it is not begun any more.

        Raises:
            OutcomeUnknown: it may be asked, and carried out.
            StoreUnavailable: it is not.
        """
        with self._guard(), self._engine.connect() as connection:
            row = {
                "broker": broker,
                "kind": kind,
                "caller": dict(caller),
                "body": body,
                "expires": self._clock(connection) + seconds,
            }
            made = connection.execute(insert(requests).values(**row).returning(requests.c.id))
            number: int = made.scalar_one()
            self._ring(connection, ASKED)
            try:
                with self._guard():
                    connection.commit()
            except StoreUnavailable as error:
                if self._withdrawn(number):
                    raise
                raise OutcomeUnknown(str(error)) from error
            return number

    def _withdrawn(self, number: int) -> bool:
        """Whether it is certain that what was asked will not be done."""
        try:
            return self.withdraw(number)
        except StoreUnavailable:
            return False

    def withdraw(self, id: int) -> bool:
        """Ask no longer. False: it has been begun, or even answered."""
        c = requests.c
        gone = delete(requests).where(c.id == id, c.taken.is_(None), c.answered.is_(False))
        with self._guard(), self._engine.begin() as connection:
            return connection.execute(gone).rowcount == 1

    def collect(self, ids: Iterable[int]) -> dict[int, Any]:
        """The answers there are to these requests; each can be read once."""
        c = requests.c
        there = delete(requests).where(c.id.in_(list(ids)), c.answered.is_(True))
        with self._guard(), self._engine.begin() as connection:
            rows = connection.execute(there.returning(c.id, c.answer)).all()
            return {row.id: row.answer for row in rows}

    def take(self, term: int) -> list[Passed]:
        """The oldest requests that nobody has taken in this term, to be carried out in it."""
        c = requests.c
        open_ = [c.answered.is_(False), or_(c.taken.is_(None), c.taken < term)]
        with self._guard(), self._engine.begin() as connection:
            now = self._clock(connection)
            query = select(requests).where(*open_, c.expires > now).order_by(c.id).limit(_MOST)
            # One that is withdrawn just now must not be carried out.
            rows = connection.execute(query.with_for_update(skip_locked=True)).all()
            if rows:
                taken = update(requests).where(c.id.in_([row.id for row in rows]))
                connection.execute(taken.values(taken=term))
            return [
                Passed(row.id, row.kind, row.caller, row.body, row.taken is not None)
                for row in rows
            ]

    def answer(self, term: int, answers: Sequence[tuple[int, Any]]) -> None:
        """Answer requests that were taken in this term; those taken in a later one are not ours."""
        rows = [{"request": id, "term": term, "told": told} for id, told in answers]
        with self._guard(), self._engine.begin() as connection:
            connection.execute(_ALL_ANSWERS, rows)
            self._ring(connection, ANSWERED)

    def tidy(self) -> None:
        """Remove what nobody waits for any more, since whoever was asked has gone."""
        with self._guard(), self._engine.begin() as connection:
            old = self._clock(connection) - _KEPT
            connection.execute(delete(requests).where(requests.c.expires < old))

    def channel(self, name: str) -> str:
        """The channel of a notification: one database may have several stores."""
        return f"metabroker_{self._instance}_{name}"

    def _ring(self, connection: Connection, name: str) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_notify(self.channel(name), "")))
