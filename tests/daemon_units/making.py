"""Engines, services and submissions for tests."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from metabroker.api.service import Json, ServiceError
from metabroker.broker.core import Broker
from metabroker.broker.events import Observed
from metabroker.broker.observation import Snapshot
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.clusters.simulated import SimulatedCluster, SimulatedOptions, processes
from metabroker.policy import Limits, make, worst_fit
from metabroker.runtime.asked import AskToSubmit
from metabroker.runtime.clock import Clock
from metabroker.runtime.engine import Engine
from metabroker.runtime.executor import ClusterExecutor
from metabroker.runtime.loop import Loop
from metabroker.runtime.requests import RequestBuilder, spec_of
from metabroker.service.authorization import Authorization
from metabroker.service.service import DaemonService
from metabroker.store import Store, StoreUnavailable, Transaction
from metabroker.store.database import Guard
from metabroker.store.rows import ClusterNames
from metabroker.submission.model import Caller, Processors, Submission
from tests.api.asking import Asking

SIZES = {"delft": 64, "leiden": 32}
ANNA = Caller(1001, "anna")


class Failing(Store):
    """The real store, whose disk can be taken away: `down` for writing, `blind` for reading."""

    def __init__(self, url: str = "sqlite://") -> None:
        self.down = ""
        self.blind = ""
        self.goes_blind = False  # after its next transaction
        self._writing = False
        super().__init__(url, migrate=False, clock=lambda _connection: time.time())

    def commit(self, batch: Transaction, names: ClusterNames) -> None:
        """Write, unless it is down; `after`: it was written, but that was not heard."""
        self._writing = True
        try:
            if self.down == "after":
                super().commit(batch, names)
            if self.down:
                raise StoreUnavailable("disk full")
            super().commit(batch, names)
        finally:
            self._writing = False
        self.blind = self.blind or ("yes" if self.goes_blind else "")

    def _guarded(self, uses: Guard) -> Guard:
        @contextmanager
        def seen() -> Iterator[None]:
            if self.blind and not self._writing:
                raise StoreUnavailable("cannot be read")
            with uses():
                yield

        return seen


def settings(store: Store, sizes: Mapping[str, int] = SIZES) -> Settings:
    """The core's settings over these clusters."""
    made = tuple(ClusterSettings(name, processors=size) for name, size in sizes.items())
    return Settings(store.instance, made)


def engine(
    store: Store, sizes: Mapping[str, int] = SIZES, policy: str = "GS", **given: Any
) -> Engine:
    """An engine over a store."""
    made = settings(store, sizes)
    broker = Broker(made, make(policy, len(made.clusters)))
    return Engine(broker, store, ClusterNames(list(sizes)), Limits(), worst_fit, **given)


def looked(cluster: int, at: float, processors: int = 64) -> Observed:
    """A look at an idle cluster."""
    return Observed(cluster, Snapshot(at, processors, processors, 0, version="v1"))


def submission(folder: str = "/home/anna", **given: Any) -> Submission:
    """A submission of 4 processors."""
    plain: dict[str, Any] = {
        "script": b"#!/bin/sh\necho hello\n",
        "script_name": "script.sh",
        "processors": Processors(single=4),
        "chdir": folder,
    }
    return Submission(**(plain | given))


class Answers:
    """Whom the engine answers: what was said, in order."""

    def __init__(self) -> None:
        self.said: list[tuple[str, int | Exception]] = []

    def to(self, name: str) -> Callable[[int | Exception], None]:
        """An answer under a name."""
        return lambda outcome: self.said.append((name, outcome))

    def jobs(self) -> dict[str, int | Exception]:
        """What each was told."""
        return dict(self.said)


def ask(answer: Callable[[int | Exception], None], user: str = "anna", **given: Any) -> AskToSubmit:
    """A user submits."""
    wanted = submission(**given)
    return AskToSubmit(wanted, user, None, 600, spec_of(wanted), answer)


def refused(what: Callable[[], Any]) -> ServiceError:
    """Why it was refused, at once or later; what to do is told with it."""
    with pytest.raises(ServiceError) as caught:
        done = what()
        if isinstance(done, Future):
            done.result(timeout=20)
    assert caught.value.message and caught.value.advice
    return caught.value


class House:
    """Service, loop and executors over two simulated clusters, without API and clock ticks."""

    def __init__(self, folder: Path, **rules: Any) -> None:
        self.folder = folder
        self.store = Failing(f"sqlite:///{folder}/metabroker.db")
        self.clock = Clock()
        made = settings(self.store)
        self.written: list[Any] = []
        self.engine = engine(self.store, written=self._written)
        self.executors: list[ClusterExecutor] = []
        for index, (name, size) in enumerate(SIZES.items()):
            options = SimulatedOptions(name, self.store.instance, size, folder / name)
            builder = RequestBuilder(self.store, made, name)
            self.executors.append(
                ClusterExecutor(
                    index,
                    SimulatedCluster(options),
                    builder,
                    self._post,
                    workers=2,
                    clock=self.clock,
                )
            )
        self.loop = Loop(self.engine, self.executors, self.clock)
        self.rules = Authorization(
            **{
                "policy": "GS",
                "default_time": 600,
                "max_time": 3600,
                "admins": ("root-like",),
                "submitters": ("anna", "bob"),
                "homes": {},
                "shared_everywhere": True,
                **rules,
            }
        )
        self.service = DaemonService(self.loop, self.store, self.executors, self.rules, self.clock)
        self.api = Asking(self.service)
        self.loop.start()
        self.look()

    def _post(self, event: Any) -> None:
        self.loop.post(event)

    def _written(self, ready: Any) -> None:
        if hasattr(self, "service"):
            self.service.written(ready)

    def look(self) -> None:
        """Look at all clusters."""
        for executor in self.executors:
            executor.observe()
        self.loop.ask(lambda: None)

    def submit(self, **given: Any) -> Json:
        """Anna submits, and is answered."""
        return self.answer(self.api.submit(ANNA, submission(str(self.folder), **given)))

    def answer(self, future: Future[Json]) -> Json:
        """What was promised."""
        return future.result(timeout=20)

    def ended(self, job: int) -> Json:
        """The job's object once it has ended."""
        return self.answer(self.api.ended_future(job))

    def close(self) -> None:
        """Stop all of it."""
        self.loop.stop()
        for executor in self.executors:
            executor.close()
        self.service.close()
        self.store.close()
        self._end_jobs()

    def _end_jobs(self) -> None:
        """Jobs of a simulated cluster outlive their daemon, but not a test."""
        for script in self.folder.glob("*.jobs/*.sh"):
            process = processes.find(script)
            if process is not None:
                process.signal(signal.SIGKILL)
