"""A tiny event loop over a policy: batch order, exact arithmetic, no statistics."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

from metabroker.policy import Placement, Request, Scheduler


@dataclass(frozen=True)
class Arrival:
    """A job of a stream."""

    time: float
    request: Request
    local: int
    service: float


def stream(
    number: int,
    composition: Sequence[int] = (25, 25, 25, 25),
    load: float = 0.8,
    seed: int = 1,
    largest: int = 8,
) -> list[Arrival]:
    """Poisson arrivals of jobs with 1, 2, 3, 4 components (percent), for 4 x 32 processors."""
    rng = Random(seed)
    components = sum(share * count for count, share in enumerate(composition, 1)) / 100
    gap = components * (largest + 1) / 2 / (load * 128)
    now, jobs = 0.0, []
    for _ in range(number):
        now += rng.expovariate(1) * gap
        count = rng.choices((1, 2, 3, 4), composition)[0]
        sizes = tuple(rng.randint(1, largest) for _ in range(count))
        jobs.append(Arrival(now, Request(sizes), rng.randrange(4), rng.expovariate(1)))
    return jobs


def schedule(
    scheduler: Scheduler, jobs: Sequence[Arrival], processors: Sequence[int] = (32,) * 4
) -> list[tuple[float, Placement]]:
    """The start time and placement of every job."""
    idle = list(processors)
    answers: dict[int, tuple[float, Placement]] = {}
    ends: list[tuple[float, int]] = []
    arrived = 0
    while arrived < len(jobs) or ends:
        times = [end for end, _ in ends[:1]] + [job.time for job in jobs[arrived : arrived + 1]]
        now = min(times)
        while ends and ends[0][0] == now:
            _, key = heappop(ends)
            request, placement = jobs[key].request, answers[key][1]
            for cluster, size in zip(placement, request.sizes, strict=True):
                idle[cluster] += size
            scheduler.depart([placement[component] for component in request.order])
        while arrived < len(jobs) and jobs[arrived].time == now:
            job = jobs[arrived]
            queue = scheduler.queue_of(job.request, job.local)
            scheduler.arrive(arrived, job.request, queue, now)
            arrived += 1
        for key, placement in scheduler.run(idle, now):
            answers[key] = (now, placement)
            heappush(ends, (now + jobs[key].service, key))
        assert min(idle) >= 0
    assert idle == list(processors)
    assert not len(scheduler)
    return [answers[key] for key in range(len(jobs))]
