"""When clusters that others use too will have processors free: the earliest common start.

A co-allocated job needs processors of several clusters at one instant, which on busy clusters does
not come by itself. From what each cluster holds until when, and from what waits there, follows when
it could have them (Ernemann et al. 2002 plan by the same profiles). A job is taken to come after
all that wait in a cluster's own queue: each of those has its place in the profile first, as in
CONSERVATIVE backfilling. So nothing is planned for earlier than the cluster's own queue would give
a job of that size which joins it now.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from metabroker.policy.placement import Place, worst_fit
from metabroker.policy.profile import NEVER, PoolProfile, Profile, Slot
from metabroker.policy.request import Request

_OVERDUE = 60.0  # seconds for which what should have ended is taken to go on
_HERE = (0,)
_MOST_WANTED = 256  # waiting jobs that have a place of their own in a profile


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
    """A job that waits in a cluster's own queue: its processors, and its time limit in seconds."""

    processors: int
    seconds: float


class Outlook(NamedTuple):
    """What is known of a cluster. `processors`: in nodes that take jobs; `wanted` in the order in
    which they would start. `planned`: what is planned there already, which may be `share` at a
    time (None: all)."""

    processors: int
    held: Sequence[Held] = ()
    booked: Sequence[Booked] = ()
    wanted: Sequence[Wanted] = ()
    planned: Sequence[Booked] = ()
    share: int | None = None


def profile_of_cluster(outlook: Outlook, now: float) -> PoolProfile:
    """The processors that will be free there, after all who wait there had theirs."""
    found = PoolProfile(outlook.processors)
    for held in outlook.held:
        found.take(now, max(held.until, now + _OVERDUE), _HERE, (held.processors,))
    _book(found, (*outlook.booked, *outlook.planned), now)
    rest = 0.0
    for place, wanted in enumerate(outlook.wanted):
        if place < _MOST_WANTED:
            _queue(found, wanted, now)
        elif wanted.processors <= outlook.processors:
            rest += wanted.processors * wanted.seconds
    if rest:  # as if all of the cluster worked at it
        _queue(found, Wanted(outlook.processors, rest / outlook.processors), now)
    if outlook.share is None:
        return found
    left = PoolProfile(outlook.share)
    _book(left, outlook.planned, now)
    return found.least(left)


def _book(profile: PoolProfile, reservations: Sequence[Booked], now: float) -> None:
    for booked in reservations:
        if booked.end > now:
            profile.take(max(booked.start, now), booked.end, _HERE, (booked.processors,))


def _queue(profile: PoolProfile, wanted: Wanted, now: float) -> None:
    """A waiting job has its place; one that never fits there has none."""
    start, _ = profile.earliest(Request((wanted.processors,)), wanted.seconds, now)
    if start < inf:
        profile.take(start, start + wanted.seconds, _HERE, (wanted.processors,))


def earliest_common_start(
    outlooks: Sequence[Outlook],
    request: Request,
    seconds: float,
    now: float,
    *,
    not_before: float,
    place: Place = worst_fit,
) -> Slot:
    """The first moment, at least `not_before`, from which all components can be had for so many
    seconds, and on which clusters; of several by `place`, which is Worst Fit.

    `outlooks`: those of all clusters, by index; one of no processors is no candidate. (inf, ()): as
    far as is known they never can be had.
    """
    pools = [profile_of_cluster(outlook, now) for outlook in outlooks]
    found = Profile.of(pools, place).earliest(request, seconds, max(now, not_before))
    return found if found[0] < inf else NEVER
