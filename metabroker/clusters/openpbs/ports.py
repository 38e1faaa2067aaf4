"""A budget of privileged ports, for all PBS servers that one host asks.

Each command of PBS's proves who asks from a port below 1024 (`pbs_iff`), and that port cannot be
used again for a minute. A host has some 500 of them, for everybody: where they run out, commands
hang, other users' too. So the broker uses a part of them only. Polls of the servers have a share
that nothing else takes from them; beyond it they wait for what jobs need.
"""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from metabroker.clusters.operation import Operation, Pause, command
from metabroker.clusters.transports.base import Command, Completed

from .commands import questions, show_clients_file

R = TypeVar("R")
KEPT = 60.0
"""Seconds for which a port is not free again (TIME_WAIT)."""
_MARGIN = 1.0  # seconds: a command ends a little after it was begun
_MOST = 5.0  # seconds of one pause: somebody else may have used less than was thought
_LEAST = 0.05  # seconds: nobody asks more often


class PortUse(Enum):
    """What a port is used for."""

    LOOK = "look"  # at a cluster; it can be later, and rarer
    WORK = "work"  # reserving, submitting, cancelling, cleaning


@dataclass(frozen=True, slots=True)
class PortLimits:
    """Ports in use at a time: `most` by the broker in all; `looks`, which only looks may use;
    and so many for `work` that looks never take."""

    most: int = 300
    looks: int = 96
    work: int = 128


class PortBudget:
    """When commands were begun in the last minute, and when the next one may be. Pure: the caller
    tells the time, in seconds of a clock that never goes back, and sees to one call at a time."""

    def __init__(self, shares: PortLimits | None = None) -> None:
        self._shares = shares or PortLimits()
        self._used: deque[tuple[float, PortUse]] = deque()
        self._of = dict.fromkeys(PortUse, 0)
        self._last = dict.fromkeys(PortUse, 0.0)

    def take(self, use: PortUse, ports: int, now: float) -> float:
        """Take so many ports, if that may be now: 0.0. Else in how many seconds to ask again, and
        none is used. More than there ever are for this use are taken when none is in use."""
        self._forget(now)
        work = use is PortUse.WORK
        pause = self._pause_of_work(now) if work else self._pause_of_looks(ports, now)
        if pause > 0:
            return max(_LEAST, pause)
        if self._room(use, ports):
            self._last[use] = now
            self._used.extend((now, use) for _ in range(ports))
            self._of[use] += ports
            return 0.0
        return max(_LEAST, self._used[0][0] + KEPT + _MARGIN - now)

    def give_back(self, use: PortUse, ports: int) -> None:
        """So many of those that were taken last for this are not needed; below 0: so many more
        were."""
        if ports < 0 and self._used:
            self._used.extend([(self._used[-1][0], use)] * -ports)
            self._of[use] -= ports
        for at in range(len(self._used) - 1, -1, -1):
            if ports <= 0:
                break
            if self._used[at][1] is use:
                del self._used[at]
                self._of[use] -= 1
                ports -= 1

    @property
    def used(self) -> int:
        """Ports that were in use when it was asked last."""
        return len(self._used)

    def _room(self, use: PortUse, ports: int) -> bool:
        shares, used = self._shares, len(self._used)
        if not self._of[use]:
            return True
        if use is PortUse.LOOK:
            return self._of[use] + ports <= self._most_looks()
        kept = max(0, shares.looks - self._of[PortUse.LOOK])
        return used + ports <= shares.most - kept

    def _pause_of_work(self, now: float) -> float:
        """Half of what is left for work may be used at once. Then commands are spread, the more the
        fewer ports are left, so that who comes next does not wait for a minute."""
        left = self._shares.most - self._shares.looks
        burst = left // 2
        beyond = self._of[PortUse.WORK] - burst
        if beyond <= 0:
            return 0.0
        return self._last[PortUse.WORK] + 2 * KEPT * beyond / (left - burst) ** 2 - now

    def _pause_of_looks(self, ports: int, now: float) -> float:
        """Once a quarter of theirs is used, what is left for looks is spread until the first of
        them is free again: else a server would be polled often for half a minute, and then for as
        long not at all."""
        used, most = self._of[PortUse.LOOK], self._most_looks()
        if not used or used + ports <= most // 4:
            return 0.0
        last = self._last[PortUse.LOOK]
        until = next(begun for begun, use in self._used if use is PortUse.LOOK) + KEPT + _MARGIN
        left = max(0, most - used) // ports
        return last + (until - last) / (left + 1) - now

    def _most_looks(self) -> int:
        """What looks may have: all that is not kept for work, or used by it."""
        shares = self._shares
        return max(shares.looks, shares.most - max(shares.work, self._of[PortUse.WORK]))

    def _forget(self, now: float) -> None:
        while self._used and self._used[0][0] + KEPT + _MARGIN <= now:
            _begun, use = self._used.popleft()
            self._of[use] -= 1


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

    def give_back(self, use: PortUse, ports: int) -> None:
        """See `PortBudget.give_back`."""
        with self._lock:
            self._budget.give_back(use, ports)

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

    def looked(self, spared: int) -> None:
        """A poll that was begun took so many commands fewer than it might have; or more (below
        0), for which the next ones wait."""
        if self._needed:
            self._ports.give_back(PortUse.LOOK, spared)

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
                if isinstance(step, Command) and (ports := questions(step)):
                    yield from self._wait(PortUse.WORK, ports)
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
