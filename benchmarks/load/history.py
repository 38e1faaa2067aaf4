"""A store with many ended jobs: start, `history`, `show`, memory, and the retention of a fifth of
them beside submissions."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

from benchmarks.federation import await_clusters, resident, start
from benchmarks.measures import Metrics, between, quantile, spent
from benchmarks.waiting import fill_store
from metabroker.api.client import Client
from metabroker.broker.job import Component, Job
from metabroker.broker.outbox import OutboxEntry, Ready
from metabroker.broker.states import JobState, Phase
from metabroker.broker.tokens import Ref
from metabroker.policy import Request
from metabroker.store import Accepted, Store, Transaction
from metabroker.store.rows import ClusterNames

from .clients import Door, Task, work
from .daemons import SCRIPT, Loaded, loaded, occupied, small

Json = dict[str, Any]
FEW = 1000
_CLUSTERS = 20
_DAY = 86400.0
_SPAN, KEEP = 500 * _DAY, 400  # so a fifth of the ended jobs is over its time
_TOLD = ("submitted", "placed", "started", "component ended", "ended")
_SUBMISSIONS, _PAUSE = 30, 1.0  # of a round, and seconds after it
_LIST = 100_000


def history(ended: int, waiting: int) -> Json:
    """The same with a thousand ended jobs, and with `ended`."""
    return {"few": _measured(FEW, waiting), "many": _measured(ended, waiting)}


def fill(path: Path, ended: int, waiting: int) -> None:
    """A store of so many jobs. The first thousand are written by the broker's own code, the others
    are copies of their rows."""
    fill_store(path, waiting)
    store = Store(f"sqlite:///{path}")
    names = ClusterNames([f"c{index:02d}" for index in range(_CLUSTERS)])
    first, now = waiting + 1, time.time()
    jobs, parts, told = [], [], []
    for number in range(first, first + FEW):
        ends = now - _SPAN + _SPAN * (number - first) / FEW
        jobs.append(_job(number, ends))
        part = Component(Ref(number, 1, 0), number % _CLUSTERS, 1, False, phase=Phase.GONE)
        part.started, part.start_time, part.end_time, part.exit_code = True, ends - 60, ends, 0
        parts.append(part)
        told += [OutboxEntry(ends - 60, number, 1, what, {"cluster": "c01"}) for what in _TOLD]
    spec = {"chdir": "/tmp", "environment": {"PATH": "/usr/bin:/bin"}}
    scripts = [Accepted(job.id, job.user, None, SCRIPT.encode(), spec) for job in jobs]
    store.commit(Transaction(Ready(jobs, parts, told, []), scripts), names)
    store.close()
    _multiply(path, first, ended)


def _job(number: int, ends: float) -> Job:
    return Job(
        id=number,
        user=f"user{number % 50}",
        name="bench",
        request=Request((1,)),
        time_limit=600,
        submit_time=ends - 120,
        queue=_CLUSTERS,
        state=JobState.COMPLETED,
        attempt=1,
        start_time=ends - 60,
        end_time=ends,
        exit_code=0,
    )


def _multiply(path: Path, first: int, ended: int) -> None:
    """Copies of the rows from job `first` on, until there are so many jobs."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        there = FEW
        while there < ended:
            more = min(there, ended - there)
            for table, key in (("jobs", "id"), ("components", "job"), ("scripts", "job")):
                names = _columns(connection, table)
                copied = [f"{key} + {there}" if name == key else f'"{name}"' for name in names]
                connection.execute(text(_copy(table, names, copied, key, first, more)))
            names = [name for name in _columns(connection, "events") if name != "id"]
            copied = [f"job + {there}" if name == "job" else name for name in names]
            connection.execute(text(_copy("events", names, copied, "job", first, more)))
            there += more
    engine.dispose()


def _columns(connection: Any, table: str) -> list[str]:
    return [row[1] for row in connection.execute(text(f"pragma table_info({table})"))]


def _copy(table: str, names: list[str], copied: list[str], key: str, first: int, more: int) -> str:
    into = ", ".join(f'"{name}"' for name in names)
    return (
        f"insert into {table} ({into}) select {', '.join(copied)} from {table} "
        f"where {key} >= {first} and {key} < {first + more}"
    )


def _measured(ended: int, waiting: int) -> Json:
    kept = {"keep": None, "events": None, "scripts": None}
    with loaded(small(_CLUSTERS), history=kept) as where:
        federation = where.federation
        _stop(federation.daemon)
        path = federation.folder / "metabroker.db"
        path.unlink()
        fill(path, ended, waiting)
        found: Json = {"ended": ended, "waiting": waiting}
        for part in (_read, _removed):
            began = time.monotonic()
            daemon = start(federation.folder / "metabroker.yaml", federation.folder)
            try:
                await_clusters(federation.client, 300.0)
                found |= part(where, daemon.pid, time.monotonic() - began)
            finally:
                _stop(daemon)
            config = federation.folder / "metabroker.yaml"
            config.write_text(config.read_text().replace('"keep": null', f'"keep": "{KEEP}d"'))
        return found


def _stop(daemon: Any) -> None:
    daemon.terminate()
    daemon.wait(60)


def _read(where: Loaded, pid: int, started: float) -> Json:
    client = Client(where.socket, timeout=300.0)
    cpu = spent(pid).own
    memory = _settled(pid)
    newest = [job["job"] for job in client.get("history", limit=100)["jobs"]]
    return {
        "started_in": started,
        "start_cpu": cpu,
        "memory": memory,
        "history_of_100": _median(lambda: client.get("history", limit=100)),
        "history_of_one_user": _median(lambda: client.get("history", limit=100, user="user7")),
        "show": _median(lambda: client.get(f"jobs/{newest[50]}")),
        "listed": _listed(where.socket, _LIST),
        "listed_all": _listed(where.socket, "all"),
        "memory_after": resident(pid),
    }


def _settled(pid: int) -> float:
    """The memory in MB, once what is worked out after the start (when jobs begin) is there."""
    found = [resident(pid)]
    while len(found) < 60 and (len(found) < 5 or found[-1] - found[-5] > 0.5):
        time.sleep(1.0)
        found.append(resident(pid))
    return found[-1]


def _listed(socket: str, limit: object) -> Json:
    """All pages of a list: jobs, seconds, and the longest time that the core let somebody wait."""
    client = Client(socket, timeout=300.0)
    with _Probe(socket) as probe:
        began = time.monotonic()
        jobs = sum(len(answer["jobs"]) for answer in client.history(limit=limit, page=1000))
        return {"jobs": jobs, "seconds": time.monotonic() - began, "core": probe.longest}


def _removed(where: Loaded, pid: int, _started: float) -> Json:
    """Submissions now and then as long as the retention's run takes, and as many after it."""
    client = Client(where.socket, timeout=300.0)
    occupied(where)
    rounds: list[float] = []
    count = 0
    with _Probe(where.socket) as probe:
        while not _begun(client):
            time.sleep(0.1)
        before, began = Metrics(where.metrics), time.monotonic()
        while not count or client.get("status")["history"]["last_run"] is None:
            count += 1
            rounds += _submissions(where, f"beside-{count}")
    seconds, memory = time.monotonic() - began, resident(pid)
    told = client.get("status")["history"]
    commits = between(before, Metrics(where.metrics), "metabroker_store_commit_seconds")
    with _Probe(where.socket) as later:
        alone = [s for n in range(min(count, 30)) for s in _submissions(where, f"alone-{n}")]
    return {
        "removed": told["removed"]["job"],
        "trouble": told["trouble"],
        "seconds": seconds,
        "core": probe.longest,
        "core_alone": later.longest,
        "commit_below": commits.below(1.0) if commits.count else 0.0,
        "alone": _quantiles(alone),
        "beside": _quantiles(rounds),
        "memory_then": memory,
    }


def _begun(client: Client) -> bool:
    told = client.get("status")["history"]
    return bool(told["removed"]["job"] or told["last_run"])


def _submissions(where: Loaded, name: str) -> list[float]:
    """Of one client, and a pause: how long each took."""
    wires = [where.wire(f"{name}-{n}") for n in range(_SUBMISSIONS)]
    seconds = work(Task(Door(where.socket), wires)).seconds
    time.sleep(_PAUSE)
    return seconds


def _quantiles(seconds: list[float]) -> Json:
    return {"median": statistics.median(seconds), "p99": quantile(seconds, 0.99)}


def _median(call: Any) -> float:
    seconds = []
    for _ in range(10):
        began = time.monotonic()
        call()
        seconds.append(time.monotonic() - began)
    return statistics.median(seconds)


class _Probe:
    """Asks the core something now and then; `longest`: the most seconds that an answer took. A
    process of its own: a thread would wait for the list's reader to decode a page."""

    def __init__(self, socket: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._over, begun, self._longest = context.Event(), context.Event(), context.Value("d", 0.0)
        arguments = (socket, begun, self._over, self._longest)
        self._process = context.Process(target=_ask, args=arguments, daemon=True)
        self._process.start()
        begun.wait(60)

    @property
    def longest(self) -> float:
        return float(self._longest.value)

    def __enter__(self) -> _Probe:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._process.join()


def _ask(socket: str, begun: Event, over: Event, longest: Any) -> None:
    client = Client(socket, timeout=300.0)
    begun.set()
    while not over.wait(0.05):
        began = time.monotonic()
        client.get("clusters")
        longest.value = max(longest.value, time.monotonic() - began)
