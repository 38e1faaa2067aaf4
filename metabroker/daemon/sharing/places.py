"""Where jobs wait, and why, as a broker that stands by tells it of long lists: only the one that
leads knows that, and each answer of it is a row in the database.

So it is asked of the jobs of one page at a time, when that is made, and of none again within two
seconds, however many lists are asked for meanwhile. Who reads slowly has no more asked than is
read.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from metabroker.api.service import Json
from metabroker.service.queries import Places, Row
from metabroker.service.reasons import Waiting

_FRESH = 2.0  # seconds for which an answer is good
_KEPT = 40  # answers, each of a page
_UNTOLD = "this broker is a stand-by, and no broker leads now: where it waits is not known"

Ask = Callable[[Sequence[int]], Json | None]
"""What the leader says of these jobs; None: nothing."""
_Told = dict[int, Waiting | None]


class LeaderPlaces:
    """What the leader said lately. From any thread."""

    def __init__(self, ask: Ask, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: deque[tuple[float, _Told]] = deque(maxlen=_KEPT)

    def of(self, numbers: Sequence[int]) -> _Told | None:
        """Where these jobs wait (None: they do not); None: the leader says nothing."""
        found = self._known(numbers)
        missing = [number for number in numbers if number not in found]
        if missing:
            at, told = self._clock(), self._ask(missing)
            if told is None:
                return None
            waits = places(missing, told)
            answer: _Told = {number: waits.get(number) for number in missing}
            with self._lock:
                self._answers.append((at, answer))
            found |= answer
        return found

    def _known(self, numbers: Sequence[int]) -> _Told:
        with self._lock:
            while self._answers and self._clock() - self._answers[0][0] > _FRESH:
                self._answers.popleft()
            answers = [answer for _at, answer in self._answers]
        found: _Told = {}
        for answer in answers:
            found |= {number: answer[number] for number in numbers if number in answer}
        return found


class StandbyListing:
    """See `metabroker.service.queries.Listing`: one list, the places of which are as of each page's
    time."""

    def __init__(self, leader: LeaderPlaces) -> None:
        self._leader = leader
        self._silent = False  # nobody leads: no other page waits for that

    def places(self, rows: Sequence[Row]) -> Places:
        """Of those that wait."""
        waiting = [row["id"] for row in rows if row["state"] == "QUEUED"]
        told = None if self._silent or not waiting else self._leader.of(waiting)
        if told is None:
            self._silent = bool(waiting)
            return places(waiting, None)
        return {number: place for number, place in told.items() if place is not None}

    def texts(self, _numbers: Sequence[int]) -> dict[int, bytes]:
        """All are read from the store."""
        return {}


def places(waiting: Sequence[int], told: Mapping[str, Any] | None) -> Places:
    """Of these jobs, by what the broker that leads says; None: it says nothing."""
    if told is None:
        return {number: Waiting(None, _UNTOLD) for number in waiting}
    named = {number: told.get(str(number)) for number in waiting}
    starts = told.get("starts", {})
    return {
        number: Waiting(place[0], place[1], starts.get(str(number)))
        for number, place in named.items()
        if place is not None
    }
