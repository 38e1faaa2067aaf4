"""One listing of reservations, while it is made certain."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from metabroker.clusters.command_errors import Garbled

from . import listed
from .doubts import Doubts
from .parsing import PbsReservation


class Listing:
    """What `pbs_rstat -F` shows of the `known` ones. `doubtful`: the ids of those of which it is
    not believed; `alone`: those that were asked for."""

    def __init__(self, known: Sequence[str], text: str, doubts: Doubts) -> None:
        self.alone: dict[str, PbsReservation | None] = {}
        self.doubtful: list[str] = []
        self._known = known
        self._order = known
        self._text = text
        self._doubts = doubts
        self._in_it: dict[str, str] = {}  # what is shown alone of those that are still in the text
        self._weak = False
        self._there: set[str] | None = None
        self._certain: list[PbsReservation] = []
        self._judge()

    def tells_news(self) -> bool:
        """Whether it shows what it did not before."""
        return any(map(self._doubts.is_news, self._certain))

    def are_there(self, ids: Collection[str]) -> None:
        """These still were after it was asked for: of others it may be somebody's word."""
        self._there = set(ids)
        self._judge()

    def read(self, shown: Mapping[str, str]) -> None:
        """This is shown of those that were asked for alone.

        Raises:
            Garbled: it is of another one, or cut off; or one of the broker's own cannot be read.
        """
        for identity, text in shown.items():
            found = listed.alone(text, identity)
            if text and found is None and self._doubts.owner(identity) == self._doubts.own:
                raise Garbled(f"pbs_rstat: {identity} is not to be read: {text[:200]!r}")
            self.alone[identity] = found
            self._doubts.read(identity, found)
            if listed.holds_others(text):
                self._doubts.forges(identity)
        self._in_it |= shown
        before: Sequence[str] = ()
        while len(before) != len(self._order):  # one may stand in another one's text
            before = self._order
            self._text, self._order, weak = listed.without(self._text, self._in_it, before)
            self._weak = self._weak or weak
            left = set(self._order)
            self._in_it = {each: text for each, text in self._in_it.items() if each in left}
        self._judge()

    def ends(self) -> tuple[list[PbsReservation], list[str]]:
        """No more is asked: what is known of all, and the ids of those whose owner is not."""
        for each in self._certain:
            self._doubts.read(each.id, each, sure=not self._weak)
        before, unread = self._doubts.as_read(self.doubtful)
        alone = [each for each in self.alone.values() if each is not None]
        return [*self._certain, *alone, *before], unread

    def _judge(self) -> None:
        left = {identity for identity in self._known if identity not in self.alone}
        certain, doubtful = listed.reservations(self._text, left)
        doubtful += left.difference(listed.heads(self._text))  # it may be cut off
        if self._there is not None:
            certain = [each for each in certain if each.id in self._there]
            doubtful = [identity for identity in doubtful if identity in self._there]
        believed = {r.id for r in certain if self._doubts.believes(r, weak=self._weak)}
        self._certain = [each for each in certain if each.id in believed]
        self.doubtful = doubtful + [each.id for each in certain if each.id not in believed]
