"""Reservations as `pbs_rstat -F` shows them, into which any user can write.

There is no JSON of them, and a line end in a value is printed as it is: a user's reservation, in
its name or a string resource, can hold what looks like another one, anybody's, of any size; or
like other attributes of its own. So what reservations there are, `pbs_rstat -B` tells, in which
there are ids alone. Between the heads of two blocks that are each there once is nothing but what
the first one's user has written: it is read, unless it tells twice what is read of it. All else is
doubtful, and asked for one by one, each below a mark that nobody can have guessed. What is shown of
one alone is taken out of the listing, in which the others may be certain then. (See `doubts` for
whom to ask, and `listing`.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

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
    certain what is shown. One that cannot be read, or tells something twice, is left out.

    Raises:
        Garbled: a line outside a block; or it is cut off.
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
    """The one that was asked for by its id, whatever stands in it; None: it is not there, or cannot
    be read, as it tells something twice.

    Raises:
        Garbled: it is another one; or it is cut off.
    """
    to_its_end(text, "\n\n", "pbs_rstat")
    head, *lines = text.split("\n")
    if not head:
        return None
    if head != f"{_HEAD}{identity}":
        raise Garbled(f"pbs_rstat: not {identity}: {text[:200]!r}")
    return next(iter(_read(identity, lines)), None)


def each(text: str, mark: str, asked: Sequence[str]) -> dict[str, str]:
    """What is shown of those that were asked for one by one, each below a line of the mark and its
    id.

    Raises:
        Garbled: not all have been asked for.
    """
    found, rest = dict[str, str](), text
    for identity in reversed(asked):
        rest, marked, found[identity] = rest.rpartition(f"{mark} {identity}\n")
        if not marked:
            raise Garbled(f"pbs_rstat: nothing is told of {identity}")
    return found


def heads(text: str) -> set[str]:
    """The ids of all that a listing looks as if it showed."""
    return {line.removeprefix(_HEAD) for line in text.split("\n") if line.startswith(_HEAD)}


def holds_others(shown: str) -> bool:
    """Whether what is shown of one alone holds what looks like another."""
    return f"\n{_HEAD}" in shown


def without(
    text: str, shown: Mapping[str, str], order: Sequence[str]
) -> tuple[str, Sequence[str], bool]:
    """The listing without those of which this is shown alone; `order`: the ids of all that are in
    it, as the server tells them. Answers both again, and whether that was daring: a text with empty
    lines in it may be more than one's own block, if it was changed in a moment.

    One is left where it is if it has changed since, or if it is not certain that it is its own
    block, and the whole of it: it stands there once, and the next one's head follows.
    """
    there = heads(text)
    left = [identity for identity in order if identity in there]
    daring = False
    for identity, block in shown.items():
        if identity not in left or not block:
            continue
        before, _, after = text.partition(block)
        place = left.index(identity)
        following = left[place + 1 : place + 2]
        ends = after.startswith(f"{_HEAD}{following[0]}\n") if following else not after
        if ends and text.count(block) == 1 and (not before or before.endswith("\n\n")):
            text = before + after
            left.remove(identity)
            daring = daring or "\n\n" in block[:-1]
    return text, left, daring


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
    """The reservation; none, if it tells something twice: one of the two its user has written; or
    lacks what every reservation has, or tells it in a way that is not known: that is its alone."""
    has: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(" = ")
        key = key.strip()
        if key in has and key in _READ:
            return []
        has.setdefault(key, value.strip())
    try:
        return [reservation(identity, has)]
    except Garbled:
        return []
