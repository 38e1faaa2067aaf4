"""The daemon: store, core, clusters, API and clock put together, started and stopped in order."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from prometheus_client import CollectorRegistry

from metabroker.access.audit import AuditError, AuditLog
from metabroker.access.tls import TlsError
from metabroker.api.reception import Reception
from metabroker.api.server import ApiServer
from metabroker.broker.events import Event
from metabroker.broker.outbox import Ready
from metabroker.broker.settings import Settings
from metabroker.clusters.port import Cluster
from metabroker.config.model import Config, RealCluster
from metabroker.config.values import Address
from metabroker.metrics import Exporter, Meters, OfCluster, OfJobs
from metabroker.store import Store
from metabroker.store.rows import Names

from . import build
from .clock import Clock
from .desk import Desk, Hook, no_hook
from .engine import Engine
from .loop import Loop
from .offline import twins
from .orders import Orders
from .rules import Rules
from .service import DaemonService
from .site import Site
from .sole import SoleOwner
from .tokens import TokenOffice
from .users import users_of
from .watcher import FAR, NEAR

log = logging.getLogger(__name__)


LIVE = frozenset({"admins", "submitters", "homes", "default_time", "max_time", "limits", "rates"})
"""The keys of the configuration that are taken over while the daemon runs."""


class Daemon:
    """One broker over its clusters.

    Raises (when made or started):
        StoreUnavailable: the store cannot be opened.
        AuditError: the audit log cannot be opened.
        SocketError: another daemon serves the socket.
        TlsError: certificate or key cannot be used.
    """

    def __init__(self, config: Config, *, offline: bool = False, hook: Hook = no_hook) -> None:
        if offline:
            config = twins(config)
        self._config = config
        self._offline = offline
        self._users = users_of(config)
        self._homes = build.homes(config)
        self.clock = Clock()
        self._sole = SoleOwner(config.store)
        self.store = Store(config.store)
        made = build.settings(config, self.store)
        names = Names([cluster.name for cluster in made.clusters])
        registry = CollectorRegistry()
        self._meters = Meters(registry)
        self._of_jobs = OfJobs(self._meters)
        self._written: Callable[[Ready], None] = lambda _ready: None
        engine = Engine(
            build.broker(config, made),
            self.store,
            names,
            build.limits(config),
            build.place(config),
            written=self._durable,
            took=self._meters.took,
        )
        self.desks = [
            self._desk(index, cluster, self._orders(made, entry.name), hook)
            for index, (entry, cluster) in enumerate(
                zip(
                    made.clusters,
                    build.clusters(config, made, self.store, self._users),
                    strict=True,
                )
            )
        ]
        self.loop = Loop(engine, self.desks, self.clock)
        self.service = DaemonService(self.loop, self.store, self.desks, self._rules(), self.clock)
        self._written = self.service.written
        self._audit = AuditLog(config.audit_file, self.clock)
        self._reception = Reception(
            tokens=TokenOffice(
                self.store.access_tokens,
                self.clock,
                lambda caller: self.service.rules.administers(caller),
            ),
            audit=self._audit,
            rates=build.rates(config),
            refused=lambda why: self._meters.refused.labels(why).inc(),
        )
        self._api = ApiServer(
            self.service, config.socket, reception=self._reception, listen=build.listen(config)
        )
        registry.register(Exporter(self.service.status, self.service.clusters))
        self._site = Site(config, self.service, registry)
        self._ticks = BackgroundScheduler(
            timezone=UTC,
            executors={"default": ThreadPoolExecutor(len(self.desks) + 1)},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )

    def start(self) -> None:
        """Recover, look at the clusters, then let users in."""
        self.loop.start()
        for desk in self.desks:
            self._ticks.add_job(
                desk.observe,
                "interval",
                seconds=self._config.poll_interval,
                id=f"look at {desk.name}",
                next_run_time=datetime.now(UTC),
            )
        self._ticks.start()
        self._site.start()
        self._api.start()
        log.info(
            "serving at %s: policy %s over %s",
            self._where,
            self._config.policy,
            ", ".join(desk.name for desk in self.desks),
        )

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
        return f"policy {self._config.policy} over {', '.join(desk.name for desk in self.desks)}"

    def answers(self, seconds: float = 10.0) -> bool:
        """Whether the core answers in time: it neither hangs nor has died."""
        try:
            self.loop.ask(lambda: None, seconds)
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
        """Take over what users are held against; say of all else that it needs a new start."""
        if self._offline:
            config = twins(config)
        users = users_of(config)
        if users.keys() == self._users.keys():
            if users != self._users:
                log.info("configuration: users of %s are others now", ", ".join(users))
            self._users = users
        changed = [
            name
            for name in Config.model_fields
            if _compared(config, name) != _compared(self._config, name)
        ]
        now = {name: getattr(config, name) for name in changed if name in LIVE}
        self._config = self._config.model_copy(update=now)
        self.service.rules = self._rules()
        self._reception.set_rates(build.rates(self._config))
        self.loop.ask(self._limit)
        for name in changed:
            if name in LIVE:
                log.info("configuration: %s is %s now", name, getattr(config, name))
            else:
                log.warning("configuration: %s has changed; that needs a new start", name)
        if not changed:
            log.info("configuration: nothing has changed")

    def _limit(self) -> None:
        """In the core's thread: what the limits are now."""
        self.loop.engine.limit(build.limits(self._config))
        self.loop.engine.broker.limit(build.shares(self._config))

    @property
    def alive(self) -> bool:
        """Whether the core goes on and users are served: without either it must be started anew."""
        return self.loop.alive and self._api.alive

    def stop(self) -> None:
        """Let nobody in, finish what is under way, close."""
        self._site.stop()
        self._api.stop()
        if self._ticks.running:
            self._ticks.remove_all_jobs()
            self._ticks.shutdown(wait=False)
        self.loop.stop()
        closers = [threading.Thread(target=desk.close) for desk in self.desks]
        for closer in closers:
            closer.start()
        for closer in closers:
            closer.join()
        self._audit.close()
        self.store.close()
        self._sole.close()

    def _desk(self, index: int, cluster: Cluster, orders: Orders, hook: Hook) -> Desk:
        configured = self._config.clusters.get(orders.cluster)
        return Desk(
            index,
            cluster,
            orders,
            self._post,
            workers=configured.commands_at_once if configured is not None else 1,
            clock=self.clock,
            hook=hook,
            meter=OfCluster(self._meters, orders.cluster),
            pace=FAR if isinstance(configured, RealCluster) and configured.via != "local" else NEAR,
        )

    def _durable(self, ready: Ready) -> None:
        self._of_jobs.tell(ready)
        self._written(ready)

    def _post(self, event: Event) -> None:
        self.loop.post(event)

    def _orders(self, made: Settings, name: str) -> Orders:
        shared = self._shared(name)
        return Orders(self.store, made, name, shared, homes=self._homes, users=lambda: self._users)

    def _shared(self, name: str) -> str | None:
        configured = self._config.clusters.get(name)
        shared = configured.shared_dir if configured is not None else None
        return None if shared is None else str(shared)

    def _rules(self) -> Rules:
        config = self._config
        return Rules(
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
        )


def _compared(config: Config, name: str) -> object:
    """A key's value, without what is taken over in any case."""
    if name != "clusters":
        return getattr(config, name)
    return {
        cluster: settings.model_dump(exclude={"users", "users_file"})
        for cluster, settings in config.clusters.items()
    }
