"""Whose a cluster's job is, where the broker acts for users.

Names of jobs are no proof: any user may give a job any name. So a job counts as the broker's only
if the account that the job was submitted for has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Owners(Protocol):
    """What the broker knows of the accounts in one cluster."""

    def of(self, token: str) -> str | None:
        """The account of this token's job; None: the broker has no such job."""

    def accounts(self) -> Sequence[str]:
        """All accounts that may have jobs of the broker's now, at least one."""


class Verified:
    """Jobs that bear tokens, held against their owners.

    A token of no known job is an orphan of the account that has it: it is removed as that account,
    and so can hurt nobody else.
    """

    def __init__(self, owners: Owners) -> None:
        self.owners = owners
        self._strays: dict[str, str] = {}

    def seen(self, jobs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Those of these pairs of token and account that are the broker's."""
        found: set[tuple[str, str]] = set()
        strays: dict[str, str] = {}
        for token, account in jobs:
            owner = self.owners.of(token)
            if owner is None:
                strays.setdefault(token, account)
            if owner in (None, account):
                found.add((token, account))
        self._strays = strays
        return found

    def stray(self, token: str) -> str | None:
        """The account that had a job of this token, of which the broker knows nothing."""
        return self._strays.get(token)
