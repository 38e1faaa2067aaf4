"""Placement where some clusters give whole nodes only.

A component holds as many nodes there as it needs, each whole. So several components of a job may
need more of one cluster than their processors add up to.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from metabroker.policy.placement import Place, worst_fit
from metabroker.policy.request import Placement, Request


def in_whole_nodes(place: Place, units: Sequence[int]) -> Place:
    """The rule `place`, so that what it chooses fits in whole nodes of `units[c]` processors.

    Where its choice does not, it is asked again with components that are rounded up to the nodes of
    one cluster after the other; the last choice is Worst Fit on distinct clusters. Who fits by none
    of these waits. With units of 1 the rule stays as it is.
    """
    coarse = sorted({unit for unit in units if unit > 1})
    if not coarse:
        return place

    def fits(clusters: Placement | None, sizes: Sequence[int], idle: Sequence[int]) -> bool:
        if clusters is None:
            return False
        held = Counter[int]()
        for cluster, size in zip(clusters, sizes, strict=True):
            held[cluster] += -(-size // units[cluster]) * units[cluster]
        return all(processors <= idle[cluster] for cluster, processors in held.items())

    def placed(request: Request, idle: Sequence[int]) -> Placement | None:
        found = place(request, idle)
        if found is None or request.parts > 1 or fits(found, request.sizes, idle):
            return found
        if request.needs:
            return None
        for unit in coarse:
            sizes = tuple(-(-size // unit) * unit for size in request.sizes)
            found = place(replace(request, sizes=sizes), idle)
            if fits(found, request.sizes, idle):
                return found
        found = worst_fit(request, idle)
        return found if fits(found, request.sizes, idle) else None

    return placed
