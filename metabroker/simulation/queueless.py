"""First Come First Served on one pool, without a queue of events.

Jobs start in the order of submission, so the start of each follows from those in front of it: not
before it is submitted, not before the one in front of it starts, and when enough processors are
idle. The order of events at one instant makes no difference. It is the schedule that the engine
makes with the same policy (the tests compare them), in a fraction of the time.
"""

from collections.abc import Iterable
from heapq import heappop, heappush

from metabroker.policy import Placement, PoolFcfs
from metabroker.simulation.errors import impossible
from metabroker.simulation.job import SimJob
from metabroker.simulation.stream import CHUNK, Finished, Sink, in_order


def play_in_order(policy: PoolFcfs, jobs: Iterable[SimJob], processors: int, sink: Sink) -> int:
    """Play all jobs to a policy on one cluster of `processors`; see `simulate`."""
    free = processors
    ends: list[Finished] = []
    done: list[Finished] = []
    possible: set[object] = set()
    here: Placement = (0,)
    now = 0.0
    key = -1
    for key, job in enumerate(in_order(jobs)):
        submit, request, _, run_time, _ = job
        clusters = here
        size = request.total
        if not request.single or size > processors or request.needs:
            if request.shape not in possible and not policy.ever_fits(request, 1, (processors,)):
                raise impossible(key, request, (processors,))
            possible.add(request.shape)
            clusters = here * len(request.sizes)
        if submit > now or not key:
            now = submit
        while free < size:
            ended = heappop(ends)
            if ended[0] > now:
                now = ended[0]
            free += ended[3].request.total
            done.append(ended)
        free -= size
        heappush(ends, (now + run_time, key + 1, key, job, clusters, request.sizes, now))
        if len(done) >= CHUNK:
            sink(done[:CHUNK])
            done = done[CHUNK:]
    done.extend(sorted(ends))
    for first in range(0, len(done), CHUNK):
        sink(done[first : first + CHUNK])
    return key + 1
