"""A simulated cluster in real time, with its state in a file: a restart finds it as it was."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from metabroker.about import about
from metabroker.broker.observation import Snapshot
from metabroker.clusters.gate import wrapper
from metabroker.clusters.gated import GatedCluster
from metabroker.clusters.operation import Operation, Pause
from metabroker.clusters.port import (
    CleanRequest,
    CleanupResult,
    ComponentRecord,
    ComponentRequest,
    NativeSubmission,
    ReserveRequest,
    UnknownOutcome,
)
from metabroker.clusters.transports.local import LocalTransport

from . import adapter, processes
from .actor import Actor
from .model import CAUSES, Denied, Model, SimulatedJob, State
from .processes import Process

log = logging.getLogger(__name__)

_TICK = 0.02  # seconds between two looks at running jobs
_PATIENCE = 250  # ticks that `clean` waits for a job to end before it says "not yet"
RUN_TIME = "METABROKER_RUN_TIME"


@dataclass(frozen=True, slots=True)
class SimulatedOptions:
    """`run`: scripts really run, as local processes; else a job takes as many seconds as
    METABROKER_RUN_TIME in its environment says, or its whole time limit."""

    name: str
    instance: str
    processors: int
    state: Path
    run: bool = True


class SimulatedCluster(GatedCluster):
    """One simulated cluster (see `metabroker.clusters.port.Cluster`)."""

    def __init__(self, options: SimulatedOptions) -> None:
        super().__init__(LocalTransport({}))  # a model is asked without commands
        self._options = options
        self._prefix = f"mb-{options.instance}-"
        self._model = Model(options.processors)
        self._actors: dict[int, Actor] = {}
        self._lock = threading.Condition()
        self._closed = False
        self._inherited: frozenset[int] = frozenset()
        self._folder = options.state.with_suffix(".jobs")
        self._load()
        self._thread = threading.Thread(target=self._live, name=f"{options.name}-sim", daemon=True)
        self._thread.start()

    # --- the port -----------------------------------------------------------------------------

    def observe(self, now: float) -> Operation[Snapshot]:
        """Look at the model."""
        yield from ()
        with self._lock:
            return adapter.observe(self._model, now, self._prefix)

    def reserve(self, order: ReserveRequest) -> Operation[None]:
        """Make the reservation."""
        yield from ()
        with self._lock:
            adapter.reserve(self._model, order, time.time())
            self._save()

    def submit(self, order: ComponentRequest) -> Operation[NativeSubmission]:
        """Lay out the gate, queue the job."""
        yield from ()
        self._gates.prepare(order)
        with self._lock:
            job = adapter.submit(self._model, order, time.time(), self._extra(order))
            if self._options.run:
                self._script(job).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._script(job).write_bytes(wrapper(order, self._options.name))
            self._save()
            self._lock.notify()
            return NativeSubmission(str(job.id), job.submit_time)

    def clean(self, order: CleanRequest) -> Operation[CleanupResult]:
        """Fence, cancel, delete."""
        fenced = self._gates.shut(order)
        for _ in range(_PATIENCE):
            with self._lock:
                jobs = self._model.named(order.token)
                alive = [job for job in jobs if not job.state.ended]
                for job in alive:
                    self._cancel(job, State.CANCELLED)
                if not alive and self._unreserved(order.token):
                    self._save()
                    cause = CAUSES.get(jobs[0].state) if jobs else None
                    return self._gates.remains(order.gate, cause)
            yield Pause(_TICK)
        raise UnknownOutcome(f"{order.token}: not gone yet", fenced=fenced)

    def check_native(self, options: tuple[str, ...]) -> str | None:
        """A simulated cluster has no submit command of its own."""
        return f"{self._options.name} is simulated and takes no options of its own"

    def close(self) -> None:
        """Stop looking; running processes go on."""
        with self._lock:
            self._closed = True
            self._lock.notify()
        self._thread.join(timeout=5)

    # --- living -------------------------------------------------------------------------------

    def _live(self) -> None:
        while True:
            with self._lock:
                if self._closed:
                    return
                try:
                    self._step(time.time())
                except Exception:  # whatever it is, the cluster must go on living
                    log.exception(
                        "%s: simulated cluster",
                        self._options.name,
                        extra=about(cluster=self._options.name),
                    )
                active = any(not job.state.ended for job in self._model.jobs.values())
                self._lock.wait(_TICK if active else 1.0)

    def _step(self, now: float) -> None:
        changed = False
        for job in self._model.advance(now):
            self._start(job, now)
            changed = True
        for job in self._model.overdue(now):
            self._cancel(job, State.TIMEOUT)
        processes.reap()
        for job in [j for j in self._model.jobs.values() if j.state is State.RUNNING]:
            changed = self._follow(job, now) or changed
        if changed:
            self._save()

    def _start(self, job: SimulatedJob, now: float) -> None:
        extra = job.extra
        if not self._options.run:
            self._actors[job.id] = self._actor(job, now)
            return
        try:
            process = self._left_running(job) or processes.start(
                self._script(job),
                cwd=extra["chdir"],
                output=extra["output"],
                error=extra["error"],
                env={"METABROKER_SIMULATED": self._options.name},
            )
        except OSError as error:
            log.warning("%s: job %d cannot start: %s", self._options.name, job.id, error)
            self._model.end(job, State.FAILED, now, 1)
        else:
            extra["process"] = asdict(process)

    def _left_running(self, job: SimulatedJob) -> Process | None:
        """The process of a job that was started just before the daemon died."""
        return processes.find(self._script(job)) if job.id in self._inherited else None

    def _follow(self, job: SimulatedJob, now: float) -> bool:
        """Has a running job ended?"""
        asked = job.extra.get("ending")
        if self._options.run:
            process = Process(**job.extra["process"])
            if process.alive():
                if asked is not None:
                    processes.end(process, job.extra["ending_since"], now)
                return False
            self._script(job).unlink(missing_ok=True)
            code = self._gates.remains(job.extra["gate"], None).exit_code
        else:
            actor = self._actors.get(job.id) or self._actor(job, now)
            self._actors[job.id] = actor
            if asked is None:
                actor.step(self._transport.files, now)
                if actor.over is None:
                    return False
            del self._actors[job.id]
            code = actor.over
        if asked is not None:
            self._model.end(job, State(asked), now, code)
        else:
            state = State.COMPLETED if code == 0 else State.FAILED
            self._model.end(job, state, now, code)
        return True

    def _cancel(self, job: SimulatedJob, state: State) -> None:
        if job.state is State.PENDING:
            self._model.end(job, state, time.time())
        elif "ending" not in job.extra:
            job.extra |= {"ending": state.value, "ending_since": time.time()}

    def _unreserved(self, token: str) -> bool:
        try:
            self._model.unreserve(token)
        except Denied:
            return False
        return True

    def _actor(self, job: SimulatedJob, now: float) -> Actor:
        extra = job.extra
        actor = Actor(
            gate=extra["gate"],
            host=self._options.name,
            started_at=job.start_time or now,
            patience=extra["patience"],
            run_time=extra["run_time"],
        )
        marks = self._gates.look([actor.gate]).get(actor.gate, ComponentRecord())
        since = marks.started or (now if marks.begun else None)
        actor.arrived, actor.running_since = marks.arrived, since
        return actor

    def _extra(self, order: ComponentRequest) -> dict[str, object]:
        asked = order.environment.get(RUN_TIME, "")
        return {
            "gate": order.gate,
            "chdir": order.chdir,
            "output": order.output,
            "error": order.error,
            "patience": order.barrier_seconds,
            "run_time": float(asked) if asked.isdigit() else float(order.seconds),
        }

    # --- the state file -----------------------------------------------------------------------

    def _script(self, job: SimulatedJob) -> Path:
        return self._folder / f"{job.id}.sh"

    def _load(self) -> None:
        self._options.state.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._model.from_json(json.loads(self._options.state.read_text()))
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError) as error:
            # As after a power cut: a simulated cluster then starts empty, like a real one that
            # has lost its state.
            log.warning("%s: cannot read %s: %s", self._options.name, self._options.state, error)
            self._model = Model(self._options.processors)
        self._inherited = frozenset(self._model.jobs)

    def _save(self) -> None:
        temporary = self._options.state.with_suffix(".new")
        temporary.write_text(json.dumps(self._model.to_json()))
        os.replace(temporary, self._options.state)
