"""A program: prints every policy's schedules of small workloads, as JSON, and who has made them.

`test_compiled.py` runs its text in the compiled and in the interpreted form.
"""

import json
import sys
from collections.abc import Iterator
from random import Random

from metabroker.policy import PLANNERS, POLICIES, Planner, Request, Scheduler, make, make_planner
from metabroker.policy import sequential as tasks
from metabroker.simulation import EVENT_ORDERS, Finished, SimJob, engine, simulate

JOBS = 150
GRID = (32, 32, 32, 32)
POOL = (64,)


def stream(grid: bool, ordered: bool = False) -> Iterator[SimJob]:
    """Requests of one to four components, or totals for a pool; often several at one instant."""
    rng = Random(7)
    now = 0.0
    for _ in range(JOBS):
        now += rng.choice((0.0, rng.expovariate(8 if grid else 3)))
        sizes = rng.choices((1, 2, 3, 5, 8, 13), k=rng.randint(1, 4) if grid else 1)
        clusters = rng.sample(range(4), len(sizes)) if ordered and rng.random() < 0.4 else None
        request = Request(tuple(sizes), None if clusters is None else tuple(clusters))
        run = rng.choice((1.0, rng.expovariate(1)))
        yield SimJob(now, request, rng.randrange(4 if grid else 1), run, run * rng.choice((1, 3)))


def mix() -> Iterator[SimJob]:
    """Sequential jobs and gangs."""
    rng = Random(8)
    now = 0.0
    for _ in range(JOBS):
        now += rng.expovariate(1.5)
        number = rng.randint(1, 40)
        request = Request((number,)) if rng.random() < 0.5 else tasks(number)
        yield SimJob(now, request, 0, rng.expovariate(0.3), 9.0)


def systems() -> Iterator[tuple[str, Scheduler | Planner, tuple[int, ...], Iterator[SimJob]]]:
    """Every policy, in every discipline and on every kind of system that it knows."""
    for name in POLICIES:
        yield name, make(name, 4, rng=Random(5)), GRID, stream(grid=True)
        yield f"{name} ordered", make(name, 4, rng=Random(5)), GRID, stream(True, ordered=True)
        yield f"{name} on a pool", make(name, 1, rng=Random(5)), POOL, stream(grid=False)
        if name not in ("FCFS", "FPFS"):
            policy = make(name, 4, discipline="FPFS", rng=Random(5))
            yield f"{name} with FPFS", policy, GRID, stream(grid=True)
    for name in PLANNERS:
        if name.startswith(("AFCFS", "LG-SS")):
            yield name, make_planner(name, POOL), POOL, mix()
            continue
        overhead = 0.2 if name == "MULTI-SITE" else 0.0
        yield name, make_planner(name, GRID, overhead=overhead), GRID, stream(grid=True)
        yield f"{name} on a pool", make_planner(name, POOL), POOL, stream(grid=False)


def main() -> None:
    schedules: dict[str, list[object]] = {}
    for order in EVENT_ORDERS:
        for name, policy, processors, jobs in systems():
            done: list[Finished] = []
            simulate(policy, jobs, processors, done.extend, event_order=order)
            schedules[f"{name}, {order}"] = [
                (end, serial, key, clusters, sizes, start)
                for end, serial, key, _, clusters, sizes, start in done
            ]
    json.dump(schedules, sys.stdout)
    print(engine.__file__, file=sys.stderr)


if __name__ == "__main__":
    main()
