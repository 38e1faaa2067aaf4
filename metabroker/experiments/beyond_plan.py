"""Beyond the papers: co-allocated jobs in clusters with local users, planned ahead (`planned`)
against retrying and against the line. The experiment beyond-plan, and claims of ours, in
data/beyond.csv.

The clusters and jobs are those of `beyond_line`; the mean service time is half an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from metabroker.simulation.local_users import Line
from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.planned import Plan
from metabroker.simulation.system import Run
from metabroker.simulation.workloads.distributions import Exponential

from . import beyond_line
from .beyond_line import BUSY, LOADS, SCHEDULERS, USUAL
from .evidence import Below, Check, Close, Compared, Comparison, Quantity, Statement
from .experiment import Experiment, Point
from .result_cache import ResultCache
from .scale import Scale

_SERVICE = Exponential(1800.0)
_AGAIN = 600.0  # seconds between two looks; each costs time, and few jobs come in between


@dataclass(frozen=True)
class Way:
    """How the broker's jobs get processors."""

    name: str
    line: Line | None = None
    plan: Plan | None = None


RETRYING = Way("retrying")
IN_LINE = Way("line", USUAL)
HALF = Way("plans of half a cluster", USUAL, Plan(share=0.5, again=_AGAIN))
WHOLE = Way("plans of a whole cluster", USUAL, Plan(share=1.0, again=_AGAIN))
WAYS = (RETRYING, IN_LINE, HALF, WHOLE)

_KINDS = {"co_allocated": "co-allocated jobs", "single": "single jobs", "local_users": "local jobs"}
NOTES = (
    "4 clusters of 32 processors, policy FPFS; local users: sizes D(0.9) on [1,8]; the broker: "
    "utilization 0.1, 25 % of its jobs with two components, sizes D(0.9) on [4,16]; service "
    "exponential with mean 30 minutes, estimates exact",
    "retrying: all jobs start only where processors are idle; line: those of one component stand "
    "in line (depth 16, 2 siblings); plans: with the line, co-allocated jobs get a time",
    "idle for plans: processor-seconds that stood idle while the head of a cluster's own queue "
    "could have had them, by those of the planned jobs",
)


def _jobs(scale: Scale) -> int:
    """The broker's jobs in one replication: local users submit some twenty times as many."""
    return max(1, scale.jobs // 50)


def run(scheduler: str, load: float, way: Way, scale: Scale) -> Run:
    """The broker's jobs placed in this way, where local users give the clusters this load."""
    jobs = _jobs(scale)
    return beyond_line.run(scheduler, load, way.line, jobs, scale.seed, way.plan, _SERVICE)


def response(kind: str) -> Callable[[JobOutcome], float | None]:
    """The mean response time of a kind of jobs in minutes; None: none of them has ended."""

    def minutes(outcome: JobOutcome) -> float | None:
        return outcome.kinds[kind].response / 60 if kind in outcome.kinds else None

    return minutes


def idle(outcome: JobOutcome) -> float | None:
    """What stood idle for plans, in percent of the planned jobs' own."""
    return None if outcome.idle_for_plans is None else 100 * outcome.idle_for_plans


def _points(scale: Scale) -> list[Point]:
    loads = LOADS if scale.points > 2 else LOADS[-1:]
    found = [
        Point(
            f"{name}, local users' {scheduler} (minutes)",
            way.name,
            kind,
            load,
            run(scheduler, load, way, scale),
            response(kind),
        )
        for scheduler in SCHEDULERS
        for kind, name in _KINDS.items()
        for way in WAYS
        for load in loads
    ]
    found += [
        Point(
            f"idle for plans, local users' {scheduler} (%)",
            way.name,
            "idle",
            load,
            run(scheduler, load, way, scale),
            idle,
        )
        for scheduler in SCHEDULERS
        for way in (HALF, WHOLE)
        for load in loads
    ]
    return found


def _remarks(results: ResultCache, scale: Scale) -> list[str]:
    count = scale.replications
    return [f"{count} replications of {_jobs(scale)} jobs of the broker's, seed {scale.seed}; 95 %"]


def experiments() -> list[Experiment]:
    """Response times by load, and what stands idle."""
    return [
        Experiment(
            "beyond-plan",
            "Response times where co-allocated jobs are planned ahead",
            "ours",
            "curves",
            "utilization by local users",
            "mean response time, and what is idle",
            _points,
            notes=NOTES,
            remarks=_remarks,
            columns=2,
        )
    ]


# Claims

MUCH, NEAR = 1.25, 0.10
_DOUBT = "some intervals still contain the limit: it takes more replications"


def _claim(
    compare: Callable[[str, float, Scale], Comparison], reading: str = "", doubt: str = _DOUBT
) -> Compared:
    """A statement for each scheduler and busy load."""

    def statements(scale: Scale) -> list[Statement]:
        return [
            Statement(f"{scheduler}, load {load:g}", (("", compare(scheduler, load, scale)),))
            for scheduler in SCHEDULERS
            for load in BUSY
        ]

    return Compared(statements, reading, doubt, once=True)


def _below(kind: str, way: Way, other: Way, factor: float = 1.0) -> Compared:
    def compare(scheduler: str, load: float, scale: Scale) -> Comparison:
        return Below(*_both(kind, way, other, scheduler, load, scale), factor)

    return _claim(compare, "" if factor == 1 else f"much: by a factor of {MUCH}")


def _close(kind: str, way: Way, other: Way) -> Compared:
    def compare(scheduler: str, load: float, scale: Scale) -> Comparison:
        return Close(*_both(kind, way, other, scheduler, load, scale), NEAR)

    return _claim(compare, "within 10 %")


def _both(
    kind: str, way: Way, other: Way, scheduler: str, load: float, scale: Scale
) -> tuple[Quantity, Quantity]:
    first, second = (
        Quantity(
            f"{_KINDS[kind]} {each.name}", (run(scheduler, load, each, scale),), response(kind)
        )
        for each in (way, other)
    )
    return first, second


def _little_idle(way: Way) -> Compared:
    def compare(scheduler: str, load: float, scale: Scale) -> Comparison:
        played = (run(scheduler, load, way, scale),)
        limit = Quantity("10 %", played, lambda _outcome: 10.0)
        return Below(Quantity("idle for plans", played, idle), limit)

    return _claim(compare, "at most 10 % of the planned jobs' own")


def checks() -> Mapping[str, Check]:
    """How each claim of data/beyond.csv is decided."""
    return {
        "BA-01": _below("co_allocated", HALF, RETRYING),
        "BA-02": _below("co_allocated", HALF, IN_LINE, 1 / MUCH),
        "BA-03": _close("co_allocated", HALF, WHOLE),
        "BA-04": _close("local_users", HALF, IN_LINE),
        "BA-05": _close("single", HALF, IN_LINE),
        "BA-06": _little_idle(HALF),
    }
