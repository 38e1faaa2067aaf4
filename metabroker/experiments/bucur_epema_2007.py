"""Bucur and Epema, "Scheduling Policies for Processor Coallocation in Multicluster Systems" (2007):
its figures 2 to 11. Its claims are in `bucur_epema_2007_claims`.

From section 3.4 on, "LS" is LS-DO and "LP" is LP-GF; "SC" is a single cluster of 128 processors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from metabroker.simulation.system import Run

from .bucur_epema_2003 import bar_chart
from .bucur_epema_2003_claims import FOUR
from .bucur_epema_2007_claims import CLAIMS
from .das import LIMITS, NOTES_LOG, NOTES_RUNTIMES, WORKLOADS, measured, traced
from .evidence import Check
from .experiment import METRICS, Experiment, Point, size_note
from .four_clusters import (
    ALL_FOUR,
    BOTH,
    LP,
    LS,
    MIXED,
    NEAR,
    SINGLE,
    TWO_THREE,
    UNBALANCED_80,
    WITH_GLOBAL,
)
from .result_cache import ResultCache
from .scale import Scale
from .search import at

NAMES = {"LS": "LS-DO", "SC": "SC", "GS": "GS", "LP": "LP-GF"}
"""The policies of sections 4 and 5, in the order of most legends."""


def _line(
    panel: str, label: str, unit: Run, low: float, high: float, scale: Scale
) -> Iterator[Point]:
    """The mean response time of a system at utilizations from `low` to `high`."""
    step = (high - low) / (scale.points - 1)
    for index in range(scale.points):
        x = round(low + index * step, 3)
        yield Point(panel, label, "total", x, at(unit, x), METRICS["total"])


# Section 4: trace-based simulations


def _traced(
    panel: str,
    label: str,
    policy: str,
    limit: int,
    scale: Scale,
    *,
    most: int = 128,
    balanced: bool = True,
) -> Iterator[Point]:
    unit = traced(NAMES[policy], limit, scale.curve_jobs, scale.seed, most=most, balanced=balanced)
    return _line(panel, label, unit, 0.30, 0.75, scale)


def figure_8(scale: Scale) -> Iterator[Point]:
    """For each limit, with balanced (top) and unbalanced (bottom) local queues."""
    for balanced in (True, False):
        for limit in LIMITS:
            panel = f"limit {limit}, {'balanced' if balanced else 'unbalanced'} local queues"
            for name in NAMES:
                yield from _traced(panel, name, name, limit, scale, balanced=balanced)


def figure_9(scale: Scale) -> Iterator[Point]:
    """For each policy, the three limits."""
    for name in ("GS", "LS", "LP"):
        for limit in (16, 32, 24):
            yield from _traced(name, f"{name} {limit}", name, limit, scale)


def figure_10(scale: Scale) -> Iterator[Point]:
    """All policies, with DAS-s-64 and with DAS-s-128."""
    panel = "component limit 16, balanced local queues"
    for most in (64, 128):
        for name in NAMES:
            yield from _traced(panel, f"{name} {most}", name, 16, scale, most=most)


# Section 5: simulations based on runtime measurements


def figure_11(scale: Scale) -> Iterator[Point]:
    """For each workload (lines) and policy (columns), the four coallocation rules.

    "When there are only single-component jobs LP becomes LS, and for LP, the curve for LS is
    depicted" (5.3).
    """
    for workload in WORKLOADS:
        for name in ("GS", "LS", "LP"):
            for rule in ("fco", "rco", "no", "co"):
                policy = NAMES["LS" if rule == "no" and name == "LP" else name]
                unit = measured(workload, rule, policy, scale.curve_jobs, scale.seed)
                yield from _line(f"{workload}, {name}", f"[{rule}]", unit, 0.40, 0.85, scale)


def _bars() -> list[Experiment]:
    """Section 3: simulations with synthetic workloads."""
    several = "several job-stream compositions, and balanced local queues"
    one = "job-stream composition (80, 0, 0, 20), and unbalanced local queues"
    title = "Response times for the {} variations of {}, {}"
    policies = "Response times for the scheduling policies for compositions with {} of jobs"
    unbalanced, only = (UNBALANCED_80,), (SINGLE, ALL_FOUR, TWO_THREE)
    both, pair, near = policies.format("both kinds"), ("GS", "LS-DO"), (NEAR,)
    made = [
        (2, "3.2", title.format("four", "LS", several), WITH_GLOBAL, LS, near),
        (3, "3.2", title.format("four", "LS", one), unbalanced, LS, near),
        (4, "3.3", title.format("three", "LP", several), MIXED, LP, near),
        (5, "3.3", title.format("three", "LP", one), unbalanced, LP, near),
        (6, "3.4", both, MIXED, FOUR, BOTH),
        (7, "3.5", policies.format("one kind"), only, pair, BOTH),
    ]
    return [
        bar_chart(f"be07-fig{number}", text, _source(section, number), cases, shown, levels)
        for number, section, text, cases, shown, levels in made
    ]


def _curves(
    number: int,
    section: str,
    title: str,
    points: Callable[[Scale], Iterator[Point]],
    columns: int,
    notes: tuple[str, ...] = NOTES_LOG,
) -> Experiment:
    """Mean response time of all jobs against gross utilization."""

    def size(_: ResultCache, scale: Scale) -> list[str]:
        return [size_note(scale.curve_replications, scale.curve_jobs, scale)]

    return Experiment(
        f"be07-fig{number}",
        title,
        _source(section, number),
        "curves",
        "gross utilization",
        "mean response time (s)",
        lambda scale: list(points(scale)),
        lambda scale: scale.curve_replications,
        notes,
        size,
        columns,
        steep=True,
    )


def _source(section: str, number: int) -> str:
    return f"Bucur and Epema 2007, {section}, Figure {number}"


def experiments() -> list[Experiment]:
    """Figures 2 to 11 (1 shows the log of the DAS, which is not public)."""
    limits, total = "component-size limit", "The response times for maximal total job sizes"
    rules = "The performance of the coallocation rules"
    return [
        *_bars(),
        _curves(8, "4.1", f"The performance of the policies for {limits}s", figure_8, 3),
        _curves(9, "4.2", f"GS, LS and LP depending on the {limits}", figure_9, 3),
        _curves(10, "4.3", f"{total} 64 and 128", figure_10, 1),
        _curves(11, "5.3", rules, figure_11, 3, NOTES_RUNTIMES),
    ]


def checks() -> Mapping[str, Check]:
    """How the claims BT-... and CO-... are decided, by id."""
    return CLAIMS
