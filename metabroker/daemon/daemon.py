"""The daemon put together: what every broker has, and the lead of those that share its store."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector

from metabroker.access import audit
from metabroker.access.audit import AuditError, AuditLog
from metabroker.access.tls import TlsError
from metabroker.api.middleware import Middleware
from metabroker.api.server import ApiServer
from metabroker.broker.lease_term import LeaseTerm
from metabroker.config.clusters import words_of
from metabroker.config.model import Config
from metabroker.config.values import Address
from metabroker.daemon.sharing.reexec import reexec
from metabroker.daemon.sharing.rpc_client import RpcClient
from metabroker.metrics import Exporter, Meters, OfBroker, StandbyExporter
from metabroker.runtime.clock import Clock
from metabroker.runtime.cluster_accounts import Users, users_of
from metabroker.runtime.executor import Hook, no_hook
from metabroker.service.access_tokens import AccessTokens
from metabroker.service.asked_options import AskedOptions
from metabroker.service.authorization import Authorization
from metabroker.service.status import ALONE
from metabroker.store import LeadershipLost, MustRestart, Store, StoreUnavailable
from metabroker.store.read_only import may_lose_commits
from metabroker.store.requests import ANSWERED
from metabroker.submission.native.asked import ClusterWords

from . import build, retention
from .http_server import HttpServer
from .leader import Leader, LeaderContext
from .lock_file import LockFile
from .offline import twins
from .shared_account import OFFLINE, shares_nothing, warn_of_submitters
from .sharing.lease import Campaign, Lease
from .sharing.standby import CurrentService, StandbyService

log = logging.getLogger(__name__)

_HANGS = 60.0  # seconds without a sign of life from the core

LIVE = frozenset(
    {
        "admins",
        "submitters",
        "submitters_share_everything",
        "homes",
        "drop_options",
        "default_time",
        "max_time",
        "limits",
        "rates",
    }
)
"""The keys of the configuration that are taken over while the daemon runs."""


class Daemon:
    """One broker. It leads, or stands by until it can.

    Raises (when made or started):
        StoreUnavailable: the store cannot be opened.
        AuditError: the audit log cannot be opened.
        SocketError: another daemon serves the socket.
        TlsError: certificate or key cannot be used.
    """

    def __init__(
        self,
        config: Config,
        *,
        offline: bool = False,
        hook: Hook = no_hook,
        anew: Callable[[], None] = reexec,
    ) -> None:
        """`anew` is called where another broker leads in place of this one, and returns
        only if this one ends anyway.

        Raises:
            ConfigRefusal: offline it would give users more than the configuration says.
        """
        if offline:
            config = twins(config)
            shares_nothing(config, "where scripts run on this host, offline", OFFLINE)
        self._config = config
        self._offline = offline
        self._hook = hook
        self._anew = anew
        self._users = users_of(config)
        self._words = _words_of(config)
        self._homes = build.homes(config)
        self.name = f"{socket.gethostname()} {config.socket}"
        self._lock = LockFile(config.store)
        self.store = Store(config.store)
        self.clock = Clock(self.store.leadership.now() if self.store.shared else None)
        self._changing = threading.Lock()
        self._taken_up: Leader | None = None  # perhaps not started yet
        self.leader: Leader | None = None
        self._lease: Lease | None = None
        self._client = RpcClient(self.store.requests, self.store.listener(ANSWERED), self.name)
        self._standby = StandbyService(
            self.store, self._client, self.clock, self._own(), config.lease
        )
        self._candidate = Campaign(self.store.leadership, self.name, config.lease, self._take_up)
        self._service = CurrentService(self._standby)
        self._registry = CollectorRegistry()
        self._of_broker = OfBroker(self._registry)
        self._exporter = StandbyExporter(self._standby.own_status)
        self._registry.register(self._exporter)
        self._audit = AuditLog(
            config.audit_file, self.clock, largest=(config.audit_size << 20) // (audit.KEPT + 1)
        )
        self._middleware = self._make_middleware()
        self._api = ApiServer(
            self._service, config.socket, middleware=self._middleware, listen=build.listen(config)
        )
        ProcessCollector(registry=self._registry)
        self._http = HttpServer(config, self._service, self._registry, self)

    def _make_middleware(self) -> Middleware:
        return Middleware(
            tokens=AccessTokens(
                self.store.access_tokens,
                self.clock,
                lambda caller: self._rules().administers(caller),
                shared=self.store.shared,
            ),
            audit=self._audit,
            rates=build.rates(self._config),
            refused=lambda why: self._of_broker.refused.labels(why).inc(),
            admits=lambda caller, action: self._rules().admits(caller, action),
        )

    def start(self) -> None:
        """Take the lead if it can be had, else stand by; then let users in."""
        lease_term = self._candidate.ask() if self.store.shared else None
        if lease_term is not None or not self.store.shared:
            self._lead(lease_term)
        else:
            retention.settle(self._config, self.store)
            self._client.start()
            self._standby.start()
        warn_of_submitters(self._config)
        for trouble in may_lose_commits(self._config.store):
            log.warning("the store: %s", trouble)
        if trouble := self.clock.trouble:
            log.warning("%s", trouble)
        self._http.start()
        self._api.start()
        log.info("serving at %s: %s", self._where, self.summary)
        if self.leader is None:
            self._candidate.start()

    def _lead(self, lease_term: LeaseTerm | None) -> None:
        """Be the leader; for a lease term, where another broker might lead."""
        with self._changing:
            if lease_term is not None:
                self.store.confirm()
                self.store.term = lease_term.term
                self._lease = Lease(self.store.leadership, lease_term, self._lost)
                self._lease.start()
            self._taken_up = leader = Leader(self._given(lease_term))
            leader.start()
            self.leader = leader
            self._service.service = leader.service
            self._registry.unregister(self._exporter)
            status = leader.service.status
            self._registry.register(Exporter(status.daemon, status.clusters, status.links))
            self._of_broker.leads(0 if lease_term is None else lease_term.term)

    def _given(self, lease_term: LeaseTerm | None) -> LeaderContext:
        part = ALONE
        if lease_term is not None:
            part = {**ALONE, "leader": self.name, "term": lease_term.term}
        return LeaderContext(
            config=self._config,
            store=self.store,
            clock=self.clock,
            users=self._users_now,
            homes=self._homes,
            rules=self._rules(),
            meters=Meters(self._registry),
            hook=self._hook,
            part=part,
            permit=None if self._lease is None else self._lease.permit,
        )

    def _take_up(self, lease_term: LeaseTerm) -> None:
        """The lease is ours: become the leader, or restart if that fails in the middle."""
        try:
            self._lead(lease_term)
        except (LeadershipLost, StoreUnavailable) as error:
            log.warning("cannot become the leader: %s", error)
            self._anew()
        except Exception:
            log.exception("cannot become the leader")
            self._anew()
        else:
            log.warning("this broker is the leader now, term %d: %s", lease_term.term, self.summary)

    def _lost(self) -> None:
        log.warning("another broker has become the leader: this one restarts as a stand-by")
        self._anew()

    @property
    def replaced(self) -> bool:
        """Whether it must begin anew: another broker leads, or had better (the core hangs), or
        clusters have other names."""
        leader = self.leader
        if leader is None:
            return False
        hangs = self._lease is not None and leader.loop.alive and leader.loop.silent > _HANGS
        return hangs or isinstance(leader.loop.died, MustRestart)

    @property
    def _where(self) -> str:
        listen = self._config.listen
        if listen is None:
            return str(self._config.socket)
        return (
            f"{self._config.socket} and https://{Address(listen.address.host, self._api.port or 0)}"
        )

    @property
    def summary(self) -> str:
        """One line on what is served."""
        if self.leader is None:
            return "this broker is a stand-by: another one leads"
        names = ", ".join(executor.name for executor in self.leader.executors)
        return f"policy {self._config.policy} over {names}"

    def answers(self, seconds: float = 10.0) -> bool:
        """Whether the API and the core answer in time: neither hangs or has died."""
        if not self._api.answers(seconds):
            return False
        if self.leader is None:
            return self._client.alive
        try:
            self.leader.loop.ask(lambda: None, seconds)
        except TimeoutError:
            return False
        return True

    def reopen(self) -> None:
        """Go on in a new audit log where the old one was moved away, and by a new certificate."""
        for again in (self._audit.reopen, self._api.reload_certificate):
            try:
                again()
            except (AuditError, TlsError) as error:
                log.error("%s", error)

    def reconfigure(self, config: Config) -> None:
        """Take over what users are held against; say of all else that it needs a new start.

        Raises:
            ConfigRefusal: with what stays in force it gives users more than it says.
        """
        if self._offline:
            config = twins(config)
        users = users_of(config)
        changed = [
            name
            for name in Config.model_fields
            if _compared(config, name) != _compared(self._config, name)
        ]
        now = {name: getattr(config, name) for name in changed if name in LIVE}
        merged = self._config.model_copy(update=now)
        shares_nothing(merged, "still in force", "restart metabroker to apply all of it")
        if users.keys() == self._users.keys():
            if users != self._users:
                log.info("configuration: the users of %s have changed", ", ".join(users))
            self._users = users
        words = _words_of(config)
        if words.keys() == self._words.keys():
            self._words = words
        self._config = merged
        if "submitters" in changed:
            warn_of_submitters(merged)
        self._middleware.set_rates(build.rates(self._config))
        with self._changing:
            if self.leader is not None:
                self.leader.reconfigure(self._config, self._rules())
        for name in changed:
            if name in LIVE:
                log.info("configuration: %s is %s now", name, getattr(config, name))
            else:
                log.warning("configuration: %s has changed; restart metabroker to apply it", name)
        if not changed:
            log.info("configuration: nothing has changed")

    @property
    def alive(self) -> bool:
        """Whether the core goes on and users are served: without either it must be restarted."""
        core = self._client if self.leader is None else self.leader.loop
        return core.alive and self._api.alive

    @property
    def hangs(self) -> bool:
        """Whether its core has shown no sign of life for long, or has ended."""
        leader = self.leader
        if leader is None:
            return not self._client.alive
        return not leader.loop.alive or leader.loop.silent > _HANGS

    @property
    def unready(self) -> str:
        """Why users cannot be served now; nothing where they can. One that stands by serves who
        reads, and passes on what is changed."""
        if not self._api.alive:
            return "it does not serve yet, or no longer"
        if self.hangs:
            return "its core does not answer"
        if self.leader is not None:
            return "the store cannot be written" if self.leader.loop.trouble else ""
        return "" if self._standby.own_status()["store"] == "ok" else "the store cannot be read"

    def stop(self) -> None:
        """Let nobody in, finish what is under way, let another broker lead, close."""
        self._http.stop()
        self._api.stop()
        self._candidate.stop()
        self._standby.stop()
        self._client.stop()
        self._lay_down()
        self._audit.close()
        self.store.close()
        self._lock.close()

    def _lay_down(self) -> None:
        """Finish what is under way, and let another broker lead."""
        lease, leader = self._lease, self._taken_up
        # Steps that wait to be allowed, since the database is away, must not wait for ever.
        if leader is not None and lease is not None:
            enough = threading.Timer(self._config.lease, lease.close, kwargs={"release": False})
            enough.daemon = True
            try:
                enough.start()
            except RuntimeError:  # no thread can be started
                lease.close(release=False)
            leader.stop()
            enough.cancel()
        elif leader is not None:
            leader.stop()
        if lease is not None:
            lease.close(release=True)

    def _own(self) -> dict[str, Any]:
        """What it says of itself while it stands by."""
        options = AskedOptions(self._words, self._config.drop_options)
        own = {"policy": self._config.policy, "offline": self._offline}
        return {**own, "partition": options.partition}

    def _users_now(self) -> Users:
        return self._users

    def _rules(self) -> Authorization:
        config = self._config
        return Authorization(
            policy=config.policy,
            default_time=config.default_time,
            max_time=config.max_time,
            admins=config.admins,
            submitters=config.submitters,
            homes=config.homes,
            shared_everywhere=all(
                c.shared_dir is not None for c in config.clusters.values() if c.run_as == "self"
            ),
            offline=self._offline,
            largest_script=config.limits.script,
            users=self._users,
            clusters=tuple(config.clusters),
            acts_at_home=self._homes is not None,
            options=AskedOptions(self._words, config.drop_options),
        )


def _words_of(config: Config) -> dict[str, ClusterWords]:
    return {name: words_of(cluster) for name, cluster in config.clusters.items()}


def _compared(config: Config, name: str) -> object:
    """A key's value, without what is taken over in any case."""
    if name != "clusters":
        return getattr(config, name)
    return {
        cluster: settings.model_dump(exclude={"users", "users_file", "names"})
        for cluster, settings in config.clusters.items()
    }
