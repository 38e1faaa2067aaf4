"""What signals ask of the daemon: to end, or to read its configuration again.

Python runs a handler in its first thread alone, once that comes to it. A daemon that restarts
itself from another thread would lose what has come by then. So the number of each signal is also
written into a pipe, in the moment in which it comes. Whoever restarts the daemon looks there first,
and the next start looks there for what came after that: nobody else takes anything out of it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import threading
from queue import Empty, SimpleQueue

_HANDED_ON = "METABROKER_SIGNALS"  # the pipe of who restarted
_ENDS = frozenset({signal.SIGTERM, signal.SIGINT})
_MOST = 1 << 16  # bytes, of which each is a signal: a pipe holds no more


class Signals:
    """`stop`: to end; `reload`: to read the configuration, if this one `reloads` any. To be made in
    the first thread."""

    def __init__(self, *, reloads: bool) -> None:
        self.stop = self.reload = False
        # A handler may run in the middle of whatever the first thread does, so it takes no lock
        # that this thread may hold: an Event has one.
        self._news: SimpleQueue[int] = SimpleQueue()
        self._restarts = False
        self._reading = threading.Lock()
        self._pipe, into = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(into, warn_on_full_buffer=False)
        for number in _ENDS:
            signal.signal(number, self._heard)
        if reloads:
            signal.signal(signal.SIGHUP, self._heard)
        former = _handed_on()
        if former is not None:
            self._read(former)
            os.close(former)

    def wait(self, seconds: float) -> None:
        """Until one comes, or for so long. The pipe is empty then: one that is full would have no
        room for the signal that comes in the moment of a restart."""
        with contextlib.suppress(Empty):
            self._news.get(timeout=seconds)
        self.told_to_end()

    def told_to_end(self) -> bool:
        """Whether it shall end; also by a signal whose handler has not run yet."""
        with self._reading:
            if not self._restarts:
                self._read(self._pipe)
            return self.stop

    def hand_on(self) -> bool:
        """Whether this process may restart: not if it shall end. What comes from now on is for its
        next start, and stays in the pipe, whichever thread asks here meanwhile."""
        with self._reading:
            if not self._restarts:
                self._read(self._pipe)
                if self.stop:
                    return False
                self._restarts = True
                os.set_inheritable(self._pipe, True)
                os.environ[_HANDED_ON] = str(self._pipe)
            return True

    def _heard(self, number: int, _frame: object = None) -> None:
        if number in _ENDS:
            self.stop = True
        else:
            self.reload = True
        self._news.put(number)

    def _read(self, pipe: int) -> None:
        with contextlib.suppress(BlockingIOError):
            for number in os.read(pipe, _MOST):
                if number in _ENDS:
                    self._heard(number)


def _handed_on() -> int | None:
    """The pipe that is named in the environment, if there is one."""
    named = os.environ.pop(_HANDED_ON, "")
    with contextlib.suppress(ValueError, OSError):
        pipe = int(named)
        if stat.S_ISFIFO(os.fstat(pipe).st_mode):
            os.set_blocking(pipe, False)
            return pipe
    return None
