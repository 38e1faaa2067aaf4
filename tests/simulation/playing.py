"""Streams of jobs, and what became of them, for tests."""

from collections.abc import Iterable, Sequence
from random import Random

from metabroker.policy import PLANNERS, Planner, Request, Scheduler, make, make_planner
from metabroker.simulation import Finished, SimJob, simulate


def play(
    policy: str | Scheduler | Planner,
    jobs: Iterable[SimJob],
    processors: Sequence[int],
    event_order: str = "batch",
    overhead: float = 0.0,
) -> list[Finished]:
    """All finished jobs, by key."""
    if isinstance(policy, str):
        policy = new(policy, processors, overhead)
    done: list[Finished] = []
    number = simulate(policy, jobs, processors, done.extend, event_order=event_order)
    assert number == len(done)
    done.sort(key=lambda job: job[2])
    assert [job[2] for job in done] == list(range(number))
    return done


def new(policy: str, processors: Sequence[int], overhead: float = 0.0) -> Scheduler | Planner:
    """A policy by its name, of either kind."""
    if policy in PLANNERS:
        return make_planner(policy, processors, overhead=overhead)
    return make(policy, len(processors), rng=Random(5))


def waits(done: Iterable[Finished]) -> list[float]:
    return [start - job.submit for _, _, _, job, _, _, start in done]


def mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def stream(
    number: int,
    composition: Sequence[int] = (25, 25, 25, 25),
    utilization: float = 0.7,
    seed: int = 1,
    sizes: Sequence[int] = range(1, 9),
) -> list[SimJob]:
    """Poisson arrivals, exponential service; percent of jobs with 1, 2, ... components; 4 x 32."""
    rng = Random(seed)
    components = sum(share * count for count, share in enumerate(composition, 1)) / 100
    gap = components * mean(list(sizes)) / (utilization * 128)
    now, jobs = 0.0, []
    for _ in range(number):
        now += rng.expovariate(1 / gap)
        count = rng.choices(range(1, len(composition) + 1), composition)[0]
        request = Request(tuple(rng.choice(sizes) for _ in range(count)))
        service = rng.expovariate(1)
        jobs.append(
            SimJob(now, request, rng.randrange(4), service, service * rng.choice((1, 1.5, 4)))
        )
    return jobs
