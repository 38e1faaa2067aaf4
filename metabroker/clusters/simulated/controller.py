"""What lives in a simulated cluster: it starts and ends jobs, and writes its state into a file.

It is to a simulated cluster what the controller and the node daemons are to a real one. All but
`close` is called with `lock` held.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from metabroker.about import about
from metabroker.clusters.gate import Gates
from metabroker.clusters.port import ComponentRecord
from metabroker.clusters.transports.base import Files

from . import processes
from .actor import Actor
from .model import Denied, Model, SimulatedJob, State
from .processes import Process

log = logging.getLogger(__name__)

TICK = 0.02
"""Seconds between two looks at running jobs."""


@dataclass(frozen=True, slots=True)
class SimulatedOptions:
    """`run`: scripts really run, as local processes; else a job takes as many seconds as
    METABROKER_RUN_TIME in its environment says, or its whole time limit. `node`: processors of a
    node (1: nothing is known of nodes); `sole`: jobs are given whole nodes."""

    name: str
    instance: str
    processors: int
    state: Path
    run: bool = True
    node: int = 1
    sole: bool = False
    reserves_nodes: bool = False


class Controller:
    """The life of one simulated cluster, in a thread of its own. `lock` guards `model`."""

    def __init__(self, options: SimulatedOptions, gates: Gates, files: Files) -> None:
        self.lock = threading.Condition()
        self._options = options
        self.model = self._empty()
        self._gates = gates
        self._files = files
        self._actors: dict[int, Actor] = {}
        self._closed = False
        self._inherited: frozenset[int] = frozenset()
        self.folder = f"{options.state.name}.jobs"
        """Where scripts are, beside the state: its whole name, since another cluster's may differ
        from it in what is behind the last point alone."""
        self._load()
        self._thread = threading.Thread(target=self._live, name=f"{options.name}-sim", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop looking; running processes go on."""
        with self.lock:
            self._closed = True
            self.lock.notify()
        self._thread.join(timeout=5)

    def _live(self) -> None:
        while True:
            with self.lock:
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
                active = any(not job.state.ended for job in self.model.jobs.values())
                self.lock.wait(TICK if active else 1.0)

    def _step(self, now: float) -> None:
        changed = False
        for job in self.model.advance(now):
            self._start(job, now)
            changed = True
        for job in self.model.overdue(now):
            self.cancel(job, State.TIMEOUT)
        processes.reap()
        for job in [j for j in self.model.jobs.values() if j.state is State.RUNNING]:
            changed = self._follow(job, now) or changed
        if changed:
            self.save()

    def _start(self, job: SimulatedJob, now: float) -> None:
        extra = job.extra
        if not self._options.run:
            self._actors[job.id] = self._actor(job, now)
            return
        try:
            process = self._left_running(job) or processes.start(
                self.script(job),
                cwd=extra["chdir"],
                output=extra["output"],
                error=extra["error"],
                env={"METABROKER_SIMULATED": self._options.name},
            )
        except OSError as error:
            log.warning("%s: job %d cannot start: %s", self._options.name, job.id, error)
            self.model.end(job, State.FAILED, now, 1)
        else:
            extra["process"] = asdict(process)

    def _left_running(self, job: SimulatedJob) -> Process | None:
        """The process of a job that was started just before the daemon died."""
        return processes.find(self.script(job)) if job.id in self._inherited else None

    def _follow(self, job: SimulatedJob, now: float) -> bool:
        """Has a running job ended?"""
        asked = job.extra.get("ending")
        if self._options.run:
            process = Process(**job.extra["process"])
            if process.alive():
                if asked is not None:
                    processes.end(process, job.extra["ending_since"], now)
                return False
            self.script(job).unlink(missing_ok=True)
            code = self._gates.remains(job.extra["gate"], None).exit_code
        else:
            actor = self._actors.get(job.id) or self._actor(job, now)
            self._actors[job.id] = actor
            if asked is None:
                actor.step(self._files, now)
                if actor.over is None:
                    return False
            del self._actors[job.id]
            code = actor.over
        if asked is not None:
            self.model.end(job, State(asked), now, code)
        else:
            state = State.COMPLETED if code == 0 else State.FAILED
            self.model.end(job, state, now, code)
        return True

    def cancel(self, job: SimulatedJob, state: State) -> None:
        """Have the job end in this state."""
        if job.state is State.PENDING:
            self.model.end(job, state, time.time())
        elif "ending" not in job.extra:
            job.extra |= {"ending": state.value, "ending_since": time.time()}

    def unreserved(self, token: str) -> bool:
        """Delete the reservation, if there is one; False: it is in use."""
        try:
            self.model.unreserve(token)
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

    # --- the state file -----------------------------------------------------------------------

    def script(self, job: SimulatedJob) -> Path:
        """The script that its process runs."""
        state = self._options.state
        before = state.with_suffix(".jobs").name  # of a job that an older release has taken
        return state.with_name(job.extra.get("folder", before)) / f"{job.id}.sh"

    def _load(self) -> None:
        self._options.state.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self.model.from_json(json.loads(self._options.state.read_text()))
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError) as error:
            # As after a power cut: a simulated cluster then starts empty, like a real one that
            # has lost its state.
            log.warning("%s: cannot read %s: %s", self._options.name, self._options.state, error)
            self.model = self._empty()
        self._inherited = frozenset(self.model.jobs)

    def _empty(self) -> Model:
        it = self._options
        return Model(it.processors, node=it.node, sole=it.sole, reserves_nodes=it.reserves_nodes)

    def save(self) -> None:
        """Write the model down."""
        temporary = self._options.state.with_name(f"{self._options.state.name}.new")
        temporary.write_text(json.dumps(self.model.to_json()))
        os.replace(temporary, self._options.state)
