"""Which account is whose, in each cluster: by the configuration for new jobs, and for old ones by
what was in force when they were submitted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from metabroker import accounts
from metabroker.api.service import Failure, ServiceError
from metabroker.broker import tokens
from metabroker.config import users as configured
from metabroker.config.clusters import RealCluster
from metabroker.config.model import Config
from metabroker.config.users import Table
from metabroker.store.job_queries import JobQueries
from metabroker.submission.model import Caller, Submission

_FIRST_USER, _NOBODY = 1000, 65534  # uids: below the first, and the second, is no person
_MOST_KNOWN = 10_000  # jobs whose account is remembered: it never changes
_MOST_TOLD = 500  # accounts of a table that are always looked at


@dataclass(frozen=True, slots=True)
class ClusterUsers:
    """Who has which account in one cluster that acts for users. `near`: accounts are this host's,
    and it is known who they are."""

    cluster: str
    table: Table
    near: bool

    def account(self, user: str) -> str | None:
        """The account that this user's jobs run under; None: none."""
        return user if self.table == "same" else self.table.get(user)

    def has(self, user: str) -> bool:
        """Whether the user of that name has one, as far as that is known here. Raises
        `ServiceError`."""
        account = self.account(user)
        return account is not None and (not self.near or self._known(account) is not None)

    def given(self, caller: Caller) -> str:
        """The account for this caller.

        Raises:
            ServiceError: there is none, or nobody may act for it.
        """
        if caller.uid == 0:
            raise self._refused("root may not submit", "submit as an ordinary user")
        if self.table == "same" and (caller.uid < _FIRST_USER or caller.uid == _NOBODY):
            advice = (
                "submit as an ordinary user, or ask the administrator to add the account to `users`"
            )
            raise self._refused(f"{caller.user} is a system account", advice)
        account = self.account(caller.user)
        if account is None:
            raise self._refused(
                f"{caller.user} has no account there",
                f"ask the administrator to add {caller.user} to `users` of {self.cluster}, or name "
                "other clusters with --cluster or --on",
            )
        who = self._known(account) if self.near else None
        if self.near and who is None:
            advice = "ask the administrator to correct `users`, or to create the account"
            raise self._refused(f"this host has no account {account}", advice)
        if account == "root" or (who is not None and who.uid == 0):
            advice = "ask the administrator to correct `users`"
            raise self._refused(f"{caller.user} would be root there", advice)
        return account

    def _known(self, account: str) -> accounts.Identity | None:
        try:
            return accounts.identity(account)
        except accounts.NotNow as error:
            why = f"{self.cluster}: the account {account} cannot be looked up now: {error.strerror}"
            raise ServiceError(Failure.UNAVAILABLE, why, "try again later") from error

    def _refused(self, why: str, advice: str) -> ServiceError:
        return ServiceError(Failure.FORBIDDEN, f"{self.cluster}: {why}", advice)


Users = Mapping[str, ClusterUsers]
"""By the names of those clusters that act for users."""


def users_of(config: Config) -> Users:
    """As the configuration has it; its files of users are read."""
    found = {}
    for name, cluster in config.clusters.items():
        if isinstance(cluster, RealCluster) and cluster.run_as != "self":
            table: Table = cluster.users or {}
            if cluster.users_file is not None:
                table = configured.read(cluster.users_file)
            found[name] = ClusterUsers(name, table, near=cluster.via == "local")
    return found


def wanted(submission: Submission, clusters: Sequence[str]) -> list[str]:
    """The clusters that the job could be put on: those that it names, or any."""
    processors = submission.processors
    if processors.cluster is not None:
        return [processors.cluster]
    if processors.on is not None:
        return list(dict.fromkeys(name for name, _processors in processors.on))
    return list(clusters)


class OwnersOfStore:
    """`clusters.owners.Owners` of one cluster: what the store knows of jobs that were submitted,
    and whom the configuration names."""

    def __init__(
        self,
        jobs: JobQueries,
        instance: str,
        cluster: str,
        own: str,
        table: Table,
        *,
        before: Iterable[str] = (),
    ) -> None:
        """`before`: accounts that may have jobs there of a time that nobody remembers."""
        self._jobs = jobs
        self._instance = instance
        self._cluster = cluster
        self._own = own
        named = list(dict.fromkeys([*([] if table == "same" else table.values()), *sorted(before)]))
        self._named = named[:_MOST_TOLD]
        self._known: dict[int, str] = {}

    def of(self, token: str) -> str | None:
        """The account of this token's job; our own for a job that was submitted under `self`."""
        ref = tokens.parse(self._instance, token)
        if ref is None:
            return None
        found = self._known.get(ref.job)
        if found is None:
            try:
                found = self._jobs.target(ref.job, self._cluster).account or self._own
            except KeyError:
                return None
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[ref.job] = found
        return found

    def accounts(self) -> Sequence[str]:
        """All accounts that may have jobs now."""
        live = self._jobs.live_accounts(self._cluster)
        return list(dict.fromkeys([self._own, *sorted(live), *self._named]))


def root_is_asked_for(config: Config) -> bool:
    """Whether the daemon may be root."""
    return config.allow_root or _needs_root(config)


def trouble_with_root(config: Config) -> str | None:
    """Why the daemon must not run as whom it does, and what to do; None: it may."""
    if os.geteuid() == 0 and not root_is_asked_for(config):
        return (
            "the daemon runs as root, which no cluster needs; run it under its own account, "
            "or write `allow_root: true` into the configuration"
        )
    if os.geteuid() != 0 and _needs_root(config):
        return (
            "`run_as: root-uid` needs a daemon that is root; start it as root, or use `run_as: "
            "sudo`"
        )
    return None


def _needs_root(config: Config) -> bool:
    return any(cluster.run_as == "root-uid" for cluster in config.clusters.values())
