"""Which clusters' own queues a job stands in, where others want those clusters too.

In a cluster with users of its own, processors that are idle now are promised to jobs that wait
there. So a job that the policy would start next *stands in line*: it waits in the own queues of
several clusters at once, as *siblings*, and starts where it comes up first. Here is who stands
where; of jobs with one component, by "the lengths of the local queues" (BE07, future work), as
Worst Fit goes by idle processors.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple


class NativeQueue(NamedTuple):
    """A cluster's own queue. `processors`: in nodes that take jobs; `waiting`: so many are wanted
    by others' jobs that wait there."""

    processors: int
    waiting: int


class Standing(NamedTuple):
    """A job of `size` processors that may stand in these clusters, and stands in some already."""

    key: int
    size: int
    clusters: Collection[int]
    stands_in: Collection[int] = ()


def stand(
    jobs: Sequence[Standing], queues: Mapping[int, NativeQueue], siblings: int
) -> dict[int, tuple[int, ...]]:
    """Where each job (by key) is to stand in line besides where it stands already.

    `jobs` in the order in which the policy would start them; `queues`: those in which jobs may
    stand, by cluster. Each job gets up to `siblings` clusters, with those that it has; the ones
    with the shortest queues for their size, ours counted, ties to the lowest index.
    """
    load = {cluster: queue.waiting for cluster, queue in queues.items()}
    for job in jobs:
        for cluster in job.stands_in:
            if cluster in load:
                load[cluster] += job.size
    found: dict[int, tuple[int, ...]] = {}
    for job in jobs:
        more = siblings - len(job.stands_in)
        able = [
            cluster
            for cluster in job.clusters
            if cluster in queues
            and cluster not in job.stands_in
            and queues[cluster].processors >= job.size
        ]
        if more <= 0 or not able:
            continue
        able.sort(key=lambda cluster: (load[cluster] / queues[cluster].processors, cluster))
        chosen = tuple(able[:more])
        for cluster in chosen:
            load[cluster] += job.size
        found[job.key] = chosen
    return found
