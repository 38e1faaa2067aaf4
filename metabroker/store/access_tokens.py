"""The rows of access tokens. Written by whoever makes or revokes one, beside the core's writer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Select, delete, func, insert, or_, select, update

from metabroker.access.secret import Scope

from .database import Part
from .tables import access_tokens

_AT_ONCE = 500  # rows that are named in one statement


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


class TokenTable(Part):
    """The table."""

    def all(self) -> list[TokenRow]:
        """Every token, the oldest first."""
        c = access_tokens.c
        return self._tokens(select(access_tokens).order_by(c.created, c.id))

    def one(self, id: str) -> TokenRow | None:
        """The token of that id."""
        found = self._tokens(select(access_tokens).where(access_tokens.c.id == id))
        return found[0] if found else None

    def add(self, row: TokenRow) -> None:
        """Keep a new token."""
        self._change(insert(access_tokens).values(**asdict(row) | {"scope": row.scope.value}))

    def revoke(self, id: str, now: float) -> None:
        """It is good for nothing from now on."""
        self._change(update(access_tokens).where(access_tokens.c.id == id).values(revoked=now))

    def used(self, id: str, now: float) -> None:
        """It was used just now."""
        self._change(update(access_tokens).where(access_tokens.c.id == id).values(last_used=now))

    def forget(self, before: float) -> None:
        """Remove those that have not been good for anything since `before`."""
        c = access_tokens.c
        old = or_(c.expires < before, func.coalesce(c.revoked, before) < before)
        self._change(delete(access_tokens).where(old))

    def remove(self, ids: Sequence[str]) -> None:
        """Remove these."""
        with self._guard(), self._engine.begin() as connection:
            for first in range(0, len(ids), _AT_ONCE):
                some = ids[first : first + _AT_ONCE]
                connection.execute(delete(access_tokens).where(access_tokens.c.id.in_(some)))

    def _tokens(self, query: Select[Any]) -> list[TokenRow]:
        return [TokenRow(**row | {"scope": Scope(row["scope"])}) for row in self._rows(query)]
