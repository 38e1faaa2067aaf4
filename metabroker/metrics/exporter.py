"""The daemon's numbers, made at each scrape from what the daemon knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

Read = Callable[[], Mapping[str, Any]]


class Exporter(Collector):
    """What is read at each scrape: `status`, `clusters` and `links` answer as the API's routes do.
    Without a method `describe` nothing is asked of the daemon before it serves."""

    def __init__(
        self,
        status: Read,
        clusters: Callable[[], list[dict[str, Any]]],
        links: Callable[[], Sequence[Mapping[str, Any]]],
    ) -> None:
        self._status = status
        self._clusters = clusters
        self._links = links

    def collect(self) -> Iterator[Metric]:
        """The metrics, as of now."""
        status = self._status()
        jobs = _gauge("jobs", "Jobs that have not ended.", "queue", "state")
        for entry in status["jobs_by_queue"]:
            jobs.add_metric([entry["queue"], entry["state"]], entry["jobs"])
        queues = _gauge(
            "queue_length",
            "Jobs that stand in a queue now; not held ones, nor those that can go to no cluster "
            "now.",
            "queue",
        )
        for queue, count in status["queues"].items():
            queues.add_metric([queue], count)
        oldest = _gauge(
            "queue_oldest_wait_seconds",
            "Time since the oldest job of a queue joined it; 0 if none waits. Held jobs, arrays, "
            "tasks of arrays of which few may be under way at once, and those that wait for other "
            "jobs are not counted.",
            "queue",
        )
        for queue, seconds in status["oldest_wait"].items():
            oldest.add_metric([queue], seconds)
        owed = _gauge("owed_effects", "Steps that clusters have not answered yet.")
        owed.add_metric([], status["owed_effects"])
        behind = _gauge("store_behind", "1 if the store is older than the clusters, else 0.")
        behind.add_metric([], float(status["store_behind"] is not None))
        yield from (*_of_any(status), jobs, queues, oldest, owed, behind)
        yield from _of_retention(status["history"] or _NO_RETENTION)
        yield from _of_start_times(status["start_times"])
        yield from self._of_clusters()
        yield from _of_links(self._links())

    def _of_clusters(self) -> Iterator[Metric]:
        up = _gauge("cluster_up", "1 if a cluster answers, else 0.", "cluster")
        drained = _gauge(
            "cluster_drained", "1 if an administrator has drained a cluster, else 0.", "cluster"
        )
        processors = _gauge(
            "cluster_processors",
            "Processors by state: idle, down, others (held by others' jobs), claimed (by the "
            "broker).",
            "cluster", "state",
        )  # fmt: skip
        plain = {
            "age_seconds": _gauge(
                "cluster_snapshot_age_seconds", "Age of the last snapshot of a cluster.", "cluster"
            ),
            "clock_offset": _gauge(
                "cluster_clock_offset_seconds",
                "How far a cluster's clock is ahead of the broker's, in whole seconds.", "cluster",
            ),
            "components": _gauge(
                "cluster_components", "The broker's components in a cluster, counted until "
                                      "nothing of them is left there.", "cluster"
            ),
            "pending": _gauge(
                "cluster_pending_jobs",
                "The broker's jobs that wait in the cluster's own queue, at the last poll.",
                "cluster",
            ),
            "unanswered": _gauge(
                "cluster_unanswered_steps",
                "Steps that are sent to a cluster again, because no answer told their outcome.",
                "cluster",
            ),
            "strays": _gauge(
                "cluster_strays",
                "Orphans: the broker's jobs and reservations of no live component; they are "
                "being removed.", "cluster",
            ),
            "commands_per_look": _gauge(
                "cluster_commands_per_look", "Commands that the last poll needed.", "cluster"
            ),
        }  # fmt: skip
        for cluster in self._clusters():
            name = cluster["name"]
            up.add_metric([name], float(cluster["reachable"]))
            drained.add_metric([name], float(cluster["drained"] is not None))
            for key, gauge in plain.items():
                if cluster[key] is not None:
                    gauge.add_metric([name], cluster[key])
            for state in ("idle", "down", "others", "claimed"):
                if cluster[state] is not None:
                    processors.add_metric([name, state], cluster[state])
        yield from (up, drained, processors, *plain.values())


def _of_links(links: Sequence[Mapping[str, Any]]) -> Iterator[Metric]:
    """What was measured between clusters, in the worse direction; what is not known is left out."""
    latency = _gauge(
        "link_latency_seconds",
        "Time of a small message between nodes of two clusters, there and back, as last measured.",
        "cluster", "other",
    )  # fmt: skip
    bandwidth = _gauge(
        "link_bandwidth_bytes_per_second",
        "Bandwidth of one connection between nodes of two clusters, as last measured.",
        "cluster", "other",
    )  # fmt: skip
    measured = _gauge(
        "link_measured_timestamp_seconds",
        "When it was last measured between nodes of two clusters, as a Unix time.",
        "cluster", "other",
    )  # fmt: skip
    for link in links:
        names = list(link["clusters"])
        if link["latency_ms"] is not None:
            latency.add_metric(names, link["latency_ms"] / 1000)
        if link["bandwidth_mb_per_s"] is not None:
            bandwidth.add_metric(names, link["bandwidth_mb_per_s"] * 1e6)
        measured.add_metric(names, link["measured"])
    yield from (latency, bandwidth, measured)


_NO_RETENTION: Mapping[str, Any] = {"removed": {}, "failures": 0, "last_run": None, "trouble": None}


def _of_retention(told: Mapping[str, Any]) -> Iterator[Metric]:
    """How the removal of ended jobs goes on."""
    removed = CounterMetricFamily(
        "metabroker_history_removed",
        "Ended jobs that were archived and removed from the store; of kind events or script: of "
        "which only that was.",
        labels=["kind"],
    )
    for kind, jobs in told["removed"].items():
        removed.add_metric([kind], jobs)
    failures = CounterMetricFamily(
        "metabroker_history_failures", "Runs of the retention that failed.", value=told["failures"]
    )
    stuck = _gauge("history_stuck", "1 if the last run of the retention failed, else 0.")
    stuck.add_metric([], float(told["trouble"] is not None))
    last = _gauge(
        "history_last_run_timestamp_seconds",
        "When the last whole run of the retention ended, as a Unix time.",
    )
    if told["last_run"] is not None:
        last.add_metric([], told["last_run"])
    yield from (removed, failures, stuck, last)


def _of_start_times(told: Mapping[str, Any]) -> Iterator[Metric]:
    """How good the last intervals were in which jobs were told to start."""
    judged = _gauge("start_intervals_judged", "Of the last start times told, those that count.")
    judged.add_metric([], told["told"])
    coverage = _gauge(
        "start_interval_coverage",
        "Part of the last start times told whose job has started within its interval of 90 %.",
    )
    width = _gauge("start_interval_width_seconds", "Mean width of these intervals.")
    if told["told"]:
        coverage.add_metric([], told["kept"] / told["told"])
        width.add_metric([], told["width"])
    yield from (judged, coverage, width)


class StandbyExporter(Collector):
    """What a broker that stands by says: nothing of jobs and clusters, or sums over the brokers of
    one store would count them twice."""

    def __init__(self, status: Read) -> None:
        """`status`: what it knows by itself."""
        self._status = status

    def collect(self) -> Iterator[Metric]:
        """The metrics, as of now."""
        yield from _of_any(self._status())


def _of_any(status: Mapping[str, Any]) -> Iterator[Metric]:
    """What every broker tells."""
    build = _gauge(
        "build_info", "Version and policy of this daemon; always 1.", "version", "policy"
    )
    build.add_metric([status["version"], status["policy"]], 1)
    writable = _gauge("store_writable", "1 if the store can be written, else 0.")
    writable.add_metric([], float(status["store"] == "ok"))
    uptime = _gauge("uptime_seconds", "Time since the daemon's start.")
    uptime.add_metric([], status["uptime_seconds"])
    yield from (build, writable, uptime)


def _gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"metabroker_{name}", text, labels=labels)
