"""Reservations as `pbs_rstat -F` shows them, into which any user can write.

There is no JSON of them, and a line end in a value is printed as it is: a user's reservation, in
its name or a string resource, can hold what looks like another one, anybody's, of any size; or
like other attributes of its own. So what reservations there are, `pbs_rstat -B` tells, in which
there are ids alone. Between the heads of two blocks that are each there once is nothing but what
the first one's user has written: it is read, unless it tells twice what is read of it. All else is
doubtful, and asked for one by one, each below a mark that nobody can have guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from metabroker.clusters.command_errors import Garbled

from .parsing import PbsReservation, is_reservation_id, reservation, to_its_end

_HEAD = "Resv ID: "
_READ = frozenset(
    {
        *("Reserve_Name", "Reserve_Owner", "reserve_state", "reserve_substate", "reserve_start"),
        *("reserve_end", "ctime", "queue", "Resource_List.ncpus", "resv_nodes"),
    }
)


def ids(text: str) -> list[str]:
    """The reservations that `pbs_rstat -B` lists.

    Raises:
        Garbled: a line that is no reservation's id; or it is cut off.
    """
    to_its_end(text, "\n", "pbs_rstat")
    found = []
    for line in filter(str.strip, text.split("\n")):
        identity = line.removeprefix(_HEAD).strip()
        if not line.startswith(_HEAD) or not is_reservation_id(identity):
            raise Garbled(f"pbs_rstat: not a reservation's id: {line[:200]!r}")
        found.append(identity)
    return found


def reservations(text: str, known: Collection[str]) -> tuple[list[PbsReservation], list[str]]:
    """Those of the `known` ones that `pbs_rstat -F` shows; and the ids of those of which it is not
    certain what is shown. One that tells something twice is left out.

    Raises:
        Garbled: a line outside a block, or a block that lacks what every reservation has; or it
            is cut off.
    """
    blocks = _blocks(text)
    heads = Counter(identity for identity, _ in blocks)
    apart = [identity in known and heads[identity] == 1 for identity, _ in blocks]
    found, doubtful = [], dict[str, None]()
    for place, (identity, lines) in enumerate(blocks):
        if all(apart[place : place + 2]):  # nor does a forgery come next, in its middle
            found += _read(identity, lines)
        elif identity in known:
            doubtful[identity] = None
    return found, list(doubtful)


def alone(text: str, identity: str) -> PbsReservation | None:
    """The one that was asked for by its id, whatever stands in it; None: it is not there, or tells
    something twice.

    Raises:
        Garbled: it is another one, or lacks what every reservation has; or it is cut off.
    """
    to_its_end(text, "\n\n", "pbs_rstat")
    head, *lines = text.split("\n")
    if not head:
        return None
    if head != f"{_HEAD}{identity}":
        raise Garbled(f"pbs_rstat: not {identity}: {text[:200]!r}")
    return next(iter(_read(identity, lines)), None)


def each(text: str, mark: str, asked: Sequence[str]) -> list[PbsReservation]:
    """Those that were asked for one by one, each below a line of the mark and its id.

    Raises:
        Garbled: as `alone`; or not all have been asked for.
    """
    found, rest = [], text
    for identity in reversed(asked):
        rest, marked, shown = rest.rpartition(f"{mark} {identity}\n")
        if not marked:
            raise Garbled(f"pbs_rstat: nothing is told of {identity}")
        one = alone(shown, identity)
        found += [one] if one is not None else []
    return found[::-1]


def _blocks(text: str) -> list[tuple[str, list[str]]]:
    to_its_end(text, "\n\n", "pbs_rstat")  # an empty line follows each
    blocks: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if line.startswith(_HEAD):
            blocks.append((line.removeprefix(_HEAD).strip(), []))
        elif blocks:
            blocks[-1][1].append(line)
        elif line.strip():
            raise Garbled(f"pbs_rstat: {line[:200]!r}")
    return blocks


def _read(identity: str, lines: Sequence[str]) -> list[PbsReservation]:
    """The reservation; none, if it tells something twice: one of the two its user has written."""
    has: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(" = ")
        key = key.strip()
        if key in has and key in _READ:
            return []
        has.setdefault(key, value.strip())
    return [reservation(identity, has)]
