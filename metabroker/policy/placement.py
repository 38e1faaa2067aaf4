"""Where a request's components go: the placement rules, as pure functions.

A rule is `place(request, idle) -> placement | None`: the cluster of each component in the user's
order, or None if the request does not fit on the idle processors `idle[cluster]`. `idle` is not
changed. An ordered request goes to its own clusters whatever the rule. A cluster with zero (or
fewer) idle processors never gets a component.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from metabroker.policy.request import Placement, Request

Place = Callable[[Request, Sequence[int]], Placement | None]


class Rng(Protocol):
    """The source of randomness of the randomised policies (random.Random is one)."""

    def randrange(self, stop: int, /) -> int:
        """A uniform integer from 0 to stop - 1."""


def ordered(request: Request, idle: Sequence[int]) -> Placement | None:
    """The clusters that an ordered request names, if it fits there (DCS 2.3).

    Several components on one cluster add up. A cluster outside of `idle` does not fit.
    """
    if request.groups and not any(
        all(cluster in group for cluster, _ in request.needs) for group in request.groups
    ):
        return None
    for cluster, processors in request.needs:
        if cluster >= len(idle) or idle[cluster] < processors:
            return None
    return request.clusters


def without(request: Request, idle: Sequence[int]) -> list[int]:
    """`idle` as it is for a request that excludes clusters (nothing there) or has bounds."""
    left = list(idle)
    for cluster in request.exclude:
        if cluster < len(left):
            left[cluster] = 0
    for cluster, most in request.bounds:
        if cluster < len(left) and left[cluster] > most:
            left[cluster] = most
    return left


def in_one_group(place: Place, request: Request, idle: Sequence[int]) -> Placement | None:
    """Where a rule puts an unordered request whose clusters are all of one of its groups: of the
    groups in which it fits the one that has most idle; of equal ones the first."""
    assert request.ungrouped is not None
    found, most = None, -1
    for group in request.groups:
        left = [free if cluster in group else 0 for cluster, free in enumerate(idle)]
        total = sum(max(0, free) for free in left)
        if total > most:
            placement = place(request.ungrouped, left)
            if placement is not None:
                found, most = placement, total
    return found


def worst_fit(request: Request, idle: Sequence[int]) -> Placement | None:
    """Worst Fit on distinct clusters (BE03 2.4, BE07 2.1).

    The i-th largest component goes to the cluster with the i-th most idle processors; the
    clusters are sorted once; ties go to the lowest index.
    """
    if request.needs:
        return ordered(request, idle)
    if request.bounded:
        if request.groups:
            return in_one_group(worst_fit, request, idle)
        idle = without(request, idle)
    if request.single:
        most = max(idle)
        return (idle.index(most),) if most >= request.total else None
    # The most idle of those left, again and again: the same as sorting once, and sooner done.
    left = list(idle)
    chosen: list[int] = []
    for size in request.decreasing:
        most = max(left)
        if most < size:
            return None
        cluster = left.index(most)
        left[cluster] = -1
        chosen.append(cluster)
    return tuple(chosen) if request.sorted else in_users_order(request, chosen)


def in_users_order(request: Request, clusters: Sequence[int]) -> Placement:
    """The i-th of `clusters` for the i-th largest component."""
    if request.sorted:
        return tuple(clusters[: len(request.rank)])
    return tuple([clusters[rank] for rank in request.rank])


def worst_fit_random_ties(rng: Rng) -> Place:
    """Worst Fit whose ties between equally idle clusters are broken at random."""

    def place(request: Request, idle: Sequence[int]) -> Placement | None:
        if request.needs:
            return ordered(request, idle)
        if request.bounded:
            if request.groups:
                return in_one_group(place, request, idle)
            idle = without(request, idle)
        clusters = list(range(len(idle)))
        for last in range(len(clusters) - 1, 0, -1):
            other = rng.randrange(last + 1)
            clusters[last], clusters[other] = clusters[other], clusters[last]
        clusters.sort(key=idle.__getitem__, reverse=True)
        if len(clusters) < len(request.sizes):
            return None
        if any(map(lambda size, c: idle[c] < size, request.decreasing, clusters)):
            return None
        return in_users_order(request, clusters)

    return place


def worst_fit_reuse(request: Request, idle: Sequence[int]) -> Placement | None:
    """Worst Fit that avoids the reuse of clusters but allows it (DCS 2.4).

    By decreasing size, a component goes to the most idle cluster that has no component of this
    job yet (list N), else to the most idle one that has (list Y), else the job does not fit.
    """
    if request.needs:
        return ordered(request, idle)
    if request.bounded:
        if request.groups:
            return in_one_group(worst_fit_reuse, request, idle)
        idle = without(request, idle)
    if max(idle) < request.decreasing[0]:
        return None
    fresh = sorted(range(len(idle)), key=idle.__getitem__, reverse=True)
    left = list(idle)
    used: list[int] = []
    chosen: list[int] = []
    next_fresh = 0
    for size in request.decreasing:
        if next_fresh < len(fresh) and left[fresh[next_fresh]] >= size:
            cluster = fresh[next_fresh]
            next_fresh += 1
            used.append(cluster)
        else:
            cluster = min(used, key=lambda c: (-left[c], c))
            if left[cluster] < size:
                return None
        left[cluster] -= size
        chosen.append(cluster)
    return in_users_order(request, chosen)


def one_pool(request: Request, idle: Sequence[int]) -> Placement | None:
    """In one pool only the total counts (BE07 2.1: total requests), whatever clusters are named."""
    return (0,) * len(request.sizes) if request.total <= idle[0] else None


def one_cluster(request: Request, idle: Sequence[int]) -> Placement | None:
    """The same where the pool is the only cluster, so that no other one can be named."""
    elsewhere = request.needs and request.needs[-1][0] > 0
    return None if elsewhere else one_pool(request, idle)


PLACEMENTS: Mapping[str, Place] = {
    "worst-fit": worst_fit,
    "worst-fit-reuse": worst_fit_reuse,
}
"""The placement rules by the names that configurations and scenarios use."""
