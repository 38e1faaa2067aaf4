"""What the store remembers of its returns from backups (`metabroker.broker.after_restore`)."""

from __future__ import annotations

import json
from dataclasses import asdict

from sqlalchemy import delete, func, insert, select

from metabroker.broker.after_restore import History, Restored
from metabroker.broker.tokens import term_of

from .database import Part
from .tables import components, events, facts

_FACT = "restored"


class RestorationLog(Part):
    """One fact."""

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
        return term_of(self._column(select(func.max(components.c.term)))[0] or 0)

    def last_event(self) -> float | None:
        """When the last happened that the store knows of."""
        found: float | None = self._column(select(func.max(events.c.time)))[0]
        return found

    def _all(self) -> list[Restored]:
        found = self._column(select(facts.c.value).where(facts.c.name == _FACT))
        return [_restored(each) for value in found for each in json.loads(value)]


def _restored(found: dict[str, object]) -> Restored:
    attempts, siblings = found.pop("attempts"), found.pop("siblings", {})
    by_job = {"attempts": _by_number(attempts), "siblings": _by_number(siblings)}
    return Restored(**found, **by_job)  # type: ignore[arg-type]


def _by_number(found: object) -> dict[int, int]:
    assert isinstance(found, dict)
    return {int(job): int(number) for job, number in found.items()}
