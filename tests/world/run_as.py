"""A broker's way to a cluster that acts for users: the daemon's own `RunAsTransport`, by sudo, over
a host that knows accounts or not. Only the servers of users' files are played here: each is opened
when it is needed, and goes on for as long as it is used, whatever has become of its account."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from metabroker.clusters.transports.base import (
    Command,
    CommandLost,
    Completed,
    Files,
    NotAllowed,
    Transport,
    Unreached,
)
from metabroker.clusters.transports.fenced import permitted
from metabroker.clusters.transports.run_as import (
    SFTP_SERVER,
    RunAsTransport,
    _explained,
    by_sudo,
)

from . import virtual
from .account_rules import submitted_in_time, under_its_account
from .accounts import AWAY, UNKNOWN, home_of
from .cluster import WorldCluster
from .network import COMMAND_TIMEOUT
from .oracle import Violation
from .transport import WorldFiles, WorldTransport

if TYPE_CHECKING:
    from .host import Host

_IDLE = 60.0  # seconds after which an unused server is ended
_REST = 30.0  # seconds for which one that did not answer is left alone


def transport(host: Host, cluster: WorldCluster) -> Transport:
    """The way from a broker's host to a cluster."""
    way: Transport = WorldTransport(host, cluster)
    if cluster.accounts.acts:
        way = WorldRunAs(host, cluster)
    return way if host.lease is None else permitted(way, host.lease.permit)


class WorldRunAs(RunAsTransport):
    """See `RunAsTransport`."""

    def __init__(self, host: Host, cluster: WorldCluster) -> None:
        super().__init__(cast(Any, _SudoHost(host, cluster)), by_sudo)
        self._way_there = host, cluster
        self._served: dict[str, Files] = {}

    def files_of(self, account: str) -> Any:
        """See `RunAs.files_of`."""
        if account not in self._served:
            self._served[account] = _as_account(*self._way_there, account)
        return self._served[account]


class _SudoHost(WorldTransport):
    """The host on which a cluster's commands run."""

    def __init__(self, host: Host, cluster: WorldCluster) -> None:
        super().__init__(host, cluster)
        self.files = _as_account(host, cluster, None)

    def run(self, command: Command) -> Completed:
        """See `Transport.run`."""
        accounts = self._cluster.accounts
        if command.argv[0] == "getent":
            self._reached()
            account = command.argv[2]
            if accounts.suffers(account, UNKNOWN):
                return Completed(2, "", "")
            return Completed(0, f"{account}:x:1001:1001::{home_of(account)}:/bin/sh\n", "")
        if command.argv[0] == "sudo":
            account, argv = command.argv[3], command.argv[5:]
            command = replace(command, argv=argv, account=account)
            refusal = accounts.refusal(account)
            if refusal is not None:
                self._reached()
                self._host.world.tally.add(f"refused as an account: {argv[0]}")
                return Completed(1, "", f"{refusal}\n")
        under_its_account(self._host.world, self._cluster, command)
        submitted_in_time(self._host.world, self._cluster, command)
        return super().run(command)

    def _reached(self) -> None:
        """The host is asked something that is no matter of its cluster's."""
        virtual.check()
        virtual.sleep(self._host.rng.uniform(0.002, 0.05))
        name = self._cluster.plan.name
        if self._host.world.network.host_is_away(self._cluster):
            raise Unreached(f"{name}: no route to host")
        if self._cluster.files.fate() != "well":
            virtual.sleep(COMMAND_TIMEOUT)
            raise CommandLost(f"{name}: no answer")


def _as_account(host: Host, cluster: WorldCluster, account: str | None) -> Files:
    return cast(Files, _AccountFiles(host, cluster, account))


class _AccountFiles:
    """A cluster's files as an account sees them, by a server of its own; None: as the account that
    commands run under does."""

    def __init__(self, host: Host, cluster: WorldCluster, account: str | None) -> None:
        self._host = host
        self._cluster = cluster
        self._account = account
        self._inner = WorldFiles(host, cluster)
        self._opened: float | None = None
        self._used = self._tired = 0.0

    def bulk_read(self, *_asked: Any) -> _AccountFiles:
        """See `Files`."""
        return self

    def __getattr__(self, name: str) -> Callable[..., Any]:
        step = getattr(self._inner, name)

        def as_account(path: str, *words: Any, **named: Any) -> Any:
            owner = self._cluster.accounts.owner_of(path)
            if owner != self._account:
                raise Violation(f"{name} in the home of {owner} as {self._account}")
            if self._account is not None and not self._serves(self._account):
                if self._host.rng.random() < 0.5:
                    step(path, *words, **named)
                virtual.sleep(COMMAND_TIMEOUT)
                raise CommandLost(f"no answer within {COMMAND_TIMEOUT:g} s")
            done = step(path, *words, **named)
            return _of_whole_seconds(done) if name == "list" else done

        return as_account

    def _serves(self, account: str) -> bool:
        """Whether a server answers now.

        Raises:
            NotAllowed, Unreached: there is none.
        """
        virtual.check()
        world, accounts = self._host.world, self._cluster.accounts
        if world.now < self._tired:
            raise Unreached("not done: the last one was not answered")
        opened, idle = self._opened, world.now - self._used > _IDLE
        if opened is not None and (idle or accounts.ended_since(account, opened)):
            opened = None
        self._used = world.now
        if opened is None:
            self._opened = None
            self._open(account)
            self._opened = world.now
        if accounts.suffers(account, AWAY):
            self._opened, self._tired = None, world.now + _REST
            world.tally.add("files of an account did not answer")
            return False
        return True

    def _open(self, account: str) -> None:
        world, accounts = self._host.world, self._cluster.accounts
        refusal = accounts.refusal(account)
        if refusal is not None:
            virtual.sleep(self._host.rng.uniform(0.002, 0.05))
            world.tally.add("refused as an account: files")
            raise NotAllowed(_explained(account, SFTP_SERVER, refusal))
        if accounts.suffers(account, AWAY):
            self._tired = world.now + COMMAND_TIMEOUT + _REST
            virtual.sleep(COMMAND_TIMEOUT)
            raise Unreached(f"no SFTP server runs as {account}: ; see `sftp_server`")


def _of_whole_seconds(listed: Any) -> Any:
    """As SFTP tells times."""
    if listed is None:
        return None
    return [replace(entry, modified=float(int(entry.modified))) for entry in listed]
