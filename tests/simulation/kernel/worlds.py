"""Random systems and jobs, and what both engines make of them."""

from dataclasses import replace
from random import Random

import numpy as np

from metabroker.policy import Options, Request, sequential
from metabroker.simulation import Impossible, SimJob, simulate
from metabroker.simulation.kernel.layout import Records
from metabroker.simulation.kernel.play import COVERED, play, uncovered
from metabroker.simulation.system import PolicyRng, System
from metabroker.simulation.workloads.blocks import blocks_of_jobs

Schedule = list[tuple[int, float, float, float, int]] | str
"""Key, submission, start, end and processors of each job in the order of the ends; or an error."""

QUEUES = COVERED[:15]


def system(policy: str, rng: Random) -> System:
    """A system that the kernel covers."""
    order = rng.choice(("batch", "batch", "pyss"))
    if policy not in QUEUES:
        return System((rng.randint(2, 16),), policy, event_order=order)
    clusters = tuple(rng.randint(2, 10) for _ in range(rng.randint(1, 5)))
    options = Options(
        ls_do=rng.choice(("all", "departures")),
        gp=rng.choice(("same-pass", "next-departure")),
        lq=rng.choice(("start", "departure", "arrival")),
    )
    discipline = None if policy in ("FCFS", "FPFS") else rng.choice((None, None, "FPFS"))
    placement = rng.choice((None, "worst-fit", "worst-fit-reuse"))
    made = System(clusters, policy, placement, discipline, options=options, event_order=order)
    return replace(made, event_order="batch") if uncovered(made) else made


def jobs(made: System, number: int, rng: Random) -> list[SimJob]:
    """Jobs for it, many of them at one instant. Most fit."""
    mix = made.policy.startswith(("AFCFS", "LG-SS"))
    least = min(made.processors)
    most = max(1, least // rng.choice((1, 1, 2, 4)))
    now, found = rng.choice((0.0, -3.0)), []
    gap = rng.choice((0.2, 0.5, 1.0))
    for _ in range(number):
        now += rng.choice((0.0, gap, rng.expovariate(1 / gap)))
        run = rng.choice((0.0, 1.0, 2.0, 3.0, rng.expovariate(0.5)))
        if mix and rng.random() < 0.5:
            request: Request = sequential(rng.randint(1, 4))
        else:
            parts = 1 if mix else rng.randint(1, len(made.processors))
            large = rng.random() < 0.1
            request = Request(tuple(least if large else rng.randint(1, most) for _ in range(parts)))
        if rng.random() < 0.002:
            request = Request((sum(made.processors) + 1,))
        local = rng.randrange(len(made.processors))
        found.append(SimJob(now, request, local, run, run * rng.choice((0.5, 1.0, 1.0, 4.0))))
    return found


def by_readable(made: System, stream: list[SimJob], seed: int) -> Schedule:
    """The readable engine's schedule."""
    found: list[tuple[int, float, float, float, int]] = []
    order, policy = made.event_order, made.scheduler(seed, 0)
    try:
        simulate(
            policy,
            stream,
            made.processors,
            lambda done: found.extend(
                (key, job.submit, start, end, job.request.total)
                for end, _, key, job, _, _, start in done
            ),
            event_order=order,
        )
    except Impossible as error:
        return str(error)
    return found


def by_kernel(made: System, stream: list[SimJob], seed: int) -> Schedule:
    """The kernel's."""
    found: list[tuple[int, float, float, float, int]] = []

    def sink(done: Records) -> None:
        columns = (done.key, done.submit, done.start, done.end, done.total)
        found.extend(zip(*(np.asarray(column).tolist() for column in columns), strict=True))

    try:
        play(made, blocks_of_jobs(stream, 1 + seed % 9), sink, PolicyRng(seed, 0).many)
    except Impossible as error:
        return str(error)
    return found


def differ(policy: str, seed: int, number: int = 60) -> str:
    """Where the two schedules of a random world differ; empty if they do not."""
    rng = Random(seed)
    made = system(policy, rng)
    stream = jobs(made, number, rng)
    one, other = by_readable(made, stream, seed), by_kernel(made, stream, seed)
    if one == other:
        return ""
    if isinstance(one, str) or isinstance(other, str):
        return f"{made}: {str(one)[:200]} and {str(other)[:200]}"
    first = next((pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]), "length")
    return f"{made}, {number} jobs of seed {seed}: {first}"
