"""Sessions of one connection: a few at once, and as many kept ready.

To begin a session takes two round trips and the start of a login shell. So while there is nothing
else to do, some are begun whose shells wait for their commands. Commands often follow another: to
reserve, to see what was reserved, to submit. Sessions in the place of those that they took are
begun once nothing was asked for a moment, not beside the next command, which would wait for that.
They end by themselves with the connection.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import paramiko

from metabroker.threads import started_pool

from .base import Unreached
from .connection import SshConnection
from .remote_shell import LINE

_QUIET = 0.2  # seconds for which nothing was asked
_LONGEST = 1.0  # seconds that one waits for that; where there is always something, it never comes


class Sessions:
    """At most `count` at once, those that are kept ready among them."""

    def __init__(self, connection: SshConnection, count: int, seconds: float) -> None:
        self._connection = connection
        self._seconds = seconds
        self._changed = threading.Condition()
        self._free = count
        self._ready: list[paramiko.Channel] = []
        self._most_ready = count
        self._making = 0
        self._asked = -math.inf
        self._closing = threading.Event()
        self._maker = started_pool(1, "session")

    @contextmanager
    def one(self, seconds: float, what: str) -> Iterator[paramiko.Channel]:
        """A session for one command, with a shell that waits for it.

        Raises:
            Unreached: there is none in that time, so nothing was run.
        """
        channel = self._taken(seconds, what)
        well = False
        try:
            if channel is None or channel.closed or channel.eof_received:
                channel = begun(self._connection, LINE, seconds, what)
            yield channel
            well = True
        finally:
            if channel is not None:
                end(channel)
            self._given_back(prepare=well)

    def close(self) -> None:
        """End those that are ready."""
        with self._changed:
            self._closing.set()
            ready, self._ready = self._ready, []
        for channel in ready:
            end(channel)
        self._maker.shutdown(wait=False, cancel_futures=True)

    def _taken(self, seconds: float, what: str) -> paramiko.Channel | None:
        """One that is ready, or the right to begin one."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._asked = time.monotonic()
            while not self._ready and not self._free:
                if not self._changed.wait(deadline - time.monotonic()):
                    raise Unreached(f"{what}: not run: the connection is busy with other commands")
            if self._ready:
                return self._ready.pop(0)
            self._free -= 1
            return None

    def _given_back(self, *, prepare: bool) -> None:
        with self._changed:
            self._free += 1
            self._asked = time.monotonic()
            while prepare and not self._closing.is_set():
                if len(self._ready) + self._making >= self._most_ready:
                    break
                self._making += 1
                self._maker.submit(self._make)
            self._changed.notify()

    def _make(self) -> None:
        """Begin one, once it is quiet, if there is still room for it."""
        self._await_quiet()
        with self._changed:
            if not self._free or self._closing.is_set():
                self._making -= 1
                return
            self._free -= 1
        made: paramiko.Channel | None = None
        try:
            made = begun(self._connection, LINE, self._seconds, "sh")
        except Unreached:
            pass  # who needs one will be told
        finally:
            with self._changed:
                self._making -= 1
                if made is not None and not self._closing.is_set():
                    self._ready.append(made)
                else:
                    self._free += 1
                self._changed.notify()
        if made is not None and self._closing.is_set():
            made.close()

    def _await_quiet(self) -> None:
        latest = time.monotonic() + _LONGEST
        while not self._closing.is_set():
            left = min(self._asked + _QUIET, latest) - time.monotonic()
            if left <= 0:
                break
            self._closing.wait(left)


def begun(connection: SshConnection, line: str, seconds: float, what: str) -> paramiko.Channel:
    """A session of its own in which the login shell reads that line.

    Raises:
        Unreached: there is none, so nothing was run.
    """
    with beginning(connection, seconds, f"{what}: not run: the connection is lost") as channel:
        channel.exec_command(line)
    return channel


@contextmanager
def beginning(connection: SshConnection, seconds: float, why: str) -> Iterator[paramiko.Channel]:
    """A new session, in which what begins it is asked for; that has no bound of its own.

    Raises:
        Unreached: it was not begun; `why` says what that means.
    """
    channel = connection.session(seconds)
    guard = threading.Timer(seconds, channel.close)
    guard.start()
    try:
        yield channel
    except (paramiko.SSHException, OSError, EOFError) as error:
        end(channel)
        raise Unreached(f"{why}: {error}") from error
    finally:
        guard.cancel()


def end(channel: paramiko.Channel) -> None:
    """Close a channel. It tells the other side, which raises where the connection is broken."""
    with suppress(OSError, EOFError, paramiko.SSHException):
        channel.close()
