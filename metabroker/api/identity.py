"""Who is at the other end of a Unix socket: what the kernel says, and nothing else."""

from __future__ import annotations

import socket
import struct
import time

from metabroker import accounts
from metabroker.submission.model import Caller

_CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid
_NAMES_LAST = 60.0  # seconds; a name service may be slow, and names seldom change
_MOST_NAMES = 10_000


def peer_uid(connection: socket.socket) -> int:
    """The effective user id of the process that connected. Raises `OSError`."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(raw)
    return int(uid)


class NoName(Exception):
    """Who somebody is cannot be told now: why."""


class UserNames:
    """User names by id and back, remembered for a minute. May be used from several threads.

    What could not be looked up is not remembered, and nobody is called by a number because of it.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[float, str]] = {}
        self._ids: dict[str, tuple[float, int]] = {}

    def caller(self, uid: int) -> Caller:
        """The caller with user id `uid`; one who has no name is called by the number.

        Raises:
            NoName: the name cannot be told now, or the number is somebody else's name.
        """
        now = time.monotonic()
        known = self._known.get(uid)
        if known is not None and now - known[0] < _NAMES_LAST:
            return Caller(uid, known[1])
        try:
            found = accounts.entry_by_uid(uid)
            if found is None:
                return Caller(uid, self._number(uid))
        except accounts.NotNow as error:
            raise NoName(error.strerror) from error
        if len(self._known) >= _MOST_NAMES:
            self._known.clear()
        self._known[uid] = (now, found.pw_name)
        return Caller(uid, found.pw_name)

    def _number(self, uid: int) -> str:
        """The number as a name, where it is no other's, and the user had none before."""
        known = self._known.get(uid)
        if known is not None:
            raise NoName(f"user id {uid} was {known[1]}, and has no name now")
        if accounts.entry_by_name(str(uid)) is not None:
            raise NoName(f"user id {uid} has no name, and another user is called {uid}")
        return str(uid)

    def uid(self, user: str) -> int | None:
        """The id of the user of that name on this host; None if there is none. Raises `NoName`."""
        now = time.monotonic()
        known = self._ids.get(user)
        if known is not None and now - known[0] < _NAMES_LAST:
            return known[1]
        try:
            found = accounts.entry_by_name(user)
        except accounts.NotNow as error:
            raise NoName(error.strerror) from error
        if found is None:
            self._ids.pop(user, None)
            return None
        if len(self._ids) >= _MOST_NAMES:
            self._ids.clear()
        self._ids[user] = (now, found.pw_uid)
        return found.pw_uid
