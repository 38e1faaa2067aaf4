"""What an examination of a cluster finds, check by check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from metabroker.clusters.transports.base import CommandMissing

from .command_errors import answered
from .operation import Operation
from .port import ClusterRefusal, UnknownOutcome

R = TypeVar("R")
_MOST_OFFSET = 2.0  # seconds
FAR = 30 * 86400
"""Seconds ahead of a reservation that is made only to see whether it may be."""
COMMANDS = "install this cluster's client commands, and set `bin` or PATH in `env`"


class CheckOutcome(Enum):
    """Of one check."""

    OK = "ok"
    WARNING = "warning"  # it works, and may not do what one expects
    MISSING = "missing"  # something that is needed


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: what was tried, what came back, and what to do (unless it is ok)."""

    check: str
    outcome: CheckOutcome
    tried: str
    said: str
    advice: str = ""


class CheckResults:
    """Collects them, in the order of the checks."""

    def __init__(self) -> None:
        self.all: list[CheckResult] = []

    def ok(self, check: str, tried: str, said: str) -> None:
        """It is as it should be."""
        self.all.append(CheckResult(check, CheckOutcome.OK, tried, said))

    def warn(self, check: str, tried: str, said: str, advice: str) -> None:
        """It works, but."""
        self.all.append(CheckResult(check, CheckOutcome.WARNING, tried, said, advice))

    def miss(self, check: str, tried: str, said: str, advice: str) -> None:
        """It does not work."""
        self.all.append(CheckResult(check, CheckOutcome.MISSING, tried, said, advice))

    def clock(self, tried: str, offset: float, whose: str) -> None:
        """Whether a clock that tells whole seconds is `offset` seconds ahead of the broker's."""
        if abs(offset) - 0.5 > _MOST_OFFSET:
            said = f"{whose} differs by {offset:+.0f} s"
            self.warn("clock", tried, said, "synchronize the clocks of all hosts by NTP")
        else:
            self.ok("clock", tried, "the same within 2 s")

    def attempt(
        self, check: str, tried: str, operation: Operation[R], advice: str, missing: str = ""
    ) -> Operation[R | None]:
        """The operation's answer; where there is none, that is what was found. `missing`: the
        advice where the command itself is not there."""
        try:
            return (yield from answered(operation))
        except (ClusterRefusal, UnknownOutcome) as trouble:
            absent = isinstance(trouble.__cause__, CommandMissing)
            self.miss(check, tried, trouble.detail, missing if absent and missing else advice)
            return None
