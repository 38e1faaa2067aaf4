"""Many clients at once: processes of threads, each with the real client."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measures import quantile
from metabroker.api.client import Client, ClientError
from metabroker.api.remote import Remote

Json = dict[str, Any]
CLIENTS = 50  # at a time
_PROCESSES = 10
_GIVE_UP = 600.0  # seconds of one submission, all its tries together


@dataclass(frozen=True, slots=True)
class Door:
    """How a client reaches the daemon: by its socket; or, with a token in a file, over TLS."""

    where: str
    token: Path | None = None
    authority: Path | None = None

    def client(self, patience: float) -> Client:
        """A client that comes this way."""
        if self.token is None:
            return Client(Path(self.where), timeout=_GIVE_UP, patience=patience)
        way = Remote(self.where, self.token, self.authority)
        return Client(way, timeout=_GIVE_UP, patience=patience)


@dataclass(frozen=True, slots=True)
class Task:
    """One client's work: these submissions, one after the other."""

    door: Door
    wires: Sequence[Json]
    patient: bool = True  # the client itself comes again when it is told to; else that is counted


@dataclass(slots=True)
class Tally:
    """What became of submissions: the jobs by request id, how long each took, refusals."""

    jobs: dict[str, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    too_often: list[tuple[str, float | None]] = field(default_factory=list)  # and when to come
    refused: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.jobs |= other.jobs
        self.seconds += other.seconds
        self.too_often += other.too_often
        self.refused += other.refused
        self.failed += other.failed

    def figures(self, passed: float) -> Json:
        """Latencies, and how many a second."""
        return {
            "submissions": len(self.seconds),
            "median": statistics.median(self.seconds),
            "p99": quantile(self.seconds, 0.99),
            "largest": max(self.seconds),
            "a_second": len(self.seconds) / passed,
            "failed": len(self.failed),
        }


def all_at_once(tasks: Sequence[Task]) -> tuple[Tally, float]:
    """Tasks, 50 at a time, each by a client of its own; and the seconds that they all took."""
    shares = [list(tasks[number::_PROCESSES]) for number in range(min(_PROCESSES, len(tasks)))]
    tally = Tally()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(shares), mp_context=context) as pool:
        list(pool.map(_ready, range(len(shares))))
        began = time.monotonic()
        for part in pool.map(_together, shares):
            tally.add(part)
    return tally, time.monotonic() - began


def _ready(_number: int) -> None:
    """A process that is there: its start is nobody's latency."""
    time.sleep(0.5)


def _together(tasks: list[Task]) -> Tally:
    tally = Tally()
    with ThreadPoolExecutor(CLIENTS // _PROCESSES) as pool:
        for part in pool.map(work, tasks):
            tally.add(part)
    return tally


def work(task: Task) -> Tally:
    """One client's submissions, one after the other."""
    tally = Tally()
    client = task.door.client(_GIVE_UP if task.patient else 0.0)
    for wire in task.wires:
        began = time.monotonic()
        try:
            job = _submitted(client, wire, tally)
        except ClientError as error:
            told = tally.refused if error.status in (400, 403, 409) else tally.failed
            told.append(str(error))
            continue
        tally.seconds.append(time.monotonic() - began)
        tally.jobs[wire["request_id"]] = job
    return tally


def _submitted(client: Client, wire: Json, tally: Tally) -> int:
    """Acknowledged; whoever is told to come again later does so."""
    give_up = time.monotonic() + _GIVE_UP
    while True:
        try:
            return int(client.submit(wire)["job"])
        except ClientError as error:
            if error.status != 429 or time.monotonic() > give_up:
                raise
            tally.too_often.append((str(error), error.again_after))
            time.sleep(error.again_after or 1.0)
