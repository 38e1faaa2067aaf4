"""Plays a component's job without running anything: the same moves at the same gate as
`wrapper.sh`, in whatever time its owner lives."""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.clusters.gate.positions import Position
from metabroker.clusters.gate.records import ARRIVED, ENDED, READY, STARTED
from metabroker.clusters.transports.base import Files


@dataclass(slots=True)
class Actor:
    """One running job. `patience` is its time at the barrier in seconds (None: no barrier);
    `run_time` how long its script takes, and `exit_code` how that ends."""

    gate: str
    host: str
    started_at: float
    patience: float | None
    run_time: float
    exit_code: int = 0
    arrived: bool = False
    running_since: float | None = None
    over: int | None = None  # the job's exit code once it is over

    def step(self, files: Files, now: float) -> None:
        """Do what is to be done now. What cannot be written down is not; the job goes on."""
        if self.over is None and self.running_since is None:
            self._come_to_gate(files, now)
        since = self.running_since
        if self.over is None and since is not None and now >= since + self.run_time:
            self._write(files, ENDED, f"{self.exit_code} \n")
            self.over = self.exit_code

    def _come_to_gate(self, files: Files, now: float) -> None:
        if self.patience is not None and not self._wait(files, now):
            return
        if files.rename(self._at(Position.GO), self._at(Position.RUN)):
            self._write(files, STARTED, f"{self.host}\n")
            self.running_since = now
        elif self.patience is None:
            self.over = 75

    def _wait(self, files: Files, now: float) -> bool:
        """At the barrier; True once the gate is open."""
        names = {entry.name for entry in files.list(self.gate) or ()}
        if not self.arrived:
            if Position.WAIT.value not in names:
                self.over = 75
                return False
            if not self._write(files, ARRIVED, f"{self.host}\n"):
                self.over = 75
                return False
            self.arrived = True
        if Position.ARMED.value in names and ARRIVED in names:
            files.rename(f"{self.gate}/{ARRIVED}", f"{self.gate}/{READY}")
        if Position.GO.value in names:
            return True
        if names.isdisjoint({Position.WAIT.value, Position.ARMED.value}) or (
            self._out_of_patience(now)
            and files.rename(self._at(Position.WAIT), self._at(Position.ABORT))
        ):
            self.over = 75
        return False

    def _write(self, files: Files, name: str, content: str) -> bool:
        try:
            files.write(f"{self.gate}/{name}", content.encode())
        except OSError:
            return False
        return True

    def _out_of_patience(self, now: float) -> bool:
        return self.patience is not None and now >= self.started_at + self.patience

    def _at(self, position: Position) -> str:
        return f"{self.gate}/{position.value}"
