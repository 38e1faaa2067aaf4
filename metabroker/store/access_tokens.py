"""The rows of access tokens. Written by whoever makes or revokes one, beside the core's writer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass

from sqlalchemy import Engine, delete, func, insert, or_, select, update

from metabroker.access.secret import Scope

from .tables import access_tokens


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One token, without its secret. Times in Unix seconds."""

    id: str
    user: str
    name: str
    scope: Scope
    digest: str
    created: float
    created_by: str
    expires: float
    last_used: float | None = None
    revoked: float | None = None

    def live(self, now: float) -> bool:
        """Whether it is still good."""
        return self.revoked is None and now < self.expires


class TokenTable:
    """The table. Every call may raise StoreUnavailable."""

    def __init__(self, engine: Engine, guard: Callable[[], AbstractContextManager[None]]) -> None:
        self._engine = engine
        self._guard = guard

    def all(self) -> list[TokenRow]:
        """Every token, the oldest first."""
        c = access_tokens.c
        with self._guard(), self._engine.connect() as connection:
            rows = connection.execute(select(access_tokens).order_by(c.created, c.id)).mappings()
            return [TokenRow(**{**row, "scope": Scope(row["scope"])}) for row in rows]

    def one(self, id: str) -> TokenRow | None:
        """The token of that id."""
        query = select(access_tokens).where(access_tokens.c.id == id)
        with self._guard(), self._engine.connect() as connection:
            row = connection.execute(query).mappings().first()
            return None if row is None else TokenRow(**{**row, "scope": Scope(row["scope"])})

    def add(self, row: TokenRow) -> None:
        """Keep a new token."""
        values = {**asdict(row), "scope": row.scope.value}
        with self._guard(), self._engine.begin() as connection:
            connection.execute(insert(access_tokens).values(**values))

    def revoke(self, id: str, now: float) -> None:
        """It is good for nothing from now on."""
        c = access_tokens.c
        change = update(access_tokens).where(c.id == id).values(revoked=now)
        with self._guard(), self._engine.begin() as connection:
            connection.execute(change)

    def used(self, id: str, now: float) -> None:
        """It was used just now."""
        c = access_tokens.c
        change = update(access_tokens).where(c.id == id).values(last_used=now)
        with self._guard(), self._engine.begin() as connection:
            connection.execute(change)

    def forget(self, before: float) -> None:
        """Remove those that have not been good for anything since `before`."""
        c = access_tokens.c
        gone = delete(access_tokens).where(
            or_(c.expires < before, func.coalesce(c.revoked, before) < before)
        )
        with self._guard(), self._engine.begin() as connection:
            connection.execute(gone)
