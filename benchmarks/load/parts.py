"""Parts of the load: a burst of submissions, and a long queue."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.federation import await_clusters, resident, start
from benchmarks.measures import Metrics, between, quantile, spent
from benchmarks.waiting import fill_store
from metabroker.api.client import Client

from .clients import CLIENTS, Door, Task, all_at_once, work
from .daemons import SCRIPT, TAKEN, Loaded, ended, loaded, occupied, small

Json = dict[str, Any]
CLUSTERS = 50
_BY_COMMAND = 100  # submissions by the command line, beside those by the API
_COMMANDS_AT_ONCE = 2
_TWICE = 20  # of so many submissions one comes twice, by two clients at about the same time
_ALONE = 300  # submissions of one client alone, to compare with


def burst(submissions: int) -> Json:
    """`submissions` from 50 clients at once, over 50 clusters; nothing starts meanwhile."""
    with loaded(small(CLUSTERS)) as where:
        jobs = occupied(where)
        door = Door(where.socket)
        began = time.monotonic()
        alone = work(Task(door, [where.wire(f"alone-{n}") for n in range(_ALONE)]))
        alone_passed = time.monotonic() - began
        pid = where.federation.daemon.pid
        before, used = resident(pid), spent(pid)
        tasks = []
        for client in range(CLIENTS):
            own = range(client, submissions, CLIENTS)
            again = range((client + 1) % CLIENTS, submissions, CLIENTS * _TWICE)
            wires = [where.wire(f"burst-{n}") for n in sorted([*own, *again])]
            tasks.append(Task(door, wires))
        with ThreadPoolExecutor(1) as beside:
            commands = beside.submit(_by_command, where)
            tally, passed = all_at_once(tasks)
            by_command, command_seconds = commands.result()
        after = resident(pid)
        jobs |= alone.jobs | tally.jobs | by_command
        return {
            "clients": CLIENTS,
            "alone": alone.figures(alone_passed),
            "together": tally.figures(passed),
            "by_command": {
                "submissions": len(by_command),
                "median": statistics.median(command_seconds),
                "p99": quantile(command_seconds, 0.99),
            },
            "twice": sum(len(task.wires) for task in tasks) - len(tally.jobs),
            "memory": {"before": before, "after": after},
            "cpu_a_submission": spent(pid).since(used).own / len(tally.seconds),
            "failures": [*alone.failed, *tally.failed, *alone.refused, *tally.refused][:5],
            **where.lost(jobs),
        }


def _by_command(where: Loaded) -> tuple[dict[str, int], list[float]]:
    """`metabroker submit`, some at a time, while the others submit by the API."""
    script = where.federation.folder / "script"
    script.write_text(SCRIPT)
    environment = {**os.environ, "METABROKER_SOCKET": where.socket}

    def submit(number: int) -> tuple[str, int, float]:
        request = f"command-{number}"
        words = ["submit", "--json", "--request-id", request, "--cluster", TAKEN, "-n", "1"]
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "metabroker", *words, "-t", "600", str(script)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return request, int(json.loads(done.stdout)["job"]), time.monotonic() - began

    with ThreadPoolExecutor(_COMMANDS_AT_ONCE) as pool:
        found = list(pool.map(submit, range(_BY_COMMAND)))
    return {request: job for request, job, _ in found}, [seconds for _, _, seconds in found]


def waiting(jobs: int) -> Json:
    """One client's requests while 100 jobs wait, and while `jobs` do."""
    return {"few": _waiting(100), "many": _waiting(jobs)}


def _waiting(jobs: int) -> Json:
    with loaded(small(20)) as where:
        federation = where.federation
        federation.daemon.terminate()
        federation.daemon.wait(60)
        (federation.folder / "metabroker.db").unlink()
        fill_store(federation.folder / "metabroker.db", jobs)
        began = time.monotonic()
        again = start(federation.folder / "metabroker.yaml", federation.folder)
        try:
            await_clusters(federation.client, 300.0)
            return _asked(where, again.pid, time.monotonic() - began)
        finally:
            again.terminate()
            again.wait(60)


def _asked(where: Loaded, pid: int, started: float) -> Json:
    client = where.federation.client
    found = client.get("status")["jobs"].get("QUEUED", 0)
    memory = resident(pid)
    stays = occupied(where)  # so that what is submitted now waits too
    before = Metrics(where.metrics)
    tally = work(Task(Door(where.socket), [where.wire(f"more-{n}") for n in range(_ALONE)]))
    numbers = list(tally.jobs.values())
    figures = {
        "waiting": found,
        "started_in": started,
        "submit": _quantiles(tally.seconds),
        "show": _timed(lambda n: client.get(f"jobs/{numbers[n]}"), 100),
        "hold": _timed(lambda n: client.change(numbers[n], "hold"), 100),
        "cancel": _timed(lambda n: client.change(numbers[n], "cancel"), 100),
        "queue_of_50": _timed(lambda _n: client.get("jobs", limit=50), 10),
        "clusters": _timed(lambda _n: client.get("clusters"), 20),
        "queue_of_all": _timed(lambda _n: _patient(where).get("jobs"), 1),
    }
    after = Metrics(where.metrics)
    passes = between(before, after, "metabroker_scheduling_pass_seconds")
    return {
        **figures,
        "pass_mean": passes.mean,
        "memory": memory,
        "memory_after": resident(pid),
        "lost": found + len(stays) + len(tally.jobs) - _known(where),
    }


def _patient(where: Loaded) -> Client:
    return Client(where.socket, timeout=300.0)


def _known(where: Loaded) -> int:
    client = _patient(where)
    return len(client.get("jobs")["jobs"]) + sum(1 for _job in ended(client))


def _timed(call: Callable[[int], object], times: int) -> Json:
    seconds = []
    for number in range(times):
        began = time.monotonic()
        call(number)
        seconds.append(time.monotonic() - began)
    return _quantiles(seconds)


def _quantiles(seconds: list[float]) -> Json:
    return {"median": statistics.median(seconds), "p99": quantile(seconds, 0.99)}
