"""A process that is spoken with over its standard input and output, as over a connection."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Callable

from .base import last_line

Start = Callable[[int, int], "subprocess.Popen[bytes]"]
"""Starts the process: what its input and output are, and where it writes its errors."""
_MOST_WORDS = 2000  # bytes of its errors that are passed on


class Pipe:
    """Both ends of one conversation: what a `paramiko.Channel` is for a process elsewhere.

    A socket of its own would do, but paramiko minds no time limit on one.
    """

    def __init__(self, start: Start) -> None:
        ours, theirs = socket.socketpair()
        self._errors, errors = os.pipe()
        os.set_blocking(self._errors, False)
        try:
            self._process = start(theirs.fileno(), errors)
        except BaseException:
            ours.close()
            os.close(self._errors)
            raise
        finally:
            theirs.close()
            os.close(errors)
        self._socket = ours
        self.closed = False

    def get_name(self) -> str:
        """What it is called in a log."""
        return str(self._process.pid)

    def send(self, data: bytes) -> int:
        """Send some of it; how much."""
        return self._socket.send(data)

    def recv(self, count: int) -> bytes:
        """At most so much; nothing at its end."""
        return self._socket.recv(count)

    def settimeout(self, seconds: float) -> None:
        """How long either may take before it is a `TimeoutError`."""
        self._socket.settimeout(seconds)

    def complaint(self) -> str:
        """What it has said on its standard error, once it has ended: the last line."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        try:
            said = os.read(self._errors, _MOST_WORDS).decode("utf-8", "replace")
        except OSError:
            said = ""
        return last_line(said)

    def close(self) -> None:
        """End it: a server whose input has ended ends by itself, whoever's process it is."""
        if self.closed:
            return
        self.closed = True
        self._socket.close()
        os.close(self._errors)
        with contextlib.suppress(OSError):  # another account's process may not be killed
            self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
