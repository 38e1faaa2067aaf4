"""What signals ask of the daemon: to end, or to read its configuration again.

Python runs a handler in its first thread alone, once that comes to it. A daemon that restarts
itself from another thread would lose what has come by then. So the number of each signal is also
written into a pipe, in the moment in which it comes. Whoever restarts the daemon looks there first,
and the next start looks there for what came after that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import threading

_HANDED_ON = "METABROKER_SIGNALS"  # the pipe of who restarted
_ENDS = frozenset({signal.SIGTERM, signal.SIGINT})
_MOST = 1 << 16  # bytes, of which each is a signal: a pipe holds no more


class Signals:
    """`stop`: to end; `reload`: to read the configuration; `news`: either. To be made in the first
    thread. `reloads`: there is a configuration to read."""

    def __init__(self, *, reloads: bool) -> None:
        self.stop, self.reload, self.news = (threading.Event() for _ in range(3))
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

    def told_to_end(self) -> bool:
        """Whether it shall end; also by a signal whose handler has not run yet."""
        self._read(self._pipe)
        return self.stop.is_set()

    def hand_on(self) -> None:
        """This process is about to restart: what comes now is for its next start."""
        os.set_inheritable(self._pipe, True)
        os.environ[_HANDED_ON] = str(self._pipe)

    def _heard(self, number: int, _frame: object = None) -> None:
        (self.stop if number in _ENDS else self.reload).set()
        self.news.set()

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
