"""What is known of reservations where a listing is not certain of them (see `listed`).

One user can make all of a listing doubtful, and each that is asked for alone is a connection to the
server. So there are only so many in a look, and what was read before counts beyond them. Of some
things a listing cannot convince at all: an owner does not change, and what a listing tells of the
broker's own is as it was read before, or asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from .parsing import PbsReservation

MOST = 24
"""Reservations that are asked for alone in one look."""
MOST_OF_TOKEN = 96  # where those of one token are looked for
_AT_ONCE = 8  # what these tell may make all others certain


@dataclass(frozen=True, slots=True)
class _Reading:
    """`found`: as it was read last (None: there is nothing that can be read); `owner`: of whom it
    is, beyond doubt (None: that is not known); `at`: the number of the reading."""

    found: PbsReservation | None
    owner: str | None
    at: int


class Doubts:
    """What was read of reservations, by id; of anybody's. `own`: the account whose are the
    broker's."""

    def __init__(self, own: str) -> None:
        self.own = own
        self._lock = threading.Lock()
        self._readings: dict[str, _Reading] = {}
        self._forgers: set[str] = set()
        self._awaited: set[str] | None = None
        self._count = 0

    def begin(self) -> int:
        """A listing is asked for: a mark for `only`."""
        with self._lock:
            return self._count

    def only(self, known: Collection[str], begun: int) -> None:
        """There were no others at that mark."""
        with self._lock:
            self._readings = {
                identity: reading
                for identity, reading in self._readings.items()
                if identity in known or reading.at > begun
            }
            self._forgers.intersection_update(self._readings)

    def read(self, identity: str, found: PbsReservation | None, *, sure: bool = True) -> None:
        """It was read. `sure`: beyond doubt; None: it tells something twice, as none of the
        broker's own does."""
        with self._lock:
            before = self._readings.get(identity)
            owner = before.owner if before is not None else None
            if sure:
                owner = "" if found is None else found.owner
            self._count += 1
            self._readings[identity] = _Reading(found, owner, self._count)

    def forges(self, identity: str) -> None:
        """Its text holds what looks like others."""
        with self._lock:
            self._forgers.add(identity)

    def owner(self, identity: str) -> str | None:
        """Of whom it is; None: that is not known beyond doubt."""
        with self._lock:
            reading = self._readings.get(identity)
        return None if reading is None else reading.owner

    def believes(self, listed: PbsReservation, *, weak: bool) -> bool:
        """Whether a listing can be right in this. `weak`: it would not be certain but for what was
        taken out of it, which may have been more than one's own text."""
        with self._lock:
            before = self._readings.get(listed.id)
        owner = before.owner if before is not None else None
        if owner is None:
            return not weak
        if owner != listed.owner:
            return False
        return not weak or before is None or before.found == listed

    def is_news(self, listed: PbsReservation) -> bool:
        """Whether it is not as it was read last."""
        with self._lock:
            before = self._readings.get(listed.id)
        return before is None or before.found != listed

    def turn(
        self, doubtful: Iterable[str], asked: Collection[str], token: str | None = None
    ) -> list[str]:
        """Whom to ask for next, in a look in which so many were; nobody: it has asked enough.

        `token`: only those of the broker's own that bear it are wanted. Else forgers come first, as
        long as they are so few that all others may be certain without them; then the broker's own,
        then those that nobody has read yet, a new forger among them, each a part of all that are
        asked for at most; then those that were read longest ago.
        """
        most = MOST if token is None else MOST_OF_TOKEN
        part = most // 3
        with self._lock:
            of_look = dict.fromkeys([*doubtful, *asked])
            forgers, own, unread, others = self._sorted(of_look, token)
        if len(forgers) > part or (token is not None and len(own) + len(unread) <= _AT_ONCE):
            forgers = []
        left = min(_AT_ONCE, most - len(asked))
        for group, share in ((forgers, part), (own, part), (unread, most), (others, most)):
            waiting = [identity for identity in group if identity not in asked]
            room = min(left, share - (len(group) - len(waiting)))
            if waiting and room > 0:
                return waiting[:room]
        return []

    def as_read(self, doubtful: Iterable[str]) -> tuple[list[PbsReservation], list[str]]:
        """Those that were not asked for, as they were read last; and those whose owner is not
        known."""
        with self._lock:
            readings = {identity: self._readings.get(identity) for identity in doubtful}
        found = [r.found for r in readings.values() if r is not None and r.found is not None]
        return found, [i for i, r in readings.items() if r is None or r.owner is None]

    def of_the_first_look(self, known: Sequence[str], unread: Sequence[str]) -> list[str]:
        """Those that were there when the broker looked first, and have not been read since: there
        may be some of its own among them. Its own that come later are read as they are made."""
        with self._lock:
            if self._awaited is None:
                self._awaited = set(known)
            self._awaited &= set(unread)
            return [identity for identity in unread if identity in self._awaited]

    def _sorted(
        self, doubtful: Iterable[str], token: str | None
    ) -> tuple[list[str], list[str], list[str], list[str]]:
        forgers: list[str] = []
        own: list[tuple[int, str]] = []
        unread: list[str] = []
        others: list[tuple[int, str]] = []
        for identity in doubtful:
            reading = self._readings.get(identity)
            if identity in self._forgers:
                forgers.append(identity)
            elif reading is None or reading.owner is None:
                unread.append(identity)
            elif reading.owner != self.own:
                others.append((reading.at, identity))
            elif token is None or (reading.found is not None and reading.found.name == token):
                own.append((reading.at, identity))
        if token is not None:
            others.clear()
        return forgers, [i for _, i in sorted(own)], unread, [i for _, i in sorted(others)]
