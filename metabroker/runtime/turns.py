"""The core's turns: what has come in becomes one batch, one transaction, and then effects.

There is no thread and no waiting here: `Loop` takes turns in real time, the worlds of the storm in
virtual time. While the store cannot be written nothing is carried out and nothing is acknowledged.
The batch is written again until that succeeds, and whoever asks meanwhile is told so.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from metabroker.broker.effects import Effect
from metabroker.broker.events import (
    CancelJob,
    ChangeJob,
    ClusterUnreachable,
    HoldJob,
    Observed,
    ReleaseJob,
    Tick,
)
from metabroker.store import StoreUnavailable

from .asked import Ask, AskToSubmit, Item
from .engine import Engine

log = logging.getLogger(__name__)

LONGEST_PAUSE = 1.0
"""Seconds between two turns at most."""
BATCH = 128
"""Items of one turn at most."""
_QUESTION = 16  # items that a question counts for
_TASKS = 500  # of an array that is asked of: so many count for an item
_OF_TASKS = (CancelJob, HoldJob, ReleaseJob, ChangeJob)
_STORE_RETRY = 0.5  # seconds
CONFIRM = 30.0
"""Seconds between two looks at whether the store went back by itself; one is left out where a
transaction has shown it meanwhile. So it is noticed within twice as long."""

Dispatch = Callable[[Sequence[Effect]], None]
"""Told the effects of a turn, once they are durable."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the core, answered between two batches."""

    ask: Callable[[], Any]
    future: Future[Any]


class Turns:
    """The engine, and the line of what has come in. `add` may be called from any thread (a deque
    needs no lock for that), all else from the one that owns the core."""

    def __init__(
        self,
        engine: Engine,
        clock: Callable[[], float],
        dispatch: Dispatch,
        batch: int = BATCH,
    ) -> None:
        self.engine = engine
        self.trouble: str | None = None
        """Why the store cannot be written now."""
        self._clock = clock
        self._dispatch = dispatch
        self._batch = batch
        self._line: deque[Item | Question] = deque()
        self._kept: list[Item] = []  # in trouble: what came in, and is not refused
        self._retry_at = 0.0
        self._confirm_at = clock() + CONFIRM
        self._ended = False

    def add(self, item: Item | Question) -> None:
        """Something has happened, or somebody asks."""
        self._line.append(item)
        if self._ended and isinstance(item, Question):
            item.future.cancel()

    def end(self) -> None:
        """No turn is taken any more: who asks now, or has asked, does not wait."""
        self._ended = True
        for item in list(self._line):
            if isinstance(item, Question):
                item.future.cancel()

    def recover(self) -> None:
        """The first turn: what the store holds. Raises `StoreUnavailable`, `LeadershipLost`."""
        self._dispatch(self.engine.recover(self._clock()))

    def turn(self) -> float:
        """Take what has come in, up to a bound. Returns for how many seconds there is nothing to
        do unless something comes in.

        Raises:
            LeadershipLost: another broker leads; nothing of this turn was written.
            CommitsLost: nor was it, since the store went back by itself.
        """
        if self.trouble is not None:
            return self._again()
        try:
            self._confirm()  # before anything is taken from the line
            items = self._collect()
            effects = self.engine.process(items, self._clock()) if items else ()
        except StoreUnavailable as error:
            log.error("%s; the broker waits until it can be written", error)
            return self._broken(error)
        self._dispatch(effects)
        return 0.0 if self._line else max(0.0, self._until_due())

    def _confirm(self) -> None:
        """Ask from time to time whether the store is what it was."""
        now = self._clock()
        if not 0 < self._confirm_at - now < 2 * CONFIRM:  # the clock may have been set back
            self._confirm_at = now + CONFIRM
            self.engine.confirm()

    def _collect(self) -> list[Item]:
        """So many items at most, and a tick when one is due; questions are answered at once."""
        items: list[Item] = []
        asked = 0
        while self._line and len(items) + asked < self._batch:
            item = self._line.popleft()
            if isinstance(item, Question):
                _answer(item)
                asked += _QUESTION
            else:
                items.append(item)
                asked += self._more_than_one(item)
        if self._until_due() <= 0:
            items.append(Tick())
        return items

    def _more_than_one(self, item: Item) -> int:
        """Items that it counts for besides itself: who asks something of an array has all of its
        tasks looked at."""
        if not isinstance(item, Ask) or not isinstance(item.event, _OF_TASKS):
            return 0
        job = self.engine.broker.view.jobs.get(item.event.job)
        return 0 if job is None or job.array is None else len(job.array.live) // _TASKS

    def _until_due(self) -> float:
        due = self.engine.broker.next_time()
        return LONGEST_PAUSE if due is None else min(LONGEST_PAUSE, due - self._clock())

    # --- while the store cannot be written ----------------------------------------------------

    def _broken(self, error: StoreUnavailable) -> float:
        self.trouble = str(error)
        self._retry_at = self._clock() + _STORE_RETRY
        self._refuse_waiting()
        return _STORE_RETRY

    def _again(self) -> float:
        """Write the batch again, when its time has come."""
        self._refuse_waiting()
        wait = self._retry_at - self._clock()
        if wait > 0:
            return wait
        try:
            effects = self.engine.flush()
        except StoreUnavailable as error:
            self.engine.leave_open(str(error))
            return self._broken(error)
        log.warning("the store can be written again")
        self.trouble = None
        self._line.extendleft(reversed(self._kept))
        self._kept.clear()
        self._dispatch(effects)
        return 0.0

    def _refuse_waiting(self) -> None:
        """Users are told at once; what clusters have answered is kept, in its order."""
        while self._line:
            item = self._line.popleft()
            if isinstance(item, Question):
                _answer(item)
            elif isinstance(item, Ask | AskToSubmit):
                item.answer(StoreUnavailable(self.trouble or ""))
            else:
                self._keep(item)

    def _keep(self, item: Item) -> None:
        """Of each cluster the last listing alone: they may come for days."""
        if isinstance(item, Observed | ClusterUnreachable):
            self._kept = [kept for kept in self._kept if not _outdates(item, kept)]
        self._kept.append(item)


def _outdates(look: Observed | ClusterUnreachable, kept: Item) -> bool:
    """Whether a look at a cluster makes what was kept useless."""
    if isinstance(kept, Observed | ClusterUnreachable):
        return type(kept) is type(look) and kept.cluster == look.cluster
    return False


def _answer(question: Question) -> None:
    if question.future.set_running_or_notify_cancel():
        try:
            question.future.set_result(question.ask())
        except Exception as error:
            question.future.set_exception(error)
