"""The daemon: store, core, clusters, API and clock put together, started and stopped in order."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from metabroker.api.server import ApiServer
from metabroker.broker.events import Event
from metabroker.broker.outbox import Ready
from metabroker.clusters.port import Cluster
from metabroker.config.model import Config
from metabroker.metrics import Exporter
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
from .sole import SoleOwner
from .watcher import FAR, NEAR

log = logging.getLogger(__name__)


class Daemon:
    """One broker over its clusters.

    Raises (when made or started):
        StoreUnavailable: the store cannot be opened.
        SocketError: another daemon serves the socket.
    """

    def __init__(self, config: Config, *, offline: bool = False, hook: Hook = no_hook) -> None:
        if offline:
            config = twins(config)
        self._config = config
        self.clock = Clock()
        self._sole = SoleOwner(config.store)
        self.store = Store(config.store)
        made = build.settings(config, self.store)
        names = Names([cluster.name for cluster in made.clusters])
        self._written: Callable[[Ready], None] = lambda _ready: None
        engine = Engine(
            build.broker(config, made),
            self.store,
            names,
            build.limits(config),
            build.place(config),
            written=lambda ready: self._written(ready),
        )
        self.desks = [
            self._desk(
                index, cluster, Orders(self.store, made, entry.name, self._shared(entry.name)), hook
            )
            for index, (entry, cluster) in enumerate(
                zip(made.clusters, build.clusters(config, made), strict=True)
            )
        ]
        self.loop = Loop(engine, self.desks, self.clock)
        self.service = DaemonService(
            self.loop, self.store, self.desks, self._rules(offline), self.clock
        )
        self._written = self.service.written
        self._api = ApiServer(self.service, config.socket)
        self._metrics = Exporter(self.service.status, self.service.clusters)
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
        self._api.start()
        if self._config.metrics is not None:
            self._metrics.start(self._config.metrics.host, self._config.metrics.port)
        log.info(
            "serving at %s: policy %s over %s",
            self._config.socket,
            self._config.policy,
            ", ".join(desk.name for desk in self.desks),
        )

    @property
    def alive(self) -> bool:
        """Whether the core goes on and users are served: without either it must be started anew."""
        return self.loop.alive and self._api.alive

    def stop(self) -> None:
        """Let nobody in, finish what is under way, close."""
        self._metrics.stop()
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
            pace=NEAR if getattr(configured, "via", "local") == "local" else FAR,
        )

    def _post(self, event: Event) -> None:
        self.loop.post(event)

    def _shared(self, name: str) -> str | None:
        configured = self._config.clusters.get(name)
        shared = configured.shared_dir if configured is not None else None
        return None if shared is None else str(shared)

    def _rules(self, offline: bool) -> Rules:
        config = self._config
        return Rules(
            policy=config.policy,
            default_time=config.default_time,
            max_time=config.max_time,
            admins=config.admins,
            submitters=config.submitters,
            homes=config.homes,
            shared_everywhere=all(c.shared_dir is not None for c in config.clusters.values()),
            offline=offline,
        )
