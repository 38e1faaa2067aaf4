"""Looking at reservations, as operations without I/O."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import NamedTuple

from metabroker.clusters.operation import Operation
from metabroker.clusters.port import UnknownOutcome
from metabroker.clusters.transports.base import Command, Completed

from . import answers, commands, listed
from .answers import failure
from .asking import told
from .doubts import Doubts
from .listing import Listing
from .parsing import PbsReservation


class Seen(NamedTuple):
    """The ids of all, `known`; what is `found` of them; those of which nobody knows the owner; and
    how many connections that took."""

    known: Sequence[str]
    found: list[PbsReservation]
    unread: list[str]
    asked: int


def look(doubts: Doubts) -> Operation[Seen]:
    """All reservations. Of those that are not certain some may be as they were read before.

    Raises:
        UnknownOutcome: one that may be the broker's own has never been read; a later look may.
    """
    seen = yield from _all(doubts)
    awaited = doubts.of_the_first_look(seen.known, seen.unread)
    if awaited:
        raise UnknownOutcome(
            f"pbs_rstat: {len(awaited)} reservations are not known yet: one holds what looks like "
            "others in its name or a resource; they are asked for one by one, some at each look"
        )
    return seen


def of_token(token: str, doubts: Doubts) -> Operation[list[PbsReservation]]:
    """The broker's reservations of one token: names are not unique.

    Raises:
        UnknownOutcome: there may be one that has never been read; some more are, each time.
    """
    seen = yield from _all(doubts, token)
    if seen.unread:
        raise UnknownOutcome(f"pbs_rstat: {len(seen.unread)} reservations are not known yet")
    return [r for r in seen.found if r.name == token and r.owner == doubts.own]


def one(identity: str) -> Operation[PbsReservation | None]:
    """One reservation; None if it is not there."""
    done = yield from _shown(commands.list_reservations(identity))
    return listed.alone(done.stdout, identity)


def is_there(identity: str) -> Operation[bool]:
    """Whether there is one of that id, of anybody."""
    return (yield from one(identity)) is not None


def _all(doubts: Doubts, token: str | None = None) -> Operation[Seen]:
    """The ids come first: one that is deleted in between is gone, whoever writes of it."""
    begun = doubts.begin()
    known = yield from _ids()
    doubts.only(set(known), begun)
    if not known:
        return Seen([], [], [], 1)
    listing = Listing(known, (yield from _shown(commands.list_reservations())).stdout, doubts)
    asked = 2
    while turn := doubts.turn(listing.doubtful, listing.alone, token):
        listing.read((yield from _one_by_one(turn)))
    if listing.tells_news():
        # It may be somebody's word for one that was there, and had gone when it was asked for.
        listing.are_there((yield from _ids()))
        asked += 1
    found, unread = listing.ends()
    return Seen(known, found, unread, asked + len(listing.alone))


def _ids() -> Operation[list[str]]:
    return listed.ids((yield from _shown(commands.list_reservation_ids())).stdout)


def _one_by_one(ids: Sequence[str]) -> Operation[dict[str, str]]:
    """What is shown of each, asked for alone."""
    mark = secrets.token_hex(8)
    done = yield from _shown(commands.show_reservations(ids, mark))
    return listed.each(done.stdout, mark, ids)


def _shown(asked: Command) -> Operation[Completed]:
    """What `pbs_rstat` shows, which may succeed where it has reached no server."""
    done = yield from told(asked, also=frozenset({answers.UNKNOWN_RESERVATION}))
    said = filter(str.strip, done.stderr.splitlines())
    if not all("Unknown Reservation Id" in line for line in said):
        raise failure(done, "pbs_rstat")
    return done
