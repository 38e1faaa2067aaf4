"""What the store remembers of its returns from backups (`metabroker.broker.after_restore`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict

from sqlalchemy import Engine, delete, func, insert, select

from metabroker.broker.after_restore import History, Restored

from .tables import components, events, facts

_FACT = "restored"


class RestorationLog:
    """One fact. Every call may raise StoreUnavailable."""

    def __init__(self, engine: Engine, guard: Callable[[], AbstractContextManager[None]]) -> None:
        self._engine = engine
        self._guard = guard

    def history(self) -> History:
        """All of them."""
        return History(self._all())

    def add(self, restored: Restored) -> None:
        """One more."""
        value = json.dumps([asdict(each) for each in (*self._all(), restored)])
        with self._guard(), self._engine.begin() as connection:
            connection.execute(delete(facts).where(facts.c.name == _FACT))
            connection.execute(insert(facts).values(name=_FACT, value=value))

    def last_term(self) -> int:
        """The highest term in which an attempt was begun."""
        with self._guard(), self._engine.connect() as connection:
            return connection.execute(select(func.max(components.c.term))).scalar() or 0

    def last_event(self) -> float | None:
        """When the last happened that the store knows of."""
        with self._guard(), self._engine.connect() as connection:
            found: float | None = connection.execute(select(func.max(events.c.time))).scalar()
            return found

    def _all(self) -> list[Restored]:
        with self._guard(), self._engine.connect() as connection:
            query = select(facts.c.value).where(facts.c.name == _FACT)
            found = connection.execute(query).scalar()
        return [] if found is None else [_restored(each) for each in json.loads(found)]


def _restored(found: dict[str, object]) -> Restored:
    attempts = found.pop("attempts")
    assert isinstance(attempts, dict)
    by_number = {int(job): int(attempt) for job, attempt in attempts.items()}
    return Restored(**found, attempts=by_number)  # type: ignore[arg-type]
