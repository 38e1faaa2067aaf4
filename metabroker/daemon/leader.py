"""What only the broker that leads has: core, cluster executors, polls, and the server of requests
that other brokers pass on. It is made when the broker becomes the leader, from the store as it is
then."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from apscheduler.executors.pool import BasePoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from metabroker.about import about
from metabroker.broker.events import Event
from metabroker.broker.identities import NotUsable
from metabroker.broker.outbox import Mishap, Ready
from metabroker.broker.settings import Settings
from metabroker.broker.store_behind import ADVICE, StoreBehind
from metabroker.broker.tokens import Ref
from metabroker.clusters.port import Cluster
from metabroker.clusters.submit_directory import SubmitDirectory
from metabroker.clusters.transports.fenced import Permit
from metabroker.config.clusters import RealCluster
from metabroker.config.model import Config
from metabroker.daemon.sharing.rpc_server import RpcServer
from metabroker.metrics import Meters, OfCluster, OfJobs
from metabroker.runtime.carrier import Carrier
from metabroker.runtime.cluster_accounts import Users
from metabroker.runtime.collector import Collector
from metabroker.runtime.engine import Engine
from metabroker.runtime.executor import ClusterExecutor, Hook
from metabroker.runtime.loop import Loop
from metabroker.runtime.requests import RequestBuilder
from metabroker.runtime.watcher import FAR, NEAR
from metabroker.service.authorization import Authorization
from metabroker.service.service import DaemonService
from metabroker.store import Store
from metabroker.store.requests import ASKED
from metabroker.store.rows import ClusterNames
from metabroker.threads import started_pool

from . import build, memory, retention
from .learning import Learning

log = logging.getLogger(__name__)

_LAST_STEP = 10.0  # seconds that a transaction of the retention is waited for


@dataclass(frozen=True, slots=True)
class LeaderContext:
    """What every broker has, and a leader needs. `users`: of the clusters, as of now; `part`: what
    it says of its part among the brokers; `permit`: asked before each step in a cluster and in a
    submit directory, where another broker might lead."""

    config: Config
    store: Store
    clock: Callable[[], float]
    users: Callable[[], Users]
    homes: Callable[[str], SubmitDirectory] | None
    rules: Authorization
    meters: Meters
    hook: Hook
    part: Mapping[str, Any]
    permit: Permit | None = None


class _Ticks(BasePoolExecutor):  # type: ignore[misc]
    """Polls run in a pool that was started before."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        super().__init__(pool)


class Leader:
    """One broker over its clusters. Raises StoreUnavailable when made or started."""

    def __init__(self, given: LeaderContext) -> None:
        self._given = given
        config, store, clock = given.config, given.store, given.clock
        made = build.settings(config, store)
        names = ClusterNames([cluster.name for cluster in made.clusters])
        self._of_jobs = OfJobs(given.meters)
        self._collector = Collector()
        engine = Engine(
            build.broker(config, made, store.restorations.history()),
            store,
            names,
            build.limits(config),
            build.place(config),
            written=self._durable,
            took=given.meters.took,
            mishap=self._contained,
        )
        clusters = build.clusters(config, made, store, given.users(), given.permit)
        self._carrier = Carrier()
        self.executors = [
            self._executor(index, cluster, self._builder(made, entry.name))
            for index, (entry, cluster) in enumerate(zip(made.clusters, clusters, strict=True))
        ]
        self.loop = Loop(engine, self.executors, clock)
        self.retention = retention.make(config, store, self.loop, clock, given.permit)
        self._retention_thread = retention.RetentionThread(self.retention)
        self._learning: Learning | None = None
        self.service = DaemonService(
            *(self.loop, store, self.executors, given.rules, clock, given.part),
            retention=lambda: self.retention.state.told(),
        )
        self._rpc_server = self._make_rpc_server()
        self._ticks = BackgroundScheduler(
            timezone=UTC,
            executors={"default": _Ticks(started_pool(len(self.executors) + 1, "ticks"))},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )

    def start(self) -> None:
        """Recover, look at the clusters, take what was passed on."""
        with self._collector.loading():
            self.loop.start()
        self._collector.there_are(len(self.loop.engine.broker.view.jobs))
        for executor in self.executors:
            self._ticks.add_job(
                executor.observe,
                "interval",
                seconds=self._given.config.poll_interval,
                id=f"look at {executor.name}",
                next_run_time=datetime.now(UTC),
            )
        self._ticks.start()
        self._retention_thread.start()
        self._learning = Learning(
            self.loop, self._given.store, self.service.predictions, self._learned
        )
        self._learning.start()
        if self._rpc_server is not None:
            self._rpc_server.start()

    def reconfigure(self, config: Config, rules: Authorization) -> None:
        """Take over what users are held against."""
        self.service.govern(rules)
        try:
            self.loop.ask(lambda: self._limit(config))
        except TimeoutError:  # it is busy: the question stays in its line
            log.warning("configuration: the limits change once the core has time for it")

    def _limit(self, config: Config) -> None:
        """In the core's thread: what the limits are now."""
        self.loop.engine.limit(build.limits(config))
        self.loop.engine.broker.limit(build.shares(config))

    def stop(self) -> None:
        """Finish what is under way, close."""
        if self._rpc_server is not None:
            self._rpc_server.stop()
        self._retention_thread.stop(_LAST_STEP)
        if self._learning is not None:
            self._learning.stop(_LAST_STEP)
        if self._ticks.running:
            self._ticks.remove_all_jobs()
            self._ticks.shutdown(wait=False)
        self.loop.stop()
        closers = [threading.Thread(target=executor.close) for executor in self.executors]
        for closer in closers:
            try:
                closer.start()
            except RuntimeError:  # no thread can be started: then one after the other
                closer.run()
        for closer in closers:
            if closer.is_alive():
                closer.join()
        self.service.close()

    def _make_rpc_server(self) -> RpcServer | None:
        store = self._given.store
        if store.term is None:
            return None
        return RpcServer(store.requests, store.listener(ASKED), store.term, self.service)

    def _executor(self, index: int, cluster: Cluster, builder: RequestBuilder) -> ClusterExecutor:
        configured = self._given.config.clusters.get(builder.cluster)
        return ClusterExecutor(
            index,
            cluster,
            builder,
            self._post,
            workers=configured.commands_at_once if configured is not None else 1,
            clock=self._given.clock,
            hook=self._given.hook,
            meter=OfCluster(self._given.meters, builder.cluster),
            pace=FAR if isinstance(configured, RealCluster) and configured.via != "local" else NEAR,
            carrier=self._carrier,
        )

    def _durable(self, ready: Ready) -> None:
        self._of_jobs.tell(ready)
        self.service.written(ready)
        self._collector.there_are(len(self.loop.engine.broker.view.jobs))

    def _learned(self) -> None:
        self._collector.learned()
        memory.loaded()

    def _contained(self, mishap: Mishap) -> None:
        """Something could not be handled, which has ended one job, or one answer, and no more."""
        if isinstance(mishap.error, StoreBehind):
            log.critical("%s; %s", mishap.error, ADVICE)
            return
        if isinstance(mishap.error, NotUsable) and mishap.cluster is not None:
            which = self.executors[mishap.cluster].name
            log.error("%s: %s", which, mishap.error, extra=about(cluster=which))
            return
        what = "job %s has failed: an event of it could not be handled"
        if mishap.cluster is not None:
            what = "%s: an event of this cluster could not be handled"
        elif mishap.job is None:
            what = "%s: an error in its own event, or in taking it over"
        name = None if mishap.cluster is None else self.executors[mishap.cluster].name
        whom = mishap.job or name or "something"
        extra = about(None if mishap.job is None else Ref(mishap.job, 0, 0), name)
        log.error(what, whom, exc_info=mishap.error, extra=extra)

    def _post(self, event: Event) -> None:
        self.loop.post(event)

    def _builder(self, made: Settings, name: str) -> RequestBuilder:
        given = self._given
        configured = given.config.clusters.get(name)
        shared = configured.shared_dir if configured is not None else None
        return RequestBuilder(
            given.store,
            made,
            name,
            None if shared is None else str(shared),
            homes=given.homes,
            users=given.users,
            permit=given.permit,
            arrivals=self._carrier.arrival,
        )
