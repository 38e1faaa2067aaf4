"""Bucur and Epema, "Scheduling Policies for Processor Coallocation in Multicluster Systems" (2007):
its figures 2 to 11. Its claims are in `bucur_epema_2007_claims`.

From section 3.4 on, "LS" is LS-DO and "LP" is LP-GF; "SC" is a single cluster of 128 processors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metabroker.simulation.system import Run

from .bucur_epema_2003 import NOTE, plan
from .bucur_epema_2007_claims import CLAIMS
from .das import LIMITS, NOTES_LOG, NOTES_RUNTIMES, RULES, WORKLOADS, measured, traced
from .evidence import Check
from .experiment import BarChart, CurveChart, CurvePlan, Experiment
from .four_clusters import (
    ALL_FOUR,
    BOTH,
    LP,
    LS,
    MIXED,
    SINGLE,
    TWO_THREE,
    UNBALANCED_80,
    WITH_GLOBAL,
)
from .scale import Scale
from .search import at

NAMES = {"LS": "LS-DO", "SC": "SC", "GS": "GS", "LP": "LP-GF"}
"""The policies of sections 4 and 5, in the order of most legends."""
FOUR = ("GS", "LS-DO", "GP", "LP-GF")
_SOURCE = "Bucur and Epema 2007"

Line = tuple[str, Sequence[tuple[float, Run]]]


def _line(label: str, unit: Run, places: Sequence[float]) -> Line:
    return label, [(utilization, at(unit, utilization)) for utilization in places]


def _places(low: float, high: float, scale: Scale) -> list[float]:
    """Utilizations from `low` to `high`."""
    step = (high - low) / (scale.points - 1)
    return [round(low + index * step, 3) for index in range(scale.points)]


# Section 4: trace-based simulations


def _traced(
    label: str, policy: str, limit: int, scale: Scale, *, most: int = 128, balanced: bool = True
) -> Line:
    unit = traced(NAMES[policy], limit, scale.curve_jobs, scale.seed, most=most, balanced=balanced)
    return _line(label, unit, _places(0.30, 0.75, scale))


def figure_8(scale: Scale) -> list[CurvePlan]:
    """For each limit, with balanced (top) and unbalanced (bottom) local queues."""
    return [
        CurvePlan(
            f"limit {limit}, {'balanced' if balanced else 'unbalanced'} local queues",
            [_traced(name, name, limit, scale, balanced=balanced) for name in NAMES],
        )
        for balanced in (True, False)
        for limit in LIMITS
    ]


def figure_9(scale: Scale) -> list[CurvePlan]:
    """For each policy, the three limits."""
    return [
        CurvePlan(name, [_traced(f"{name} {limit}", name, limit, scale) for limit in (16, 32, 24)])
        for name in ("GS", "LS", "LP")
    ]


def figure_10(scale: Scale) -> list[CurvePlan]:
    """All policies, with DAS-s-64 and with DAS-s-128."""
    lines = [
        _traced(f"{name} {most}", name, 16, scale, most=most)
        for most in (64, 128)
        for name in NAMES
    ]
    return [CurvePlan("component limit 16, balanced local queues", lines)]


# Section 5: simulations based on runtime measurements


def figure_11(scale: Scale) -> list[CurvePlan]:
    """For each workload (lines) and policy (columns), the four coallocation rules.

    "When there are only single-component jobs LP becomes LS, and for LP, the curve for LS is
    depicted" (5.3).
    """
    return [
        CurvePlan(
            f"{workload}, {name}",
            [_measured(workload, rule, name, scale) for rule in ("fco", "rco", "no", "co")],
        )
        for workload in WORKLOADS
        for name in ("GS", "LS", "LP")
    ]


def _measured(workload: str, rule: str, name: str, scale: Scale) -> Line:
    assert rule in RULES
    policy = NAMES["LS" if rule == "no" and name == "LP" else name]
    unit = measured(workload, rule, policy, scale.curve_jobs, scale.seed)
    return _line(f"[{rule}]", unit, _places(0.40, 0.85, scale))


def _bars() -> list[Experiment]:
    """Section 3: simulations with synthetic workloads."""
    notes, mixed = (NOTE,), "balanced local queues"
    several = f"several job-stream compositions, and {mixed}"
    one = "job-stream composition (80, 0, 0, 20), and unbalanced local queues"
    only = (SINGLE, ALL_FOUR, TWO_THREE)
    title = "Response times for the {} variations of {}, {}"
    made = [
        ("fig2", "3.2", title.format("four", "LS", several), plan(WITH_GLOBAL, LS)),
        ("fig3", "3.2", title.format("four", "LS", one), plan((UNBALANCED_80,), LS)),
        ("fig4", "3.3", title.format("three", "LP", several), plan(MIXED, LP)),
        ("fig5", "3.3", title.format("three", "LP", one), plan((UNBALANCED_80,), LP)),
        (
            "fig6",
            "3.4",
            "Response times for the scheduling policies for compositions with both kinds of jobs",
            plan(MIXED, FOUR, BOTH),
        ),
        (
            "fig7",
            "3.5",
            "Response times for the scheduling policies for compositions with one kind of jobs",
            plan(only, ("GS", "LS-DO"), BOTH),
        ),
    ]
    return [
        BarChart(f"be07-{name}", text, f"{_SOURCE}, {section}, Figure {name[3:]}", bars, notes)
        for name, section, text, bars in made
    ]


def experiments() -> list[Experiment]:
    """Figures 2 to 11 (1 shows the log of the DAS, which is not public)."""
    made = [
        ("fig8", "4.1", "The performance of the policies for component-size limits", figure_8, 3),
        ("fig9", "4.2", "GS, LS and LP depending on the component-size limit", figure_9, 3),
        ("fig10", "4.3", "The response times for maximal total job sizes 64 and 128", figure_10, 1),
        ("fig11", "5.3", "The performance of the coallocation rules", figure_11, 3),
    ]
    curves: list[Experiment] = [
        CurveChart(
            f"be07-{name}",
            title,
            f"{_SOURCE}, {section}, Figure {name[3:]}",
            made_by,
            NOTES_RUNTIMES if name == "fig11" else NOTES_LOG,
            columns,
        )
        for name, section, title, made_by, columns in made
    ]
    return [*_bars(), *curves]


def checks() -> Mapping[str, Check]:
    """How the claims BT-... and CO-... are decided, by id."""
    return CLAIMS
