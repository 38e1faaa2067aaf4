"""Looking at reservations, as operations without I/O."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from metabroker.clusters.operation import Operation
from metabroker.clusters.port import UnknownOutcome
from metabroker.clusters.transports.base import Command, Completed

from . import answers, commands, listed
from .answers import failure
from .asking import told
from .commands import PbsIdentity
from .doubts import Doubts
from .parsing import PbsReservation


def look(doubts: Doubts) -> Operation[tuple[list[PbsReservation], int]]:
    """All reservations, and how many connections that took. Of those that are not certain some
    may be as they were read before.

    Raises:
        UnknownOutcome: one that may be the broker's own has never been read; a later look may.
    """
    known, found, unread, asked = yield from _all(doubts)
    awaited = doubts.of_the_first_look(known, unread)
    if awaited:
        raise UnknownOutcome(
            f"pbs_rstat: {len(awaited)} reservations are not known yet: one holds what looks like "
            "others in its name or a resource; they are asked for one by one, some at each look"
        )
    return found, asked


def of_token(who: PbsIdentity, token: str, doubts: Doubts) -> Operation[list[PbsReservation]]:
    """The reservations of one token: names are not unique.

    Raises:
        UnknownOutcome: there may be one that has never been read.
    """
    _, found, unread, _ = yield from _all(doubts)
    if unread:
        raise UnknownOutcome(f"pbs_rstat: {len(unread)} reservations are not known yet")
    return [r for r in found if r.name == token and r.owner == (who.operator or who.user)]


def one(identity: str) -> Operation[PbsReservation | None]:
    """One reservation; None if it is not there."""
    done = yield from _shown(commands.list_reservations(identity))
    return listed.alone(done.stdout, identity)


def is_there(identity: str) -> Operation[bool]:
    """Whether there is one of that id, of anybody."""
    return (yield from one(identity)) is not None


def _all(
    doubts: Doubts,
) -> Operation[tuple[Sequence[str], list[PbsReservation], list[str], int]]:
    """The ids of all; the reservations; the ids of those that nobody has ever read; and how many
    connections that took.

    The ids come first: one that is deleted in between is gone, whoever writes of it.
    """
    known = listed.ids((yield from _shown(commands.list_reservation_ids())).stdout)
    doubts.only(set(known))
    if not known:
        return [], [], [], 1
    text = (yield from _shown(commands.list_reservations())).stdout
    certain, doubtful = listed.reservations(text, known)
    alone: dict[str, PbsReservation | None] = {}
    order: Sequence[str] = known
    while turn := doubts.turn(doubtful, alone):
        shown = yield from _one_by_one(turn)
        for identity, its in shown.items():
            alone[identity] = listed.alone(its, identity)
            doubts.read(identity, alone[identity], forger=listed.holds_others(its))
        text, order = listed.without(text, shown, order)
        certain, doubtful = listed.reservations(text, [i for i in known if i not in alone])
    for each in certain:
        doubts.read(each.id, each)
    before, unread = doubts.as_read(doubtful)
    found = [*certain, *(each for each in alone.values() if each is not None), *before]
    return known, found, unread, 2 + len(alone)


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
