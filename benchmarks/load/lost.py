"""A cluster that does not answer, with very many jobs in its local queue that only the broker put
there: after a minute they are moved to the other clusters' queues, and users go on submitting."""

from __future__ import annotations

import contextlib
import json
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks.federation import resident, start
from benchmarks.measures import Metrics, quantile, spent
from metabroker.api.client import Client, ClientError
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

from .daemons import Loaded, loaded

Json = dict[str, Any]
POLICY = "LS-OR"
_NAMES = ("c00", "c01", "c02")  # the first is lost
_SIZE = 64
_PAUSE = 0.02  # seconds between two submissions
_WAIT = 900.0  # seconds until all have been moved


def lost(few: int, many: int) -> Json:
    """The same with few jobs in the queue, and with many."""
    return {"few": _lost(few), "many": _lost(many)}


def _lost(jobs: int) -> Json:
    size: Json = {"system": "simulated", "processors": _SIZE, "run": False}
    answers = dict.fromkeys(_NAMES[1:], size)
    with loaded({_NAMES[0]: size, **answers}, policy=POLICY) as where:
        federation = where.federation
        federation.daemon.terminate()
        federation.daemon.wait(60)
        (federation.folder / "metabroker.db").unlink()
        _fill(federation.folder / "metabroker.db", jobs)
        file = federation.folder / "metabroker.yaml"
        _silence(file, federation.folder)
        began = time.monotonic()
        daemon = start(file, federation.folder)
        try:
            return _measured(where, daemon.pid, jobs, began)
        finally:
            daemon.terminate()
            daemon.wait(60)


def _silence(file: Path, folder: Path) -> None:
    """The first cluster is a Slurm whose controller is away."""
    bin_ = folder / "silent"
    bin_.mkdir()
    for name in ("sbatch", "squeue", "sinfo", "scontrol", "scancel"):
        script = bin_ / name
        script.write_text("#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n")
        script.chmod(0o755)
    config = json.loads(file.read_text())
    config["clusters"][_NAMES[0]] = {"system": "slurm", "bin": str(bin_), "partition": "batch"}
    file.write_text(json.dumps(config))


def _fill(path: Path, jobs: int) -> None:
    """A store in which so many jobs wait in the first cluster's queue, behind nobody; and the other
    clusters are about to be full."""
    store = Store(f"sqlite:///{path}")
    clusters = tuple(ClusterSettings(name, True, _SIZE, "simulated") for name in _NAMES)
    broker = Broker(Settings(store.instance, clusters), make(POLICY, len(_NAMES)))
    for cluster in range(len(_NAMES)):
        broker.handle(Observed(cluster, Snapshot(0.0, _SIZE, _SIZE, _SIZE)), 0.0)
    for cluster in range(1, len(_NAMES)):
        new = NewJob("u", "full", Request((_SIZE,), (cluster,)), 360_000, local=cluster)
        broker.handle(SubmitJob(new), 0.0)
    shapes = [Request((size,)) for size in range(1, 9)]
    for number in range(jobs):
        broker.handle(SubmitJob(NewJob("u", "j", shapes[number % 8], 600, home=0)), 0.0)
    ready = broker.take()
    submission = Submission(b"#!/bin/sh\ntrue\n", "j", Processors(single=1), "/tmp")
    spec = spec_of(submission)
    accepted = [Accepted(job.id, "u", None, submission.script, spec) for job in ready.jobs]
    rows = [{"name": n, "processors": _SIZE, "version": "", "seen": 0.0} for n in _NAMES]
    store.commit(Transaction(ready, accepted, rows), ClusterNames(_NAMES))
    store.close()


def _measured(where: Loaded, pid: int, jobs: int, began: float) -> Json:
    client = Client(where.socket, timeout=600.0, patience=600.0)
    left = None
    while left is None:
        with contextlib.suppress(ClientError):
            left = _left(client)
    first = time.monotonic()
    latencies: list[float] = []
    used, number = spent(pid), 0
    moving: float | None = None
    memory = resident(pid)
    while left and time.monotonic() - first < _WAIT:
        asked = time.monotonic()
        client.submit(where.wire(f"beside-{number}", Processors(single=1)))
        latencies.append(time.monotonic() - asked)
        number += 1
        if number % 25 == 0:
            left = _left(client)
            if moving is None and left < jobs:
                moving = time.monotonic()
        time.sleep(_PAUSE)
    done = time.monotonic()
    return {
        "jobs": jobs,
        "started_in": first - began,
        "left": left,
        "moved_in": done - (moving or done),
        "submissions": len(latencies),
        "submit_median": statistics.median(latencies),
        "submit_p99": quantile(latencies, 0.99),
        "submit_longest": max(latencies),
        "longest_turn": Metrics(where.metrics).total("metabroker_longest_turn_seconds"),
        "cpu": spent(pid).since(used).own,
        "memory": memory,
        "memory_after": resident(pid),
    }


def _left(client: Client) -> int:
    queues: dict[str, int] = {
        each["queue"]: each["jobs"]
        for each in client.get("status")["jobs_by_queue"]
        if each["state"] == "QUEUED"
    }
    return queues.get(_NAMES[0], 0)
