"""A simulated cluster in real time, with its state in a file: a restart finds it as it was."""

from __future__ import annotations

import time

from metabroker.broker.observation import Snapshot
from metabroker.clusters.gate import wrapper
from metabroker.clusters.gated import GatedCluster
from metabroker.clusters.operation import Operation, Pause
from metabroker.clusters.port import (
    CleanRequest,
    CleanupResult,
    ComponentRequest,
    NativeSubmission,
    ReserveRequest,
    UnknownOutcome,
)
from metabroker.clusters.transports.local import LocalTransport

from . import adapter
from .controller import TICK, Controller, SimulatedOptions
from .model import CAUSES, State

_PATIENCE = 250  # ticks that `clean` waits for a job to end before it says "not yet"
RUN_TIME = "METABROKER_RUN_TIME"
_MOST_DIGITS = 9  # of it; of anything else it is as if it were not there


class SimulatedCluster(GatedCluster):
    """One simulated cluster (see `metabroker.clusters.port.Cluster`)."""

    def __init__(self, options: SimulatedOptions) -> None:
        super().__init__(LocalTransport({}))  # a model is asked without commands
        self._options = options
        self._prefix = f"mb-{options.instance}-"
        self._controller = Controller(options, self._gates, self.transport.files)

    def observe(self, now: float) -> Operation[Snapshot]:
        """Look at the model."""
        yield from ()
        with self._controller.lock:
            return adapter.observe(self._controller.model, now, self._prefix)

    def reserve(self, request: ReserveRequest) -> Operation[None]:
        """Make the reservation."""
        yield from ()
        with self._controller.lock:
            adapter.reserve(self._controller.model, request, time.time())
            self._controller.save()

    def submit(self, request: ComponentRequest) -> Operation[NativeSubmission]:
        """Lay out the gate, queue the job."""
        yield from ()
        self._gates.prepare(request)
        with self._controller.lock:
            job = adapter.submit(self._controller.model, request, time.time(), self._extra(request))
            if self._options.run:
                self._controller.script(job).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                script = wrapper(request, self._options.name, system="simulated")
                self._controller.script(job).write_bytes(script)
            self._controller.save()
            self._controller.lock.notify()
            return NativeSubmission(str(job.id), job.submit_time)

    def clean(self, request: CleanRequest) -> Operation[CleanupResult]:
        """Fence, cancel, delete."""
        fenced = self._gates.shut(request)
        request.only_if(fenced)
        for _ in range(_PATIENCE):
            with self._controller.lock:
                jobs = self._controller.model.named(request.token)
                alive = [job for job in jobs if not job.state.ended]
                for job in alive:
                    self._controller.cancel(job, State.CANCELLED)
                if not alive and self._controller.unreserved(request.token):
                    self._controller.save()
                    cause = CAUSES.get(jobs[0].state) if jobs else None
                    return self._gates.remains(request.gate, cause)
            yield Pause(TICK)
        raise UnknownOutcome(f"{request.token}: not gone yet", fenced=fenced)

    def check_native(self, options: tuple[str, ...]) -> str | None:
        """A simulated cluster has no submit command of its own."""
        return f"{self._options.name} is simulated and has no native options"

    def close(self) -> None:
        """Stop looking; running processes go on."""
        self._controller.close()

    def _extra(self, request: ComponentRequest) -> dict[str, object]:
        asked = request.environment.get(RUN_TIME, "")
        told = asked.isascii() and asked.isdigit() and len(asked) <= _MOST_DIGITS
        return {
            "gate": request.gate,
            "folder": self._controller.folder,
            "chdir": request.chdir,
            "output": request.output,
            "error": request.error,
            "patience": request.barrier_seconds,
            "run_time": float(asked) if told else float(request.seconds),
        }
