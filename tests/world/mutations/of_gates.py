"""Mistakes at the gates: components that start twice, too early, or not at all."""

from __future__ import annotations

import contextlib
from typing import Any

from metabroker.broker.job import Job
from metabroker.broker.saga.barrier import Barrier
from metabroker.broker.states import Phase
from metabroker.clusters.gate import gates

from .planting import mutation, swap


@mutation
def twin_not_stopped_at_the_gate(stack: contextlib.ExitStack) -> None:
    """The component's job does not mind whether its gate has been passed already."""
    from metabroker.clusters.simulated import actor

    def come(self: Any, files: Any, now: float) -> None:
        names = {entry.name for entry in files.list(self.gate) or ()}
        if self.patience is not None and not names & {"go", "run"} and not self._wait(files, now):
            return
        if not names & {"go", "run"}:
            self.over = 75
            return
        files.rename(self._at(gates.Position.GO), self._at(gates.Position.RUN))
        files.write(f"{self.gate}/started", b"h\n")
        self.running_since = now

    swap(stack, actor.Actor, "_come_to_gate", come)


@mutation
def barrier_opened_early(stack: contextlib.ExitStack) -> None:
    """The barrier opens when all components but one have arrived."""

    def advance(self: Any, job: Job, now: float) -> None:
        here = [c for c in job.components if c.reached(Phase.ARRIVED)]
        if len(job.components) > 1 and len(here) == len(job.components) - 1:
            for component in job.components:
                component.advance(Phase.ARMED)
            self.open(job, now)
            return
        old(self, job, now)

    def open_(self: Any, gate: str, peers: Any) -> None:
        for position in (gates.Position.WAIT, gates.Position.ARMED):
            self._move(gate, position, gates.Position.GO)

    old = swap(stack, Barrier, "advance", advance)
    swap(stack, gates.Gates, "open", open_)


@mutation
def not_armed(stack: contextlib.ExitStack) -> None:
    """The barrier is opened without making sure that nobody gives up meanwhile."""

    def arm(self: Any, gate: str) -> None:
        return None

    def open_(self: Any, gate: str, peers: Any) -> None:
        self._move(gate, gates.Position.WAIT, gates.Position.GO)

    swap(stack, gates.Gates, "arm", arm)
    swap(stack, gates.Gates, "ready", lambda self, gate: True)
    swap(stack, gates.Gates, "open", open_)


@mutation
def never_ready(stack: contextlib.ExitStack) -> None:
    """The broker waits for an answer at the barrier that no component gives."""
    swap(stack, gates.Gates, "ready", lambda self, gate: False)


@mutation
def answer_not_awaited(stack: contextlib.ExitStack) -> None:
    """Who has arrived at the barrier is taken for alive when it opens."""
    swap(stack, gates.Gates, "ready", lambda self, gate: True)


@mutation
def gate_not_fenced(stack: contextlib.ExitStack) -> None:
    """Cleaning does not shut the gate first, and says that it is shut."""
    swap(stack, gates.Gates, "shut", lambda self, order: True)


@mutation
def record_removed_with_the_gate(stack: contextlib.ExitStack) -> None:
    """The component's record is removed while cleaning, before what it says is durable."""

    def remains(self: Any, gate: str | None, cause: Any) -> Any:
        found = old(self, gate, cause)
        if gate is not None:
            self.remove(gate)
        return found

    old = swap(stack, gates.Gates, "remains", remains)
