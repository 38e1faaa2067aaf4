"""The daemon's sockets; of its socket file: one daemon per path, stale files replaced, live ones
respected."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import stat
from pathlib import Path

from metabroker.errors import AdvisedError

BACKLOG = 1024  # connections not yet accepted
AT_ONCE = 16
"""How many are accepted before the first of them is asked who it is. asyncio takes one number for
this and for the line of those that wait, and each that is accepted has a file descriptor."""
_PROBE = 2.0  # seconds


class SocketError(AdvisedError):
    """The socket cannot be made."""


class ListeningSocket:
    """A listening Unix socket and the lock that makes its path this process's own.

    Everybody may connect (mode 0666): who somebody is, the kernel tells. The lock is a file beside
    the socket; it is held by the open file, so that it dies with its process.
    """

    def __init__(self, path: Path) -> None:
        """Make the socket at `path`, and its folder. Raises `SocketError`."""
        self.path = path
        try:
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            self._lock = _lock(path)
        except OSError as error:
            raise _refused(path, error) from error
        try:
            _clear(path)
            self.socket = _listen(path)
        except OSError as error:
            os.close(self._lock)
            raise _refused(path, error) from error
        except SocketError:
            os.close(self._lock)
            raise

    def close(self) -> None:
        """Close the socket, remove its file and give up the lock."""
        self.socket.close()
        with contextlib.suppress(OSError):
            self.path.unlink()
        os.close(self._lock)


def _lock(path: Path) -> int:
    name = path.with_name(path.name + ".lock")
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise _taken(path) from error
    return descriptor


def _clear(path: Path) -> None:
    """Remove what a dead daemon left; refuse where somebody answers, or it is no socket."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        message = f"{path} exists and is not a socket"
        raise SocketError(message, "move it away, or choose another `socket`")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
    raise _taken(path)


def _listen(path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(path))
        path.chmod(0o666)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def listening_at(host: str, port: int) -> socket.socket:
    """A TCP socket that listens. Raises `SocketError`."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise SocketError(
            f"cannot listen at {host}:{port}: {error.strerror or error}",
            "choose another `listen.address`",
        ) from error


def deepen(listening: int, backlog: int = BACKLOG) -> None:
    """Let so many wait to be accepted at a socket that listens already, by its descriptor."""
    with socket.socket(fileno=os.dup(listening)) as same:
        same.listen(backlog)


def _taken(path: Path) -> SocketError:
    return SocketError(
        f"another daemon already serves {path}",
        "stop it first, or choose another `socket`",
    )


def _refused(path: Path, error: OSError) -> SocketError:
    return SocketError(
        f"the socket {path} cannot be made: {error.strerror or error}",
        "choose a `socket` in a folder that the daemon may write to",
    )
