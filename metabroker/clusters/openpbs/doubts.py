"""Whom to ask for alone, of the reservations of which a listing is not certain (see `listed`).

One user can make all of them so, and each question is a connection to the server. So there are only
so many in a look. The text of who was asked for alone is known, and is taken out of the listing:
without the forger's all else in it is certain. A forger is known from then on, and asked for first;
then those that nobody has read yet, among which a new forger is. Beyond that a reservation counts
as it was read last.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

from .parsing import PbsReservation

MOST = 24
"""Reservations that are asked for alone in one look."""
_AT_ONCE = 8  # of them: what these tell may make all others certain


class Doubts:
    """What is known of reservations when a listing is not certain of them, by id; of anybody's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The one that was read longest ago comes first; None: it told something twice.
        self._read: dict[str, PbsReservation | None] = {}
        self._forgers: set[str] = set()
        self._awaited: set[str] | None = None

    def turn(self, doubtful: Sequence[str], asked: Collection[str]) -> list[str]:
        """Whom to ask for next, in a look in which so many were; nobody: it has asked enough."""
        with self._lock:
            forgers = [identity for identity in doubtful if identity in self._forgers]
            unread = [identity for identity in doubtful if identity not in self._read]
            among = set(doubtful)
            before = [identity for identity in self._read if identity in among]
        most = max(0, min(_AT_ONCE, MOST - len(asked)))
        if len(set(forgers).union(asked)) > MOST // 2:
            forgers = []  # there may be others; while one is left nothing else is certain
        for group in (forgers, unread, before):
            left = [identity for identity in group if identity not in asked]
            if left:
                return left[:most]
        return []

    def read(self, identity: str, found: PbsReservation | None, *, forger: bool = False) -> None:
        """It was read, beyond doubt. `forger`: its text holds what looks like others."""
        with self._lock:
            self._read.pop(identity, None)
            self._read[identity] = found
            if forger:
                self._forgers.add(identity)

    def as_read(self, doubtful: Sequence[str]) -> tuple[list[PbsReservation], list[str]]:
        """Those that were not asked for, as they were read last; and those that never were."""
        with self._lock:
            unread = [identity for identity in doubtful if identity not in self._read]
            found = [self._read.get(identity) for identity in doubtful]
        return [each for each in found if each is not None], unread

    def of_the_first_look(self, known: Sequence[str], unread: Sequence[str]) -> list[str]:
        """Those that were there when the broker looked first, and have not been read since: there
        may be some of its own among them. Those that come later are known when they are made."""
        with self._lock:
            if self._awaited is None:
                self._awaited = set(known)
            self._awaited &= set(unread)
            return [identity for identity in unread if identity in self._awaited]

    def only(self, known: Collection[str]) -> None:
        """There are no others any more."""
        with self._lock:
            self._read = {each: found for each, found in self._read.items() if each in known}
            self._forgers.intersection_update(known)
