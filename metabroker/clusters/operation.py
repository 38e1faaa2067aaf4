"""Operations without I/O: an adapter says which command comes next, a driver runs it.

An operation is a generator. It yields a `Command` and is sent the `Completed` one, or yields a
`Pause`, or `Now` and is sent the time; what it returns is the result. So every step of an adapter
can be tested from recorded text, and every adapter works over every transport.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from .transports.base import Command, Completed, Transport

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before the next step."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Now:
    """What time is it by the broker's clock?"""


Step = Command | Pause | Now
Operation = Generator[Step, Any, R]


def time_now() -> Operation[float]:
    """The time by the broker's clock, in Unix seconds."""
    now = yield Now()
    assert isinstance(now, float)
    return now


def command(command: Command) -> Generator[Step, Any, Completed]:
    """One command, as a step of an operation (`done = yield from command(...)`)."""
    done = yield command
    assert isinstance(done, Completed)
    return done


def carry_out(
    operation: Operation[R],
    transport: Transport,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> R:
    """Run an operation to its end over a transport. `clock`: the broker's.

    Raises what the operation raises; and `CommandLost` or `CommandMissing`, of a command, unless
    the operation handles it.
    """
    answer: Completed | float | None = None
    error: Exception | None = None
    try:
        while True:
            step = operation.send(answer) if error is None else operation.throw(error)
            answer, error = None, None
            if isinstance(step, Pause):
                sleep(step.seconds)
                continue
            if isinstance(step, Now):
                answer = clock()
                continue
            try:
                answer = transport.run(step)
            except Exception as lost:
                error = lost
    except StopIteration as end:
        result: R = end.value
        return result
