"""Start times of the broker that leads: learned from its history, then from what happens."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from functools import partial

from metabroker.runtime.loop import Loop
from metabroker.service.predictions import HISTORY, Predictions, Row
from metabroker.store import Store, StoreUnavailable
from metabroker.store.job_queries import Selection

from .sharing.background import Background

log = logging.getLogger(__name__)

_PAUSE = 0.5  # seconds
_AT_ONCE = 1_000  # jobs
_PAGE = 100  # jobs
_REST = 3  # times as long as it was busy it leaves the processor to others


class Learning(Background):
    """Works out when jobs start, beside the core. An error here costs users an estimate, and
    nothing else."""

    def __init__(
        self,
        loop: Loop,
        store: Store,
        predictions: Predictions,
        learned: Callable[[], None] = lambda: None,
    ) -> None:
        """`learned`: told once, when all that is kept of the jobs that are there has been made."""
        super().__init__("start times")
        self._learned = learned
        self._loop = loop
        self._store = store
        self._predictions = predictions

    def _run(self) -> None:
        try:
            self._learn()
            self._begin()
            self._predictions.work()
            self._learned()
            pause = _PAUSE
            while not self._stopping.wait(pause):
                began = time.monotonic()
                more = self._predictions.work()
                pause = _REST * (time.monotonic() - began) if more else _PAUSE
        except Exception:
            log.exception("start times are not told any more, until the daemon is restarted")
            self._predictions.end()

    def _begin(self) -> None:
        """Tell of the jobs that are there: some at a time, since the core does nothing else then.
        What happens to them meanwhile is told as well, and no harm if before."""
        view = self._loop.engine.broker.view
        try:
            numbers = self._loop.ask(lambda: list(view.jobs))
            for first in range(0, len(numbers), _AT_ONCE):
                some = numbers[first : first + _AT_ONCE]
                self._loop.ask(partial(self._predictions.begin, view, some))
        except TimeoutError:
            log.warning("start times: the core is busy; nothing is told of jobs that are there now")

    def _learn(self) -> None:
        sizes = self._loop.engine.broker.view.sizes()
        names = self._loop.engine.names
        try:
            self._predictions.learn(self._ended(), names, sizes, self._stopping.is_set)
        except StoreUnavailable as error:
            log.warning("start times: nothing is learned from ended jobs: %s", error)

    def _ended(self) -> Iterator[Row]:
        """The newest jobs that have ended: a page at a time, since rows take much memory."""
        wanted: Selection | None = Selection(newest=HISTORY)
        while wanted is not None:
            page = self._store.jobs.history(wanted, _PAGE)
            yield from page.rows
            wanted = page.rest
