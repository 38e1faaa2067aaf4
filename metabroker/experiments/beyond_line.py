"""Beyond the papers: jobs of the broker in clusters with local users, placed where processors are
idle or standing in line (`shared_engine`). The experiments beyond-line and beyond-line-siblings,
and claims of ours, in data/beyond.csv.

Four clusters of 32 processors. Local users submit small jobs, the broker wide ones, a quarter of
them co-allocated: with a small job always next in a cluster's own queue, so many processors are
seldom idle at one instant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from metabroker.simulation.local_users import Line, LocalUsers
from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.planned import Plan
from metabroker.simulation.system import Run, System
from metabroker.simulation.workloads.distributions import Discrete, Exponential, power_law, shares
from metabroker.simulation.workloads.shapes import Composition
from metabroker.simulation.workloads.synthetic import Synthetic, rate_for

from .evidence import Below, Check, Close, Compared, Comparison, Quantity, Statement
from .experiment import Experiment, Figure, Point
from .result_cache import ResultCache
from .scale import Scale

CLUSTERS = (32, 32, 32, 32)
POLICY = "FPFS"
SCHEDULERS = ("EASY", "FCFS")
LOADS = (0.5, 0.6, 0.7, 0.75)
"""The gross utilization of each cluster by its local users."""
BROKER = 0.1
"""What the broker's jobs add to it."""
LOCAL_SIZES, WIDE_SIZES = power_law(0.9, 1, 8), power_law(0.9, 4, 16)
COMPOSITION = (75.0, 25.0)
_SERVICE = Exponential(1.0)

IDLE_ONLY = None
USUAL = Line(16, 2)
EVERYBODY = Line(10**6, 1)
"""Each job in the own queue of one cluster, as if its user had submitted it there."""
DEPTHS = (IDLE_ONLY, Line(1, 2), Line(4, 2), USUAL, Line(64, 2))
SIBLINGS = (IDLE_ONLY, Line(16, 1), USUAL, Line(16, 3), Line(16, 4))

_KINDS = {"single": "single jobs", "co_allocated": "co-allocated jobs", "local_users": "local jobs"}
NOTES = (
    "4 clusters of 32 processors, policy FPFS; local users: sizes D(0.9) on [1,8]; the broker: "
    "utilization 0.1, 25 % of its jobs with two components, sizes D(0.9) on [4,16]; service "
    "exponential with mean 1, estimates exact",
    "co-allocated jobs start only where processors are idle; a loser of the line leaves at once",
)


def _drawn(
    load: float,
    percent: tuple[float, ...],
    sizes: Discrete,
    queues: int,
    processors: int,
    service: Exponential,
) -> Synthetic:
    shapes = Composition(percent, sizes)
    rate = rate_for(load, shapes, service, processors)
    return Synthetic(shapes, service, shares([1] * queues), rate)


@cache
def run(
    scheduler: str,
    load: float,
    line: Line | None,
    jobs: int,
    seed: int,
    plan: Plan | None = None,
    service: Exponential = _SERVICE,
) -> Run:
    """The broker's jobs in clusters whose local users give them this load."""
    users = LocalUsers(_drawn(load, (100.0,), LOCAL_SIZES, 1, CLUSTERS[0], service), scheduler)
    workload = _drawn(BROKER, COMPOSITION, WIDE_SIZES, len(CLUSTERS), sum(CLUSTERS), service)
    system = System(CLUSTERS, POLICY, local=(users,) * len(CLUSTERS), line=line, plan=plan)
    return Run(system, workload, jobs, seed, short=service.mean / 10)


def waits(kind: str) -> Figure:
    """The mean wait of a kind of jobs; None of a run in which none of them has ended."""

    def wait(outcome: JobOutcome) -> float | None:
        return outcome.kinds[kind].wait if kind in outcome.kinds else None

    return wait


def named(line: Line | None) -> str:
    """What a way of placing jobs is called."""
    if line is None:
        return "idle-only"
    return f"depth {line.depth}, {line.siblings} sibling{'s' if line.siblings > 1 else ''}"


def _jobs(scale: Scale) -> int:
    """The broker's jobs in one replication: local users submit some twenty times as many."""
    return scale.jobs // 10


def _points(lines: Sequence[Line | None]) -> Callable[[Scale], list[Point]]:
    def points(scale: Scale) -> list[Point]:
        loads = LOADS if scale.points > 2 else LOADS[-1:]
        return [
            Point(
                f"{name}, local users' {scheduler}",
                named(line),
                kind,
                load,
                run(scheduler, load, line, _jobs(scale), scale.seed),
                waits(kind),
            )
            for scheduler in SCHEDULERS
            for kind, name in _KINDS.items()
            for line in lines
            for load in loads
        ]

    return points


def _remarks(results: ResultCache, scale: Scale) -> list[str]:
    count, jobs = scale.replications, _jobs(scale)
    return [f"{count} replications of {jobs} jobs of the broker's, seed {scale.seed}; 95 %"]


def _experiment(name: str, title: str, lines: Sequence[Line | None]) -> Experiment:
    return Experiment(
        name,
        title,
        "ours",
        "curves",
        "utilization by local users",
        "mean wait",
        _points(lines),
        notes=NOTES,
        remarks=_remarks,
        columns=3,
    )


def experiments() -> list[Experiment]:
    """By the depth of the line, and by the number of siblings."""
    return [
        _experiment("beyond-line", "Waits where clusters have local users, by depth", DEPTHS),
        _experiment("beyond-line-siblings", "The same, by the number of siblings", SIBLINGS),
    ]


# Claims

MUCH, CLOSE = 1.25, 0.10
BUSY = (0.7, 0.75)
Compare = Callable[[Quantity, Quantity], Comparison]


def _below(factor: float = 1.0) -> Compare:
    return lambda first, second: Below(first, second, factor)


def _close(tolerance: float) -> Compare:
    return lambda first, second: Close(first, second, tolerance)


def _claim(
    kind: str,
    compare: Compare,
    pairs: Iterable[tuple[Line | None, Line | None]],
    reading: str = "",
    loads: Sequence[float] = BUSY,
    doubt: str = "some intervals still contain the limit: it takes more replications",
) -> Compared:
    """The waits of a kind of jobs compared in pairs: a statement for each load and scheduler."""
    known = list(pairs)

    def statements(scale: Scale) -> list[Statement]:
        def quantity(scheduler: str, load: float, line: Line | None) -> Quantity:
            played = run(scheduler, load, line, _jobs(scale), scale.seed)
            return Quantity(f"{_KINDS[kind]} {named(line)}", (played,), waits(kind))

        return [
            Statement(
                f"{scheduler}, load {load:g}",
                (("", compare(quantity(scheduler, load, a), quantity(scheduler, load, b))),),
            )
            for scheduler in SCHEDULERS
            for load in loads
            for a, b in known
        ]

    return Compared(statements, reading, doubt, once=True)


_DOUBT = (
    "co-allocated jobs start only where all their processors are idle at one instant, and whoever "
    "stands in line takes processors that would have become so, most of all in busy clusters"
)


def checks() -> Mapping[str, Check]:
    """How each claim of data/beyond.csv is decided."""
    _, one, four, usual, deep = DEPTHS
    _, alone, _, _, most = SIBLINGS
    return {
        "BL-01": _claim("single", _below(), [(usual, IDLE_ONLY)]),
        "BL-02": _claim(
            "single", _below(1 / MUCH), [(usual, IDLE_ONLY)], f"much: by a factor of {MUCH}"
        ),
        "BL-03": _claim("single", _below(), [(one, IDLE_ONLY)]),
        "BL-04": _claim("single", _below(), [(four, one), (usual, four)]),
        "BL-05": _claim("single", _close(CLOSE), [(deep, usual)], "within 10 %"),
        "BL-06": _claim("single", _below(), [(usual, alone)]),
        "BL-07": _claim("single", _close(CLOSE), [(most, usual)], "within 10 %"),
        "BL-08": _claim(
            "co_allocated", _close(CLOSE), [(usual, IDLE_ONLY)], "within 10 %", doubt=_DOUBT
        ),
        "BL-09": _claim("local_users", _below(), [(IDLE_ONLY, usual)]),
        "BL-10": _claim(
            "local_users", _close(0.05), [(usual, EVERYBODY)], "as by sbatch: all jobs of one "
            "component in line, each in one queue; within 5 %", LOADS
        ),
    }  # fmt: skip
