"""A cluster's clock against the broker's, looked at now and then beside the cluster itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

from metabroker.broker import tokens
from metabroker.broker.observation import NativeJob

from .command_errors import Garbled, answered
from .operation import Operation, time_now
from .port import ClusterRefusal, NativeSubmission, UnknownOutcome
from .transports.base import CommandLost, CommandMissing

EVERY = 600.0
"""Seconds between two looks at a clock: they drift slowly, and its command may be a long one."""
_FAR = 366 * 86400.0  # seconds; who seems to be further away was not read to the end
_SLOW = 4.0  # seconds: of an answer that takes longer nobody knows when it was given
_AGAIN = 30.0  # seconds after which it is asked once more, if it was not told


class ClockWatch:
    """Remembers what was last seen. `told`: the operation that asks what time it is, in Unix
    seconds; `every`: how often it may be asked, in seconds (0: never)."""

    def __init__(self, told: Callable[[], Operation[int]], every: float) -> None:
        self._told = told
        self._every = every
        self._next = -inf
        self.offset: float | None = None
        self.known = 0.0  # what was told last; 0: nothing yet
        self.awaited = every > 0.0  # nothing was told yet
        self._away = False  # when it was asked last there was no answer

    def look(self, now: float, *, answers: bool = False) -> Operation[int]:
        """Ask, if it is time; answers how many commands that took. `now`: the broker's clock.
        `answers`: the cluster has just answered. If it did not answer this, it is asked again."""
        again = answers and self._away
        if not self._every or (now < self._next and not again):
            yield from ()
            return 0
        self._next, self._away = now + self._every, False
        try:
            began = yield from time_now()
            told = yield from self._told()
            took = (yield from time_now()) - began
            if not 0 <= took <= _SLOW:
                self._next = now + min(self._every, _AGAIN)
                return 1
            # It is told in whole seconds.
            offset = told + 0.5 - (began + took / 2)
            if abs(offset) > _FAR:
                raise Garbled(f"a clock that differs by {offset / 86400:.0f} days")
            self.offset = self.known = offset
            self.awaited = False
        except (ClusterRefusal, UnknownOutcome, CommandLost, CommandMissing, Garbled):
            self.offset = None  # whether the cluster answers is for the poll itself to say
            self._away = not answers  # asked again, once
            self._next = now + min(self._every, _AGAIN)
        return 1

    def dated(
        self,
        done: NativeSubmission,
        token: str,
        listed: Callable[[], Operation[list[tuple[str, NativeJob]]]],
    ) -> Operation[NativeSubmission]:
        """What was just submitted, with its submit time by the cluster's clock: its script may
        rename it before a poll shows it, and then only its id and that time tell which it is.
        `listed` asks for the job by its id, where the clock was never told. (One that bears another
        token has been given that id since.)

        Raises:
            UnknownOutcome: the cluster does not answer: the job is looked for by its token.
        """
        if done.submit_time is not None or not self._every:
            return done
        if self.known:
            return replace(done, submit_time=(yield from time_now()) + self.known)
        try:
            jobs = yield from answered(listed())
        except ClusterRefusal as refusal:
            raise UnknownOutcome(refusal.detail) from refusal
        times = [
            job.submit_time
            for name, job in jobs
            if job.native_id == done.native_id and not tokens.is_another(name, token)
        ]
        return replace(done, submit_time=times[0] if times else None)
