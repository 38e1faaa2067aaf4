"""The one thread that owns the core: it takes turns (`turns`), and hands their effects over."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from typing import TypeVar

from metabroker.broker.effects import CleanStray, Effect, Unclaimed, Unwatch, Watch
from metabroker.broker.events import Unsure
from metabroker.store import MustRestart

from .asked import Item
from .engine import Engine
from .execution import step_of
from .executor import ClusterExecutor
from .turns import BATCH, Question, Turns

log = logging.getLogger(__name__)

_AGAIN = 2.0  # seconds

T = TypeVar("T")


class Loop:
    """The thread of the core, and the executors to which it passes effects on."""

    def __init__(
        self,
        engine: Engine,
        executors: Sequence[ClusterExecutor],
        clock: Callable[[], float],
        batch: int = BATCH,
    ) -> None:
        """`batch`: items of one turn at most."""
        self.engine = engine
        self._executors = executors
        self._turns = Turns(engine, clock, self._dispatch, batch)
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._run, name="core")
        self._stopping = threading.Event()
        self.died: BaseException | None = None
        self._beat = time.monotonic()

    # --- from any thread ----------------------------------------------------------------------

    def post(self, item: Item) -> None:
        """Something has happened, or somebody asks."""
        self._turns.add(item)
        self._news.set()

    def ask(self, question: Callable[[], T], seconds: float = 30.0) -> T:
        """Ask the core something; the answer is of one moment.

        Raises:
            TimeoutError: it has not answered within so many seconds, or has ended.
        """
        future: Future[T] = Future()
        self._turns.add(Question(question, future))
        self._news.set()
        try:
            return future.result(timeout=seconds)
        except CancelledError:
            raise TimeoutError("the core has ended") from None

    def start(self) -> None:
        """Recover from the store, then go on in the loop's own thread."""
        self._turns.recover()
        self._beat = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """Finish the batch under way, and end."""
        self._stopping.set()
        self._news.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def trouble(self) -> str | None:
        """Why the store cannot be written now."""
        return self._turns.trouble

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
                # Cleared before the turn: what comes in during it makes the next one begin at once.
                self._news.clear()
                pause = self._turns.turn()
                self.engine.took("turn", time.monotonic() - self._beat)
                if pause > 0:
                    self._news.wait(pause)
        except MustRestart as error:
            log.warning("%s", error)
            self.died = error
        except BaseException as error:
            # A core that has failed must not go on: what is durable is right, so restart.
            log.critical("the core has failed; the daemon ends", exc_info=True)
            self.died = error
        finally:
            self._turns.end()

    def _dispatch(self, effects: Sequence[Effect]) -> None:
        # Who is watched first: what a component has put last goes to those that still run.
        for effect in sorted(effects, key=lambda each: not isinstance(each, Watch)):
            executor = self._executors[effect.cluster]
            try:
                _hand_over(effect, executor)
            except Exception as error:  # no thread could be started, say: the others go on
                log.exception("%s: %s cannot be started now", executor.name, type(effect).__name__)
                self._again(effect, error)

    def _again(self, effect: Effect, error: Exception) -> None:
        """What could not be begun is begun later."""
        if isinstance(effect, Watch | Unwatch):
            later = threading.Timer(_AGAIN, self._dispatch, ([effect],))
            later.daemon = True
            with contextlib.suppress(RuntimeError):  # no thread for that either
                later.start()
        elif not isinstance(effect, Unclaimed | CleanStray):  # which the next poll shows again
            why = f"the broker could not start it: {type(error).__name__}"
            self.post(Unsure(effect.ref, step_of(effect), why))


def _hand_over(effect: Effect, executor: ClusterExecutor) -> None:
    if isinstance(effect, Watch):
        executor.watcher.watch(effect.ref, effect.joins)
    elif isinstance(effect, Unwatch):
        executor.watcher.unwatch(effect.ref)
    elif isinstance(effect, Unclaimed):
        executor.tell_unclaimed(effect)
    else:
        executor.ask(effect)
