"""Who is at the other end of a Unix socket: what the kernel says, and nothing else."""

from __future__ import annotations

import pwd
import socket
import struct
import time
from typing import Protocol

from metabroker.submission.model import Caller

_CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid
_NAMES_LAST = 60.0  # seconds; a name service may be slow, and names seldom change
_MOST_NAMES = 10_000


class _Socket(Protocol):
    def getsockopt(self, level: int, optname: int, buflen: int, /) -> bytes: ...


def peer_uid(connection: _Socket) -> int:
    """The effective user id of the process that connected. Raises `OSError`."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(raw)
    return int(uid)


class Names:
    """User names by id and back, remembered for a minute. May be used from several threads."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[float, str]] = {}
        self._ids: dict[str, tuple[float, int]] = {}

    def caller(self, uid: int) -> Caller:
        """The caller with user id `uid`; one without a name is called by the number."""
        now = time.monotonic()
        known = self._known.get(uid)
        if known is not None and now - known[0] < _NAMES_LAST:
            return Caller(uid, known[1])
        try:
            name = pwd.getpwuid(uid).pw_name
        except KeyError:
            name = str(uid)
        if len(self._known) >= _MOST_NAMES:
            self._known.clear()
        self._known[uid] = (now, name)
        return Caller(uid, name)

    def uid(self, user: str) -> int | None:
        """The id of the user of that name on this host; None if there is none."""
        now = time.monotonic()
        known = self._ids.get(user)
        if known is not None and now - known[0] < _NAMES_LAST:
            return known[1]
        try:
            uid = pwd.getpwnam(user).pw_uid
        except (KeyError, ValueError):
            self._ids.pop(user, None)
            return None
        if len(self._ids) >= _MOST_NAMES:
            self._ids.clear()
        self._ids[user] = (now, uid)
        return uid
