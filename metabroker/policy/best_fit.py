"""Best Fit and fewest clusters: where the jobs of a grid go (ER 2.4).

Placement rules as in placement.py; only policies in the simulator use them.
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
    Components are not split; for the splitting of a whole job see `split_over_fewest`.
    """
    if request.needs:
        return ordered(request, idle)
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
