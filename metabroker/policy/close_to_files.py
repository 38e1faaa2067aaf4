"""Close to files: components go where their input lies, or comes to soonest.

After the placement policy of this name in KOALA (Mohamed and Epema 2004): of the clusters that have
room for a component, the one to which its files come in the least time. Among clusters that are
alike in that it is Worst Fit. Files decide where a job starts, never whether: it fits exactly where
it would by Worst Fit.
"""

from collections.abc import Sequence

from metabroker.policy.placement import (
    Place,
    in_users_order,
    without,
    worst_fit,
    worst_fit_reuse,
)
from metabroker.policy.request import Placement, Request


def close_to_files(request: Request, idle: Sequence[int]) -> Placement | None:
    """Close to files on distinct clusters.

    By decreasing size, a component goes to the cluster of the least cost (`Request.costs`, in
    seconds) that has room for it and no component of this job yet; ties go to the most idle one,
    then to the lowest index. A larger component has fewer clusters to choose from, all of which a
    smaller one could have, too. So no other choice of distinct clusters has a smaller sum of costs,
    or a smaller largest one, and there is a choice whenever Worst Fit finds one.
    """
    if request.needs or not request.costs:
        return worst_fit(request, idle)
    if request.groups:
        return _in_cheapest_group(close_to_files, request, idle)
    left, costs = without(request, idle), request.costs
    chosen: list[int] = []
    for size in request.decreasing:
        cluster = _cheapest(size, left, costs)
        if cluster < 0:
            return None
        left[cluster] = -1
        chosen.append(cluster)
    return in_users_order(request, chosen)


def close_to_files_reuse(request: Request, idle: Sequence[int]) -> Placement | None:
    """Close to files that allows the reuse of clusters, as KOALA does.

    By decreasing size, a component goes to the cluster of the least cost that still has room; of
    equal ones to the one with the most processors left. If that leaves no room for a later one, all
    are placed by Worst Fit with reuse; and what does not fit by that does not fit.
    """
    if request.needs or not request.costs:
        return worst_fit_reuse(request, idle)
    if request.groups:
        return _in_cheapest_group(close_to_files_reuse, request, idle)
    spread = worst_fit_reuse(request, idle)
    if spread is None:
        return None
    left, costs = without(request, idle), request.costs
    chosen: list[int] = []
    for size in request.decreasing:
        cluster = _cheapest(size, left, costs)
        if cluster < 0:
            return spread
        left[cluster] -= size
        chosen.append(cluster)
    return in_users_order(request, chosen)


def transfer_time(request: Request, placement: Sequence[int]) -> float:
    """How long the files of a job take to come where it is put, in seconds: as long as those of
    the component that gets them last."""
    costs = request.costs
    return max([costs[cluster] for cluster in placement]) if costs else 0.0


def _cheapest(size: int, left: Sequence[int], costs: Sequence[float]) -> int:
    """The cluster of the least cost that has room; -1: none has."""
    best = -1
    for cluster, room in enumerate(left):
        if room >= size and (best < 0 or (costs[cluster], -room) < (costs[best], -left[best])):
            best = cluster
    return best


def _in_cheapest_group(place: Place, request: Request, idle: Sequence[int]) -> Placement | None:
    """The same where all clusters must be of one group: of the groups in which it fits the one to
    which its files come soonest; of equal ones the one that has most idle, then the first."""
    assert request.ungrouped is not None
    found: Placement | None = None
    best = (0.0, 0.0, 0)
    for group in request.groups:
        left = [free if cluster in group else 0 for cluster, free in enumerate(idle)]
        placement = place(request.ungrouped, left)
        if placement is None:
            continue
        every = sum(request.costs[cluster] for cluster in placement)
        rank = transfer_time(request, placement), every, -sum(max(0, free) for free in left)
        if found is None or rank < best:
            found, best = placement, rank
    return found
