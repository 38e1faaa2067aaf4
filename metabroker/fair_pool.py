"""A few threads that many users' work shares: nobody's work waits behind all of another's.

Work of one user is begun in the order in which it came; users take turns. One user never has all
threads: what takes long, or hangs, for one leaves another for the others.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable

log = logging.getLogger(__name__)

Work = Callable[[], None]


class FairPool:
    """`count` threads, of which one user has at most all but one (the only one, if there is no
    other). All begin with the pool, and none later: see `metabroker.threads`."""

    def __init__(self, count: int, name: str) -> None:
        """Raises RuntimeError: a thread cannot be started."""
        self._most = max(1, count - 1)
        self._name = name
        self._changed = threading.Condition()
        # In the order of their turns; who is here has something that has not begun.
        self._lines: dict[str, deque[Work]] = {}
        self._busy: Counter[str] = Counter()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run, name=f"{name}_{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, whose: str, work: Work) -> None:
        """Begin it when it is its user's turn.

        Raises:
            RuntimeError: the pool is closed.
        """
        with self._changed:
            if self._closed:
                raise RuntimeError("the pool is closed")
            self._lines.setdefault(whose, deque()).append(work)
            self._changed.notify()

    def shutdown(self, *, wait: bool = True) -> None:
        """Begin nothing more; wait for what has begun, if so told."""
        with self._changed:
            self._closed = True
            self._lines.clear()
            self._changed.notify_all()
        for thread in self._threads if wait else ():
            thread.join()

    def _run(self) -> None:
        while (turn := self._turn()) is not None:
            whose, work = turn
            try:
                work()
            except Exception:  # a thread less would be one less for good
                log.exception("%s: unexpected", self._name)
            finally:
                with self._changed:
                    self._busy[whose] -= 1
                    if not self._busy[whose]:
                        del self._busy[whose]
                    self._changed.notify()

    def _turn(self) -> tuple[str, Work] | None:
        """Whose turn it is, and with what, as soon as there is something; None: no more."""
        with self._changed:
            while True:
                if self._closed:
                    return None
                for whose, line in self._lines.items():
                    if self._busy[whose] < self._most:
                        work = line.popleft()
                        del self._lines[whose]
                        if line:  # to the end of the turns
                            self._lines[whose] = line
                        self._busy[whose] += 1
                        return whose, work
                self._changed.wait()
