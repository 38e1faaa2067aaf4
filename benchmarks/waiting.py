"""100,000 waiting jobs over 20 simulated clusters.

    python -m benchmarks.waiting [--jobs 100000]

Printed: the cost of a pass after one departure under FCFS, against the same with 1,000 waiting;
the daemon's memory; and how long it takes from its start until it serves again.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from metabroker.broker.core import Broker
from metabroker.broker.events import Observed, SubmitJob
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Snapshot
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.policy import Request, make
from metabroker.runtime.requests import spec_of
from metabroker.store import Accepted, Store, Transaction
from metabroker.store.rows import ClusterNames
from metabroker.submission.model import Processors, Submission

from .federation import await_clusters, resident, serving, start

_CLUSTERS = 20
_SIZE = 64


def _settings(instance: str = "0123abcd") -> Settings:
    clusters = (ClusterSettings(f"c{i:02d}", True, _SIZE, "simulated") for i in range(_CLUSTERS))
    return Settings(instance, tuple(clusters))


def _filled(jobs: int, policy: str, settings: Settings) -> Broker:
    """A broker whose clusters are full and in which `jobs` jobs wait."""
    broker = Broker(settings, make(policy, _CLUSTERS))
    for cluster in range(_CLUSTERS):
        broker.handle(Observed(cluster, Snapshot(0.0, _SIZE, _SIZE, _SIZE)), 0.0)
    shapes = [Request((4 + i % 5, 2 + i % 3)) for i in range(15)]
    for number in range(jobs):
        broker.handle(SubmitJob(NewJob("u", "j", shapes[number % 15], 600)), 0.0)
    broker.schedule(0.0)
    return broker


def pass_cost(jobs: int, policy: str, rounds: int = 200) -> float:
    """Median seconds of a pass after one departure."""
    settings = _settings()
    broker = _filled(jobs, policy, settings)
    broker.take()
    costs = []
    for number in range(rounds):
        now = 0.001 * number
        broker.handle(Observed(number % _CLUSTERS, Snapshot(now, _SIZE, _SIZE, _SIZE - 1)), now)
        began = time.perf_counter()
        broker.schedule(now)
        costs.append(time.perf_counter() - began)
        broker.take()
        broker.handle(Observed(number % _CLUSTERS, Snapshot(now, _SIZE, _SIZE, _SIZE)), now)
    return statistics.median(costs)


def fill_store(path: Path, jobs: int) -> None:
    """A store in which `jobs` jobs wait."""
    store = Store(f"sqlite:///{path}")
    broker = _filled(jobs, "GS", _settings(store.instance))
    ready = broker.take()
    submission = Submission(b"#!/bin/sh\ntrue\n", "j", Processors(single=1), "/tmp")
    spec = spec_of(submission)
    accepted = [Accepted(job.id, "u", None, submission.script, spec) for job in ready.jobs]
    store.commit(
        Transaction(ready, accepted), ClusterNames([c.name for c in broker.settings.clusters])
    )
    store.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=100_000)
    jobs = parser.parse_args().jobs
    for policy in ("GS", "FCFS", "LP-GF"):
        few, many = pass_cost(1000, policy), pass_cost(jobs, policy)
        print(
            f"{policy}: a pass with 1000 waiting {few * 1e6:.0f} us, with {jobs} "
            f"{many * 1e6:.0f} us, ratio {many / few:.2f}"
        )
    clusters = {
        # Too small for what waits, so that nothing starts while the daemon is measured.
        f"c{i:02d}": {"system": "simulated", "processors": 1, "run": False}
        for i in range(_CLUSTERS)
    }
    with serving({"policy": "GS", "clusters": clusters}) as federation:
        federation.daemon.terminate()
        federation.daemon.wait(60)
        store = federation.folder / "metabroker.db"
        store.unlink()
        fill_store(store, jobs)
        began = time.monotonic()
        again = start(federation.folder / "metabroker.yaml", federation.folder)
        try:
            await_clusters(federation.client)
            seconds = time.monotonic() - began
            waiting = federation.client.get("status")["jobs"].get("QUEUED", 0)
            print(
                f"{waiting} jobs waiting: from start to serving {seconds:.1f} s, "
                f"{resident(again.pid):.0f} MB resident"
            )
        finally:
            again.terminate()
            again.wait(60)


if __name__ == "__main__":
    main()
