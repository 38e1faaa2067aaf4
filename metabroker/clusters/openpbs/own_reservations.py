"""The broker's own reservations, as the server told of them last.

A command that names one of them needs its id. To ask for that first takes a port of its host for a
minute (see `ports`), and of these there are few. So what a poll has shown, or was read again when
it was made, is remembered until a later poll does not show it. Whoever finds that it is wrong
forgets it, and asks.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from .doubts import Doubts
from .parsing import PbsReservation


class OwnReservations:
    """By token. A token that several reservations bear is asked for each time. `doubts`: what is
    known of anybody's, where a listing is not certain."""

    def __init__(self, owner: str) -> None:
        self.doubts = Doubts(owner)
        self._lock = threading.Lock()
        self._told: dict[str, tuple[int, PbsReservation | None]] = {}
        self._polls = 0

    def poll_begins(self) -> int:
        """A poll begins: its number."""
        with self._lock:
            self._polls += 1
            return self._polls

    def seen(self, poll: int, found: Iterable[PbsReservation]) -> None:
        """What that poll has shown. What was told since it began is newer."""
        shown: dict[str, list[PbsReservation]] = {}
        for each in found:
            shown.setdefault(each.name, []).append(each)
        with self._lock:
            newer = {token: told for token, told in self._told.items() if told[0] >= poll}
            self._told = {t: (poll, each[0]) for t, each in shown.items() if len(each) == 1}
            self._told.update(newer)

    def of(self, token: str) -> PbsReservation | None:
        """The one of this token; None: ask."""
        with self._lock:
            told = self._told.get(token)
        return None if told is None else told[1]

    def told(self, token: str, reservation: PbsReservation) -> None:
        """It was read again, or altered, just now."""
        self.doubts.read(reservation.id, reservation)
        with self._lock:
            self._told[token] = self._polls, reservation

    def forget(self, token: str) -> None:
        """It is gone, or nobody knows what it is now: nor does a poll that began before."""
        with self._lock:
            self._told[token] = self._polls, None
