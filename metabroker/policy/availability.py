"""When clusters that others use too will have processors free: the earliest common start.

A co-allocated job needs processors of several clusters at one instant, which on busy clusters does
not come by itself. From what each cluster holds until when, and from what waits there, follows when
it could have them (Ernemann et al. 2002 plan by the same profiles). A job is taken to come after
all that were in a cluster's own queue when it was submitted, and after whom that queue has put
before any of them since: each of those has its place in the profile first, as in CONSERVATIVE
backfilling. So nothing is planned for earlier than the cluster's own queue would give a job of that
size which joined it then.
"""

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

from metabroker.policy.placement import Place, worst_fit
from metabroker.policy.profile import NEVER, Profile, Slot
from metabroker.policy.request import Request

_OVERDUE = 60.0  # seconds for which what should have ended is taken to go on
_HERE = (0,)
_MOST = 256  # jobs, and reservations, of a cluster that are looked at one by one


class Held(NamedTuple):
    """Processors that are in use now, until a moment (Unix seconds; inf: nobody knows)."""

    processors: int
    until: float


class Booked(NamedTuple):
    """Processors that a reservation keeps, from `start` until `end` (Unix seconds)."""

    processors: int
    start: float
    end: float


class Wanted(NamedTuple):
    """A job that waits in a cluster's own queue: its processors, its time limit in seconds, and
    since when (Unix seconds; 0: for longer than anybody)."""

    processors: int
    seconds: float
    since: float = 0.0


class Outlook(NamedTuple):
    """What is known of a cluster. `processors`: in nodes that take jobs; `wanted` in the order in
    which they would start."""

    processors: int
    held: Sequence[Held] = ()
    booked: Sequence[Booked] = ()
    wanted: Sequence[Wanted] = ()


def profile_of_cluster(outlook: Outlook, now: float) -> Profile:
    """The processors that will be free there, after all who wait there had theirs. It has some
    hundred steps at most, of however much is known: what ends at about the same time is taken to
    end together, then."""
    found = Profile([outlook.processors])
    for held in _few_held(outlook.held):
        until = held.until if held.until > now else now + _OVERDUE
        found.take(now, until, _HERE, (held.processors,))
    book(found, _few_booked(outlook.booked), now)
    rest = 0.0
    for place, wanted in enumerate(outlook.wanted):
        if place < _MOST:
            _queue(found, wanted, now)
        elif wanted.processors <= outlook.processors:
            rest += wanted.processors * wanted.seconds
    if rest:  # as if all of the cluster worked at it
        _queue(found, Wanted(outlook.processors, rest / outlook.processors), now)
    return found


def before(wanted: Sequence[Wanted], since: float) -> int:
    """How many of them, in their order, come before one who waits since then: up to the last that
    has waited for as long."""
    return max((n for n, each in enumerate(wanted, 1) if each.since <= since), default=0)


def book(profile: Profile, reservations: Iterable[Booked], now: float) -> None:
    """Take what reservations keep from now on."""
    for booked in reservations:
        if booked.end > now:
            profile.take(max(booked.start, now), booked.end, _HERE, (booked.processors,))


def give_back(profile: Profile, reservations: Iterable[Booked], now: float) -> Profile:
    """The profile as it would be without these."""
    found = profile.copy()
    for booked in reservations:
        if booked.end > now:
            found.give(max(booked.start, now), booked.end, _HERE, (booked.processors,))
    return found


def _queue(profile: Profile, wanted: Wanted, now: float) -> None:
    """A waiting job has its place; one that never fits there has none."""
    start, _ = profile.earliest(Request((wanted.processors,)), wanted.seconds, now)
    if start < inf:
        profile.take(start, start + wanted.seconds, _HERE, (wanted.processors,))


def _few_held(held: Sequence[Held]) -> Iterable[Held]:
    if len(held) <= _MOST:
        return held
    held = sorted(held, key=lambda each: each.until)
    groups = (held[i : i + -(-len(held) // _MOST)] for i in _cuts(len(held)))
    return [Held(sum(each.processors for each in group), group[-1].until) for group in groups]


def _few_booked(booked: Sequence[Booked]) -> Iterable[Booked]:
    if len(booked) <= _MOST:
        return booked
    booked = sorted(booked, key=lambda each: each.start)
    groups = (booked[i : i + -(-len(booked) // _MOST)] for i in _cuts(len(booked)))
    return [
        Booked(sum(each.processors for each in group), group[0].start, max(b.end for b in group))
        for group in groups
    ]


def _cuts(count: int) -> range:
    return range(0, count, -(-count // _MOST))


def earliest_common_start(
    pools: Sequence[Profile],
    request: Request,
    seconds: float,
    not_before: float,
    *,
    place: Place = worst_fit,
) -> Slot:
    """The first moment, at least `not_before`, from which all components can be had for so many
    seconds, and on which clusters; of several by `place`, which is Worst Fit.

    `pools`: those of all clusters, by index; one of no processors is no candidate. (inf, ()): as
    far as is known they never can be had.
    """
    found = Profile.of(pools, place).earliest(request, seconds, not_before)
    return found if found[0] < inf else NEVER
