"""The one thread that owns the core.

It takes what has come in, up to a bound, hands it to the engine as one batch (one transaction,
one sync to disk for many jobs), and passes the effects on to the clusters' executors. While the
store cannot be written nothing is carried out and nothing is acknowledged: the batch is written
again until that succeeds, and whoever asks meanwhile is told so.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from metabroker.broker.effects import CleanStray, Effect, Unclaimed, Unwatch, Watch
from metabroker.broker.events import Tick, Unsure
from metabroker.store import LeadershipLost, StoreUnavailable

from .engine import Ask, AskToSubmit, Engine, Item
from .execution import step_of
from .executor import ClusterExecutor

log = logging.getLogger(__name__)

_BATCH = 512
_IDLE = 1.0  # seconds
_STORE_RETRY = 0.5
_AGAIN = 2.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Call:
    """A question to the core, answered between two batches."""

    ask: Callable[[], Any]
    future: Future[Any]


class Loop:
    """Engine, executors, and the line of what has come in."""

    def __init__(
        self, engine: Engine, executors: Sequence[ClusterExecutor], clock: Callable[[], float]
    ) -> None:
        self.engine = engine
        self._executors = executors
        self._clock = clock
        self._line: queue.SimpleQueue[Item | _Call | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="core")
        self._stopping = threading.Event()
        self.trouble: str | None = None  # why the store cannot be written now
        self.died: BaseException | None = None
        self._beat = time.monotonic()

    # --- from any thread ----------------------------------------------------------------------

    def post(self, item: Item) -> None:
        """Something has happened, or somebody asks."""
        self._line.put(item)

    def ask(self, question: Callable[[], T], seconds: float = 30.0) -> T:
        """Ask the core something; the answer is of one moment."""
        future: Future[T] = Future()
        self._line.put(_Call(question, future))
        return future.result(timeout=seconds)

    def start(self) -> None:
        """Recover from the store, then go on in the loop's own thread."""
        self._dispatch(self.engine.recover(self._clock()))
        self._beat = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """Finish the batch under way, and end."""
        self._stopping.set()
        self._line.put(None)
        if self._thread.is_alive():
            self._thread.join()

    @property
    def alive(self) -> bool:
        """Whether the loop runs."""
        return self._thread.is_alive()

    @property
    def silent(self) -> float:
        """For how many seconds it has shown no sign of life: it hangs, or is very busy."""
        return time.monotonic() - self._beat

    # --- the loop's thread --------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._beat = time.monotonic()
                items = self._collect()
                if items:
                    self._process(items)
        except LeadershipLost as error:
            log.warning("%s", error)
            self.died = error
        except BaseException as error:
            # A core that has failed must not go on: what is durable is right, so start anew.
            log.critical("the core has failed; the daemon ends", exc_info=True)
            self.died = error

    def _collect(self) -> list[Item]:
        """Wait for something to do; at most `_BATCH` items, and a tick when one is due."""
        items: list[Item] = []
        wait = self._until_next()
        try:
            first = self._line.get(timeout=wait) if wait > 0 else self._line.get_nowait()
            self._take(first, items)
            while len(items) < _BATCH:
                self._take(self._line.get_nowait(), items)
        except queue.Empty:
            pass
        if self._until_next() <= 0:
            items.append(Tick())
        return items

    def _until_next(self) -> float:
        due = self.engine.broker.next_time()
        return _IDLE if due is None else min(_IDLE, due - self._clock())

    def _take(self, item: Item | _Call | None, items: list[Item]) -> None:
        if isinstance(item, _Call):
            _answer(item)
        elif item is not None:
            items.append(item)

    def _process(self, items: list[Item]) -> None:
        now = self._clock()
        try:
            effects = self.engine.process(items, now)
        except StoreUnavailable as error:
            effects = self._insist(error)
        self._dispatch(effects)

    def _insist(self, error: StoreUnavailable) -> Sequence[Effect]:
        """Write the batch again until it is durable; only the end of the daemon ends that."""
        log.error("%s; nothing is done until it can be written", error)
        while not self._stopping.is_set():
            self._beat = time.monotonic()
            self.trouble = str(error)
            self._refuse_waiting()
            time.sleep(_STORE_RETRY)
            try:
                effects = self.engine.flush()
            except StoreUnavailable as again:
                error = again
                self.engine.leave_open(str(error))
            else:
                log.warning("the store can be written again")
                self.trouble = None
                return effects
        return ()

    def _refuse_waiting(self) -> None:
        """Users are told at once; what clusters have answered waits its turn."""
        kept: list[Item] = []
        try:
            while True:
                item = self._line.get_nowait()
                if isinstance(item, _Call):
                    _answer(item)
                elif isinstance(item, Ask | AskToSubmit):
                    item.answer(StoreUnavailable(self.trouble or ""))
                elif item is not None:
                    kept.append(item)
        except queue.Empty:
            for item in kept:
                self._line.put(item)

    def _dispatch(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            executor = self._executors[effect.cluster]
            try:
                _hand_over(effect, executor)
            except Exception as error:  # no thread could be started, say: the others go on
                log.exception("%s: %s cannot be begun now", executor.name, type(effect).__name__)
                self._again(effect, error)

    def _again(self, effect: Effect, error: Exception) -> None:
        """What could not be begun is begun later."""
        if isinstance(effect, Watch | Unwatch):
            later = threading.Timer(_AGAIN, self._dispatch, ([effect],))
            later.daemon = True
            with contextlib.suppress(RuntimeError):  # no thread for that either
                later.start()
        elif not isinstance(effect, Unclaimed | CleanStray):  # which the next look shows again
            why = f"the broker could not begin it: {type(error).__name__}"
            self.post(Unsure(effect.ref, step_of(effect), why))


def _hand_over(effect: Effect, executor: ClusterExecutor) -> None:
    if isinstance(effect, Watch):
        executor.watcher.watch(effect.ref)
    elif isinstance(effect, Unwatch):
        executor.watcher.unwatch(effect.ref)
    elif isinstance(effect, Unclaimed):
        executor.tell_unclaimed(effect)
    else:
        executor.ask(effect)


def _answer(call: _Call) -> None:
    if call.future.set_running_or_notify_cancel():
        try:
            call.future.set_result(call.ask())
        except Exception as error:
            call.future.set_exception(error)
