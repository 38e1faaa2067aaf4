"""Commands of PBS's at a pace that leaves ports to others; see `ports`."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from metabroker.clusters.operation import Operation, Pause, command
from metabroker.clusters.transports.base import Command, Completed

from .commands import show_clients_file
from .ports import PortBudget, PortUse

R = TypeVar("R")
_PORTLESS = frozenset({"sh", "date", "sudo"})
_MOST = 5.0  # seconds of one pause: somebody else may have used less than was thought


class HostPorts:
    """The budget of one host, for all of the broker's threads."""

    def __init__(
        self, budget: PortBudget | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._budget = budget or PortBudget()
        self._clock = clock
        self._lock = threading.Lock()

    def take(self, use: PortUse, ports: int) -> float:
        """See `PortBudget.take`."""
        with self._lock:
            return self._budget.take(use, ports, self._clock())

    @property
    def now(self) -> float:
        """By the clock that the budget goes by."""
        return self._clock()


class PbsPace:
    """The pace of one server's commands. Where its clients do not prove who asks by a port, which
    their configuration says, there is none."""

    def __init__(self, ports: HostPorts) -> None:
        self._ports = ports
        self._needed: bool | None = None

    @property
    def now(self) -> float:
        """By a clock that never goes back, in seconds."""
        return self._ports.now

    def looking(self, ports: int) -> Operation[float]:
        """Wait until a poll of so many commands may be begun; answers for how many seconds."""
        if self._needed is None:
            self._needed = yield from _uses_ports()
        if not self._needed:
            return 0.0
        return (yield from self._wait(PortUse.LOOK, ports))

    def working(self, operation: Operation[R]) -> Operation[R]:
        """The operation, each of its commands as soon as there is a port for it."""
        if self._needed is False:
            return (yield from operation)
        answer: Completed | None = None
        error: Exception | None = None
        try:
            while True:
                step = operation.send(answer) if error is None else operation.throw(error)
                answer, error = None, None
                if isinstance(step, Command) and step.argv[0] not in _PORTLESS:
                    yield from self._wait(PortUse.WORK, 1)
                try:
                    answer = yield step
                except Exception as lost:
                    error = lost
        except StopIteration as end:
            result: R = end.value
            return result

    def _wait(self, use: PortUse, ports: int) -> Operation[float]:
        began: float | None = None
        while (left := self._ports.take(use, ports)) > 0:
            began = self._ports.now if began is None else began
            yield Pause(min(left, _MOST))
        return 0.0 if began is None else self._ports.now - began


def _uses_ports() -> Operation[bool]:
    """Whether the clients prove who asks by a port: unless they do so in another way (munge)."""
    said = yield from command(show_clients_file())
    method = re.search(r"^\s*PBS_AUTH_METHOD=[\"']?(\w+)", said.stdout, re.MULTILINE)
    return method is None or method[1].lower() == "resvport"
