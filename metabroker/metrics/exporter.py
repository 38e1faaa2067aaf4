"""The daemon's numbers, made at each scrape from what the daemon knows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

log = logging.getLogger(__name__)

Read = Callable[[], Mapping[str, Any]]


class Exporter(Collector):
    """Serves /metrics at an address. `status` and `clusters` answer as the API's routes do."""

    def __init__(self, status: Read, clusters: Callable[[], list[dict[str, Any]]]) -> None:
        self._status = status
        self._clusters = clusters
        self._server: tuple[WSGIServer, Thread] | None = None

    def start(self, host: str, port: int) -> None:
        """Serve; without metrics the daemon does its work all the same, so failing is a warning."""
        registry = CollectorRegistry()
        registry.register(self)
        try:
            self._server = start_http_server(port, host, registry)
        except OSError as error:
            log.warning("no metrics: cannot listen at %s:%d: %s", host, port, error.strerror)

    def stop(self) -> None:
        """Serve no more."""
        if self._server is not None:
            server, thread = self._server
            server.shutdown()
            server.server_close()
            thread.join(timeout=5)

    def describe(self) -> list[Metric]:
        """Nothing is asked of the daemon before it serves."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The metrics, as of now."""
        status = self._status()
        build = _gauge("build_info", "What runs here.", ["version", "policy"])
        build.add_metric([status["version"], status["policy"]], 1)
        yield build
        jobs = _gauge("jobs", "Jobs that have not ended, by state.", ["state"])
        for state, count in status["jobs"].items():
            jobs.add_metric([state], count)
        yield jobs
        queues = _gauge("queue_length", "Jobs waiting in a queue.", ["queue"])
        for queue, count in status["queues"].items():
            queues.add_metric([queue], count)
        yield queues
        owed = _gauge("owed_effects", "Steps that clusters still owe an answer to.", [])
        owed.add_metric([], status["owed_effects"])
        yield owed
        writable = _gauge("store_writable", "Whether the store can be written.", [])
        writable.add_metric([], float(status["store"] == "ok"))
        yield writable
        yield from self._of_clusters()

    def _of_clusters(self) -> Iterator[Metric]:
        clusters = self._clusters()
        up = _gauge("cluster_up", "Whether a cluster answers.", ["cluster"])
        age = _gauge("cluster_snapshot_age_seconds", "Age of what is known.", ["cluster"])
        processors = _gauge(
            "cluster_processors", "Processors, by what they are.", ["cluster", "state"]
        )
        for cluster in clusters:
            name = cluster["name"]
            up.add_metric([name], float(cluster["reachable"]))
            if cluster["age_seconds"] is not None:
                age.add_metric([name], cluster["age_seconds"])
            for state in ("idle", "down", "others", "claimed"):
                if cluster[state] is not None:
                    processors.add_metric([name, state], cluster[state])
        yield from (up, age, processors)


def _gauge(name: str, text: str, labels: list[str]) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"metabroker_{name}", text, labels=labels)
