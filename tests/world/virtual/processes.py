"""Processes and their threads: they run, wait, are stopped and killed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Protocol

from greenlet import GreenletExit, getcurrent, greenlet

_PREEMPTED = 0.05  # of the times at which a thread takes a lock


class Moments(Protocol):
    """The world's queue of moments."""

    now: float

    def at(self, time: float, what: Callable[[], None]) -> None:
        """Do something at a moment, in seconds."""


class Process:
    """One process: threads that share a clock, and are stopped and killed together.

    `rate`: seconds of its monotonic clock for one of the world; `ahead`: of its wall clock.
    """

    def __init__(
        self, moments: Moments, rng: random.Random, *, rate: float = 1.0, ahead: float = 0.0
    ) -> None:
        self.moments = moments
        self.rate = rate
        self.ahead = ahead
        self.dead = False
        self.stopped_until = 0.0
        self._put_off: list[Callable[[], None]] = []
        self._rng = rng
        self._hub = getcurrent()
        self._threads: dict[Running, None] = {}

    @property
    def monotonic(self) -> float:
        """Its clock, which goes on while it is stopped."""
        return self.moments.now * self.rate

    @property
    def wall(self) -> float:
        """What it takes for Unix seconds."""
        return self.moments.now + self.ahead

    def at(self, time: float, what: Callable[[], None]) -> None:
        """What it does at a moment: later if it is stopped then, never if it is dead."""

        done = False

        def run() -> None:
            nonlocal done
            if self.dead or done:
                return
            if self.moments.now < self.stopped_until:
                self._put_off.append(run)
                self.moments.at(self.stopped_until, run)
            else:
                done = True
                what()

        self.moments.at(time, run)

    def goes_on(self) -> None:
        """It is stopped no longer, from this very moment on."""
        self.stopped_until = self.moments.now
        put_off, self._put_off = self._put_off, []
        for run in put_off:
            self.moments.at(self.moments.now, run)

    def start(self, work: Callable[[], object]) -> Running:
        """A new thread."""
        thread = Running(self, work, self._hub)
        if not self.dead:
            self._threads[thread] = None
            thread.wake()
        return thread

    def over(self, thread: Running) -> None:
        """It has come to its end."""
        self._threads.pop(thread, None)

    def preempted(self) -> bool:
        """Whether another thread goes first now."""
        return self._rng.random() < _PREEMPTED

    def kill(self) -> None:
        """Nothing of it runs any more. (Its threads are unwound; what they still do on their way
        out reaches nothing: see `check`.) The thread that calls this must end itself."""
        self.dead = True
        for thread in list(self._threads):
            thread.kill()
        self._threads.clear()


class Running:
    """A thread that has been started."""

    def __init__(self, process: Process, work: Callable[[], object], hub: Any) -> None:
        self.process = process
        self.owner: Any = None
        self.ended = False
        self._work = work
        self._greenlet = _Greenlet(self._run, hub)
        self._greenlet.thread = self
        self._hub = hub
        self._parked = True
        self._turn = 0
        self._woken = False
        self._joining: list[Running] = []

    def _run(self) -> None:
        try:
            self._work()
        finally:
            self.ended = True
            self.process.over(self)
            for thread in self._joining:
                thread.wake()

    def join(self, until: float | None) -> None:
        """Wait for its end."""
        waiting = current()
        self._joining.append(waiting)
        while not self.ended and waiting.park(until):
            pass

    def wake(self) -> None:
        """It goes on, if it waits now."""
        turn = self._turn
        self.process.at(self.process.moments.now, lambda: self._resume(turn, woken=True))

    def park(self, until: float | None) -> bool:
        """Wait; whether it was woken before that moment."""
        if self.process.dead:
            raise GreenletExit
        self._turn += 1
        turn = self._turn
        if until is not None:
            self.process.at(until, lambda: self._resume(turn, woken=False))
        self._parked = True
        self._hub.switch()
        return self._woken

    def _resume(self, turn: int, *, woken: bool) -> None:
        if self._parked and turn == self._turn and not self.ended:
            self._parked, self._woken = False, woken
            self._greenlet.switch()

    def kill(self) -> None:
        """Unwind it, unless it is the one that asks for it."""
        if self.ended or self._greenlet is getcurrent():
            return
        self._greenlet.parent = getcurrent()
        self._greenlet.throw(GreenletExit)


class _Greenlet(greenlet):
    thread: Running


def running() -> Running | None:
    """The thread that runs; None: the world itself."""
    found = getcurrent()
    return found.thread if isinstance(found, _Greenlet) else None


def current() -> Running:
    """The thread that runs."""
    found = running()
    assert found is not None, "the world itself cannot wait"
    return found


def check() -> None:
    """What a killed process is about to do reaches nothing."""
    found = running()
    if found is not None and found.process.dead:
        raise GreenletExit


def sleep(seconds: float) -> None:
    """Let this thread wait."""
    thread = current()
    thread.park(thread.process.moments.now + seconds)


def pause() -> None:
    """Let others go first, and wait as long as the process is stopped."""
    sleep(0.0)


def call(begin: Callable[[Callable[[Any], None]], None]) -> Any:
    """Begin something that answers later, and wait for the answer; one that is an exception is
    raised."""
    check()
    thread = current()
    answers: list[Any] = []

    def answer(said: Any) -> None:
        answers.append(said)
        thread.wake()

    begin(answer)
    while not answers:
        thread.park(None)
    if isinstance(answers[0], Exception):
        raise answers[0]
    return answers[0]
