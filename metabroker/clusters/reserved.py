"""What reservations keep over the time to come, in steps, each of one number of processors.

Two reservations may keep the same node one after the other, or, for maintenance, at the same time.
So what they keep together at some moment follows from what each keeps of each node then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from metabroker.policy.availability import Booked

_MOST = 100  # steps; more are told as fewer


class Reserved(NamedTuple):
    """A reservation, from `start` until `end` (Unix seconds), and its processors by node."""

    start: float
    end: float
    nodes: Mapping[str, int]


def steps(reservations: Iterable[Reserved], room: Mapping[str, int]) -> tuple[Booked, ...]:
    """What they keep together, in the order of time. `room`: the processors of each node; others
    are nobody's concern. Of very many steps neighbours are told as one, by the higher of them."""
    changes = [
        (moment, sign, each.nodes)
        for each in reservations
        if each.end > each.start
        for moment, sign in ((each.start, 1), (each.end, -1))
    ]
    wanted, kept, since = dict.fromkeys(room, 0), 0, 0.0
    found: list[Booked] = []
    for moment, sign, nodes in sorted(changes, key=lambda change: change[0]):
        if kept and moment > since:
            found.append(Booked(kept, since, moment))
        since = moment
        for name in nodes.keys() & room.keys():
            before = min(wanted[name], room[name])
            wanted[name] += sign * nodes[name]
            kept += min(wanted[name], room[name]) - before
    return _few(found)


def _few(found: list[Booked]) -> tuple[Booked, ...]:
    each = -(-len(found) // _MOST)
    if each <= 1:
        return tuple(found)
    groups = (found[first : first + each] for first in range(0, len(found), each))
    return tuple(Booked(max(s.processors for s in g), g[0].start, g[-1].end) for g in groups)
