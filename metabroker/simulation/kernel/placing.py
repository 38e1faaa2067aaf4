"""Worst Fit, without and with the reuse of clusters: `metabroker.policy.placement` on arrays."""

from __future__ import annotations

from typing import Any

from .compiled import inlined, program
from .layout import World


@program
def place(w: World, idle: Any, slot: int) -> bool:
    """Find the clusters of a job, into `where`; False: it does not fit."""
    if w.jobs[slot].parts == 1:
        best = most_idle(idle)
        w.where[slot, 0] = best
        return bool(idle[best] >= w.sizes[slot, 0])
    if w.state[0].reuse:
        return worst_fit_reuse(w, idle, slot)
    return worst_fit(w, idle, slot)


@inlined
def worst_fit(w: World, idle: Any, slot: int) -> bool:
    """On distinct clusters, the most idle first; ties go to the lowest index."""
    clusters, parts, left = len(idle), w.jobs[slot].parts, w.left
    for cluster in range(clusters):
        left[cluster] = idle[cluster]
    for part in range(parts):
        best = most_idle(left)
        if left[best] < w.sizes[slot, part]:
            return False
        left[best] = -1
        w.where[slot, part] = best
    return True


@program
def worst_fit_reuse(w: World, idle: Any, slot: int) -> bool:
    """On the most idle cluster without a component of the job, else on the most idle one with."""
    clusters, left = len(idle), w.left
    for cluster in range(clusters):
        left[cluster] = idle[cluster]
    for part in range(w.jobs[slot].parts):
        size = w.sizes[slot, part]
        best = most_idle_but(w, left, slot, part, False)
        if best < 0 or left[best] < size:
            best = most_idle_but(w, left, slot, part, True)
            if best < 0 or left[best] < size:
                return False
        left[best] -= size
        w.where[slot, part] = best
    return True


@inlined
def most_idle(idle: Any) -> int:
    """The cluster with the most idle processors."""
    best = 0
    for cluster in range(1, len(idle)):
        if idle[cluster] > idle[best]:
            best = cluster
    return best


@program
def most_idle_but(w: World, left: Any, slot: int, parts: int, used: bool) -> int:
    """The same among those on which a job's first `parts` are (`used`) or are not; -1: none."""
    best = -1
    for cluster in range(len(left)):
        has = False
        for part in range(parts):
            if w.where[slot, part] == cluster:
                has = True
                break
        if has == used and (best < 0 or left[cluster] > left[best]):
            best = cluster
    return best
