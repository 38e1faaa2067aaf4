"""How many jobs per second the policies alone decide on: `python -m benchmarks.policy_speed`.

A small event loop (Poisson arrivals, exponential service, D(0.9) on [1,8], 4 x 32 processors, BE03
3) records the calls of a policy; then the same calls are replayed and timed without the loop. A
second table has one departure with 1,000 and with 100,000 jobs waiting over 20 clusters.
"""

import argparse
import gc
import random
import time
from collections.abc import Sequence
from heapq import heappop, heappush

from metabroker.policy import POLICIES, Aging, Context, Request, Scheduler, Start, make

CLUSTERS = 4
PROCESSORS = 32
SIZES = range(1, 9)
WEIGHTS = [0.9**size * (3 if size in (1, 2, 4, 8) else 1) for size in SIZES]
MEAN_SIZE = sum(map(lambda s, w: s * w, SIZES, WEIGHTS)) / sum(WEIGHTS)

Arrival = tuple[float, Request, int, float]
Step = tuple[float, int, Request | None, int, Sequence[int], list[int]]


def jobs(number: int, utilization: float, seed: int) -> list[Arrival]:
    """(time, request, local queue, service time) of the composition (25, 25, 25, 25)."""
    rng = random.Random(seed)
    rate = utilization * CLUSTERS * PROCESSORS / (MEAN_SIZE * 2.5)
    shapes: dict[tuple[int, ...], Request] = {}
    now, made = 0.0, []
    for _ in range(number):
        now += rng.expovariate(rate)
        sizes = tuple(rng.choices(SIZES, WEIGHTS, k=rng.randint(1, 4)))
        request = shapes.setdefault(sizes, Request(sizes))
        made.append((now, request, rng.randrange(CLUSTERS), rng.expovariate(1)))
    return made


def record(scheduler: Scheduler, stream: list[Arrival]) -> tuple[list[Step], float]:
    """The calls that the event loop makes, and the mean waiting time."""
    steps: list[Step] = []
    idle = [PROCESSORS] * CLUSTERS
    ends: list[tuple[float, int, tuple[int, ...]]] = []
    waited, arrived = 0.0, 0
    while arrived < len(stream) or ends:
        if arrived < len(stream) and (not ends or stream[arrived][0] < ends[0][0]):
            now, request, local, _ = stream[arrived]
            queue = scheduler.queue_of(request, local)
            steps.append((now, arrived, request, local, (), idle.copy()))
            scheduler.arrive(arrived, request, queue, now)
            arrived += 1
        else:
            now, key, placement = heappop(ends)
            request = stream[key][1]
            for cluster, size in zip(placement, request.sizes, strict=True):
                idle[cluster] += size
            clusters = [placement[component] for component in request.order]
            steps.append((now, -1, None, 0, clusters, idle.copy()))
            scheduler.depart(clusters)
        for key, placement in scheduler.run(idle, now):
            heappush(ends, (now + stream[key][3], key, placement))
            waited += now - stream[key][0]
    return steps, waited / len(stream)


def replay(scheduler: Scheduler, steps: list[Step]) -> float:
    """Seconds for the recorded calls."""
    steps = [(*step[:5], step[5].copy()) for step in steps]
    gc.collect()
    begin = time.process_time()
    for now, key, request, local, clusters, idle in steps:
        if request is not None:
            scheduler.arrive(key, request, scheduler.queue_of(request, local), now)
        else:
            scheduler.depart(clusters)
        scheduler.run(idle, now)
    return time.process_time() - begin


class Nothing(Scheduler):
    """Decides nothing: the cost of the loop itself."""

    def _indices(self) -> Sequence[int]:
        return (0,)

    def _enabled(self) -> list[object]:  # type: ignore[override]
        return []

    def queue_of(self, request: Request, local: int) -> int:
        return 0

    def arrive(self, *args: object, **options: object) -> None:
        pass

    def depart(self, clusters: Sequence[int] = ()) -> None:
        pass

    def run(self, *args: object) -> list[Start]:
        return []


def speeds(number: int, utilization: float, names: Sequence[str]) -> None:
    """Print jobs per second without and with aging."""
    stream = jobs(number, utilization, 1)
    print(f"{number} jobs, utilization {utilization}: jobs/s of the policy's calls alone")
    for name in names:
        row = [f"{name:6}"]
        for aging in (None, Aging(overtaken=20)):

            def scheduler(aging: Aging | None = aging, name: str = name) -> Scheduler:
                return make(name, CLUSTERS, aging=aging, rng=random.Random(2))

            steps, waited = record(scheduler(), stream)
            empty = Nothing(Context(1, lambda request, idle: None))
            seconds = min(replay(scheduler(), steps) - replay(empty, steps) for _ in range(3))
            row.append(f"{number / seconds:10,.0f} (mean wait {waited:.3f})")
        print(*row)


def long_queues() -> None:
    """Print the seconds of a pass after one departure with few and with many jobs waiting."""
    print("20 clusters: microseconds of arrive, depart and run with n jobs waiting")
    for name in ("FCFS", "LS-DO", "LP-GF", "FPFS"):
        row = [f"{name:6}"]
        for aging in (None, Aging(overtaken=20)):
            for waiting in (1_000, 100_000):
                row.append(f"{one_pass(name, aging, waiting) * 1e6:8.1f}")
        print(*row, "(1,000 and 100,000 waiting; then with aging)")


def one_pass(name: str, aging: Aging | None, waiting: int) -> float:
    """Seconds for one job out, one in, over many repetitions."""
    rng = random.Random(3)
    scheduler = make(name, 20, aging=aging)
    requests = [Request(tuple(rng.choices(SIZES, k=rng.randint(1, 4)))) for _ in range(200)]
    for key in range(waiting):
        request = rng.choice(requests)
        scheduler.arrive(key, request, scheduler.queue_of(request, rng.randrange(20)), 0.0)
    idle = [0] * 20
    scheduler.depart()
    scheduler.run(idle, 0.0)
    times = []
    for key in range(waiting, waiting + 300):
        freed = rng.sample(range(20), 4)
        for cluster in freed:
            idle[cluster] += 2
        request = rng.choice(requests)
        begin = time.process_time()
        scheduler.arrive(key, request, scheduler.queue_of(request, rng.randrange(20)), 0.0)
        scheduler.depart(freed)
        scheduler.run(idle, 0.0)
        times.append(time.process_time() - begin)
    return sorted(times)[len(times) // 2]


def main() -> None:
    """Run both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=50_000)
    parser.add_argument("--utilization", type=float, default=0.75)
    parser.add_argument("policies", nargs="*", default=list(POLICIES))
    arguments = parser.parse_args()
    speeds(arguments.jobs, arguments.utilization, arguments.policies)
    long_queues()


if __name__ == "__main__":
    main()
