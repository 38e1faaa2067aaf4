"""Which queue a job joins, where the papers say "submitted locally" (models: section 2).

A job whose user named a cluster joins that cluster's local queue; else its user's home cluster's;
else that of the cluster which has the most idle processors after what already waits there. Only
clusters large enough for it count.
"""

from __future__ import annotations

from collections.abc import Container, Sequence


def choose_local(
    largest: int,
    *,
    chosen: int | None,
    home: int | None,
    sizes: Sequence[int],
    known: Sequence[bool],
    available: Sequence[int],
    waiting: Sequence[int],
    excluded: Container[int] = (),
) -> int:
    """The local queue of a job whose largest component has `largest` processors.

    `sizes`, `known`, `available` and `waiting` give, for each cluster, its processors in all (0:
    not known), whether it answers, those that could be had now, and those that the jobs in its
    local queue wait for; `excluded` are those that the job must not go to. Ties go to the lowest
    index.
    """
    if chosen is not None:
        return chosen
    clusters = range(len(sizes))
    fitting = [c for c in clusters if sizes[c] >= largest or sizes[c] == 0]
    fitting = [c for c in fitting if c not in excluded] or fitting
    answering = [c for c in fitting if known[c]]
    candidates = answering or fitting or list(clusters)
    if home is not None and home in candidates:
        return home
    return max(candidates, key=lambda c: (available[c] - waiting[c], -c))
