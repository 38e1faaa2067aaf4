"""Best Fit and fewest clusters: where the jobs of a grid go (ER 2.4).

Placement rules as in placement.py.
"""

from collections.abc import Sequence

from metabroker.policy.placement import in_one_group, ordered, without
from metabroker.policy.request import Placement, Request, Sizes


def best_fit(request: Request, idle: Sequence[int]) -> Placement | None:
    """Best Fit (ER 2.4): the cluster "on which the job leaves the least number of free resources".

    The components, by decreasing size, go to distinct clusters; ties go to the lowest index.
    """
    if request.needs:
        return ordered(request, idle)
    if request.bounded:
        if request.groups:
            return in_one_group(best_fit, request, idle)
        idle = without(request, idle)
    left = list(idle)
    chosen: list[int] = []
    for size in request.decreasing:
        cluster = _tightest(size, left)
        if cluster < 0:
            return None
        left[cluster] = -1
        chosen.append(cluster)
    return tuple([chosen[rank] for rank in request.rank])


def fewest_clusters(request: Request, idle: Sequence[int]) -> Placement | None:
    """Fewest clusters (ER 2.4): all components on one by Best Fit, else over the most idle ones.

    One cluster after the other, the most idle first, takes the largest components that still fit.
    Components are not split, unless the request says so: then the answer has one cluster for each
    part, and `parts_of` tells their sizes. For any job's splitting see `split_over_fewest`.
    """
    if request.needs:
        return ordered(request, idle)
    if request.parts > 1:
        return _in_parts(request, idle)
    if request.bounded:
        if request.groups:
            return in_one_group(fewest_clusters, request, idle)
        idle = without(request, idle)
    one = _tightest(request.total, idle)
    if one >= 0:
        return (one,) * len(request.sizes)
    placement = [-1] * len(request.sizes)
    unplaced = list(request.order)
    for cluster in _most_idle_first(idle):
        room, still = idle[cluster], []
        for component in unplaced:
            if request.sizes[component] <= room:
                room -= request.sizes[component]
                placement[component] = cluster
            else:
                still.append(component)
        unplaced = still
        if not unplaced:
            return tuple(placement)
    return None


def _in_parts(request: Request, idle: Sequence[int]) -> Placement | None:
    """As `split_over_fewest`, within what the request says of its parts. In one cluster it need not
    be near to any other."""
    idle = without(request, idle)
    one = _tightest(request.total, idle)
    if one >= 0:
        return (one,)
    if request.groups:
        return in_one_group(_in_parts, request, idle)
    left, clusters = request.total, list[int]()
    rooms = [processors // request.grain * request.grain for processors in idle]
    for cluster in _most_idle_first(rooms)[: request.parts]:
        if rooms[cluster] < 1:
            break
        clusters.append(cluster)
        left -= rooms[cluster]
        if left <= 0:
            return tuple(clusters)
    return None


def parts_of(request: Request, clusters: Placement, idle: Sequence[int]) -> Sizes:
    """The processors that each part has of a request that `fewest_clusters` has split over these
    clusters, when so many were idle: all that there were, and the last one the rest."""
    rooms = without(request, idle)
    sizes = [rooms[cluster] // request.grain * request.grain for cluster in clusters[:-1]]
    return (*sizes, request.total - sum(sizes))


def split_over_fewest(total: int, idle: Sequence[int]) -> tuple[Placement, Sizes] | None:
    """`total` processors on as few clusters as can be: (clusters, processors on each) (ER 2.4).

    One cluster by Best Fit if one has enough, else the most idle ones, each used up but the last.
    None if there are not enough idle processors in all clusters together.
    """
    one = _tightest(total, idle)
    if one >= 0:
        return (one,), (total,)
    clusters: list[int] = []
    sizes: list[int] = []
    for cluster in _most_idle_first(idle):
        if idle[cluster] < 1:
            break
        size = min(total, idle[cluster])
        clusters.append(cluster)
        sizes.append(size)
        total -= size
        if not total:
            return tuple(clusters), tuple(sizes)
    return None


def _tightest(size: int, idle: Sequence[int]) -> int:
    """The cluster with the fewest idle processors that are enough; -1 if there is none."""
    best, least = -1, 0
    for cluster, free in enumerate(idle):
        if free >= size and (best < 0 or free < least):
            best, least = cluster, free
    return best


def _most_idle_first(idle: Sequence[int]) -> list[int]:
    return sorted(range(len(idle)), key=lambda cluster: -idle[cluster])
