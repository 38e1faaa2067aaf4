"""Clusters that act for users: whose account is whose there, and for whom the broker may act now.

An account is *unknown* (removed, or its directory service is away), *forbidden* (no rule of sudo's
lets the broker be it), *away* (nobody serves its files), or *unlisted* (`users` of the cluster
names it no more). All of these end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from metabroker.clusters.gate import HOME
from metabroker.runtime.cluster_accounts import ClusterUsers

from .scenario import ClusterPlan

USERS = ("u", "v", "w")
UNKNOWN, FORBIDDEN, AWAY, UNLISTED = "unknown", "forbidden", "away", "unlisted"
TROUBLES = (UNKNOWN, FORBIDDEN, AWAY, UNLISTED)
_REFUSAL = re.compile(
    r"not allowed to run \S+ as (\S+) \(|there is no account (\S+) with a home folder"
)


def account_of(user: str, plan: ClusterPlan) -> str | None:
    """The account of a user in the cluster of a plan; None: all jobs are the broker's own."""
    return {"same": user, "named": f"{user}-{plan.name}"}.get(plan.acts)


def home_of(account: str) -> str:
    """Where its home is."""
    return f"/home/{account}"


def placed(path: str, account: str | None) -> str:
    """A path of the broker's, as it is in the cluster."""
    if account is None or not path.startswith(f"{HOME}/"):
        return path
    return home_of(account) + path.removeprefix(HOME)


def named_in(text: str) -> str | None:
    """The account that a refusal names; None: the text is none of that."""
    found = _REFUSAL.search(text)
    return None if found is None else found[1] or found[2]


class Accounts:
    """Those of one cluster. `table`: of its users; `touched`: who was in trouble here ever."""

    def __init__(self, plan: ClusterPlan, clock: Callable[[], float]) -> None:
        self.acts = bool(plan.acts)
        self.table = {user: account_of(user, plan) or "" for user in USERS if self.acts}
        self.touched: set[str] = set()
        self._clock = clock
        self._troubles: dict[tuple[str, str], tuple[float, float]] = {}  # since when, until
        self._ended: dict[str, float] = {}  # when all that ran as it was ended

    def befalls(self, user: str, trouble: str, until: float, *, ends: bool) -> None:
        """A trouble of a user's ("": of all) begins. `ends`: what runs as the account is ended."""
        for each, account in self.table.items():
            if user not in ("", each):
                continue
            self.touched.add(each)
            since, before = self._troubles.get((account, trouble), (0.0, 0.0))
            since = since if before >= self._clock() else self._clock()
            self._troubles[account, trouble] = since, max(before, until)
            if ends:
                self._ended[account] = self._clock()

    def suffers(self, account: str, trouble: str) -> bool:
        """Whether it is so now."""
        return self._troubles.get((account, trouble), (0.0, 0.0))[1] > self._clock()

    @property
    def troubled_until(self) -> float:
        """When the last of the troubles that have begun is over."""
        return max((until for _, until in self._troubles.values()), default=0.0)

    def since(self, account: str, trouble: str) -> float | None:
        """Since when it is; None: it is not."""
        return self._troubles[account, trouble][0] if self.suffers(account, trouble) else None

    def refusal(self, account: str) -> str | None:
        """What sudo says where it lets nothing run as the account; None: it does."""
        if self.suffers(account, UNKNOWN):
            return f"sudo: unknown user {account}"
        if self.suffers(account, FORBIDDEN):
            return "sudo: a password is required"
        return None

    def ended_since(self, account: str, opened: float) -> bool:
        """Whether what was begun then as the account was ended."""
        return self._ended.get(account, float("-inf")) >= opened

    def users(self, name: str) -> ClusterUsers:
        """Whom the configuration lists now."""
        listed = {u: a for u, a in self.table.items() if not self.suffers(a, UNLISTED)}
        return ClusterUsers(name, listed, near=False)

    def owner_of(self, path: str) -> str | None:
        """The account in whose home a path is."""
        found = re.match("/home/([^/]+)", path)
        return found[1] if found and found[1] in self.table.values() else None


def accounts_of(clusters: Mapping[str, Accounts], user: str) -> dict[str, str]:
    """A user's accounts in the clusters that act for users."""
    return {name: its.table[user] for name, its in clusters.items() if its.acts}
