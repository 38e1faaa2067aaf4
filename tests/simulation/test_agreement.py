"""The simulator speaks for the daemon: the whole broker starts every job at the very same time.

Protocol level (`protocol`: the broker's core, saga and ledger, clusters without latency) and policy
level (`metabroker.simulation`), for every policy and kind of request that both know.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from metabroker.broker.links import Links
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.broker.transfer import costs
from metabroker.policy import (
    BACKFILLING,
    POLICIES,
    SPLITTING,
    Limits,
    Options,
    Planner,
    Request,
    Scheduler,
    make,
    make_planner,
    split_total,
)
from metabroker.simulation.engine import Finished, simulate
from metabroker.simulation.job import SimJob
from metabroker.submission.inputs import Inputs
from tests.share import share

from .protocol import Protocol

SIZES = (32, 24, 16, 16)


def single(rng: random.Random) -> Request:
    return Request((rng.randint(1, min(SIZES)),))


def unordered(rng: random.Random) -> Request:
    return Request(tuple(rng.choice((1, 2, 3, 4, 8, 12, 16)) for _ in range(rng.randint(2, 4))))


def ordered(rng: random.Random) -> Request:
    chosen = rng.sample(range(len(SIZES)), rng.randint(1, len(SIZES)))
    return Request(tuple(rng.randint(1, SIZES[c]) for c in chosen), tuple(chosen))


def flexible(rng: random.Random) -> Request:
    limits = Limits(component=rng.choice((None, 16, 24)))
    sizes = split_total(rng.randint(1, 60), SIZES, limits)
    assert isinstance(sizes, tuple)
    return Request(sizes)


def mixed(rng: random.Random) -> Request:
    return rng.choice(KINDS[:-1])(rng)


KINDS: list[Callable[[random.Random], Request]] = [single, unordered, ordered, flexible, mixed]


def workload(
    seed: int, kind: Callable[[random.Random], Request], *, ties: bool, jobs: int = 100
) -> list[SimJob]:
    """Random jobs; with `ties`, all times are whole numbers: much happens at one instant."""
    rng = random.Random(seed)
    now, found = 0.0, []
    longer = 4 if kind is single else 1  # so that jobs have to wait
    for _ in range(jobs):
        now += rng.choice((0, 0, 1, 1, 2)) if ties else rng.expovariate(1.0)
        time = longer * (rng.randint(1, 9) if ties else rng.expovariate(0.25))
        request = kind(rng)
        local = rng.randrange(len(SIZES))
        if request.single and request.clusters is None:
            local = rng.choice([c for c, size in enumerate(SIZES) if size >= request.total] or [0])
        found.append(SimJob(now, request, local, time, time))
    return found


def policy_level(policy: str, jobs: list[SimJob], **options: object) -> list[float]:
    return starts_of(make(policy, len(SIZES), rng=random.Random(9), **options), jobs)  # type: ignore[arg-type]


def starts_of(
    policy: Scheduler | Planner, jobs: list[SimJob], parts: dict[int, int] | None = None
) -> list[float]:
    """The start times; `parts` takes the number of components of each job."""
    starts: dict[int, float] = {}

    def sink(done: list[Finished]) -> None:
        for _end, _serial, key, _job, clusters, _sizes, start in done:
            starts[key] = start
            if parts is not None:
                parts[key] = len(clusters)

    simulate(policy, jobs, SIZES, sink)
    return [starts[key] for key in range(len(jobs))]


def protocol_level(policy: str, jobs: list[SimJob], seed: int, **options: object) -> list[float]:
    rng = random.Random(seed)
    scheduler = make(policy, len(SIZES), rng=random.Random(9), **options)  # type: ignore[arg-type]
    return Protocol(scheduler, SIZES, [rng.random() < 0.5 for _ in SIZES]).run(jobs)


@pytest.mark.parametrize("ties", [False, True], ids=["any-times", "whole-times"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_job_starts_at_the_same_time(
    policy: str, kind: Callable[[random.Random], Request], ties: bool
) -> None:
    for seed in range(share(1)):
        jobs = workload(seed, kind, ties=ties)
        expected = policy_level(policy, jobs)
        assert protocol_level(policy, jobs, seed) == expected, f"seed {seed}"
        assert any(start > job.submit for start, job in zip(expected, jobs, strict=True))


OPTIONS = [
    ("LS-DO", {"options": Options(ls_do="departures")}),
    ("GP", {"options": Options(gp="next-departure")}),
    ("LQ", {"options": Options(lq="departure")}),
    ("LQ", {"options": Options(lq="arrival")}),
    ("LP-GF", {"discipline": "FPFS"}),
    ("LS-DO", {"discipline": "FPFS"}),
    ("GS", {"placement": "worst-fit-reuse"}),
]


@pytest.mark.parametrize(("policy", "options"), OPTIONS, ids=str)
def test_other_readings_agree_too(policy: str, options: dict[str, object]) -> None:
    for seed in range(share(1)):
        for ties in (False, True):
            jobs = workload(seed, mixed, ties=ties)
            assert protocol_level(policy, jobs, seed, **options) == policy_level(
                policy, jobs, **options
            )


def estimated(seed: int, kind: Callable[[random.Random], Request], *, ties: bool) -> list[SimJob]:
    """The same jobs, with time limits of whole seconds; no more than a daemon looks at."""
    rng = random.Random(seed)
    jobs = workload(seed, kind, ties=ties, jobs=64)
    return [job._replace(estimate=math.ceil(job.run_time * rng.choice((1, 2, 5)))) for job in jobs]


@pytest.mark.parametrize("ties", [False, True], ids=["any-times", "whole-times"])
@pytest.mark.parametrize("kind", KINDS[:3], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("policy", [name for name in BACKFILLING if name not in SPLITTING])
def test_backfilling_starts_every_job_at_the_same_time(
    policy: str, kind: Callable[[random.Random], Request], ties: bool
) -> None:
    if policy == "JOB-SHARING" and kind is not single:
        pytest.skip("each of its jobs has one component")
    for seed in range(share(1)):
        jobs = estimated(seed, kind, ties=ties)
        expected = starts_of(make_planner(policy, SIZES), jobs)
        assert protocol_level(policy, jobs, seed) == expected, f"seed {seed}"
        assert expected != sorted(expected), "somebody has overtaken somebody"


def of_any_size(rng: random.Random) -> Request:
    """Also larger than any cluster."""
    return Request((rng.choice((rng.randint(1, 16), rng.randint(1, sum(SIZES)))),))


@pytest.mark.parametrize("ties", [False, True], ids=["any-times", "whole-times"])
@pytest.mark.parametrize("overhead", [0.0, 0.25, 0.3, 1.0])
def test_multi_site_splits_every_job_as_in_the_simulator_and_starts_it_at_the_same_time(
    overhead: float, ties: bool
) -> None:
    for seed in range(share(2)):
        jobs = estimated(seed, of_any_size, ties=ties)
        parts: dict[int, int] = {}
        expected = starts_of(make_planner("MULTI-SITE", SIZES, overhead=overhead), jobs, parts)
        rng = random.Random(seed)
        scheduler = make("MULTI-SITE", len(SIZES), overhead=overhead)
        daemon = Protocol(scheduler, SIZES, [rng.random() < 0.5 for _ in SIZES], overhead=overhead)
        assert daemon.run(jobs) == expected, f"seed {seed}"
        assert daemon.parts == {key + 1: count for key, count in parts.items() if count > 1}
        assert daemon.parts and max(daemon.parts.values()) > 2, "many are split"
        assert expected != sorted(expected), "somebody has overtaken somebody"


def with_files(seed: int, jobs: list[SimJob]) -> tuple[list[SimJob], list[Inputs]]:
    """The same jobs, most of which read files that lie in some clusters."""
    rng = random.Random(seed + 100)
    settings = Settings("0123abcd", tuple(ClusterSettings(f"c{n}") for n in range(len(SIZES))))
    found, inputs = [], []
    for job in jobs:
        files = [
            (rng.choice((1, 2, 4, 10)) * 10**8, tuple(rng.sample(["c0", "c1", "c2", "c3"], copies)))
            for copies in rng.choice(([], [1], [1], [2], [1, 1]))
        ]
        inputs.append(Inputs(0, tuple(files)))
        cost = costs(inputs[-1], settings, Links())
        found.append(job._replace(request=replace(job.request, costs=cost)))
    return found, inputs


def close(policy: str, seed: int, jobs: list[SimJob], placement: str) -> list[float]:
    jobs, inputs = with_files(seed, jobs)
    rng = random.Random(seed)
    reserves = [rng.random() < 0.5 for _ in SIZES]
    scheduler = make(policy, len(SIZES), rng=random.Random(9), placement=placement)
    return Protocol(scheduler, SIZES, reserves, inputs=inputs).run(jobs)


@pytest.mark.parametrize("placement", ["close-to-files", "close-to-files-reuse"])
@pytest.mark.parametrize("kind", [single, unordered, mixed], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("policy", POLICIES)
def test_jobs_with_files_start_at_the_same_time(
    policy: str, kind: Callable[[random.Random], Request], placement: str
) -> None:
    for ties in (False, True):
        jobs = workload(3, kind, ties=ties)
        read, _inputs = with_files(3, jobs)
        expected = policy_level(policy, read, placement=placement)
        assert close(policy, 3, jobs, placement) == expected
        assert expected != policy_level(policy, jobs), "files matter"


@pytest.mark.parametrize("policy", [name for name in BACKFILLING if name not in SPLITTING])
def test_backfilling_agrees_for_jobs_with_files(policy: str) -> None:
    kind = single if policy == "JOB-SHARING" else unordered
    jobs = estimated(4, kind, ties=False)
    read, _inputs = with_files(4, jobs)
    expected = starts_of(make_planner(policy, SIZES, placement="close-to-files"), read)
    assert close(policy, 4, jobs, "close-to-files") == expected
