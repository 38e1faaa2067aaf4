"""Bucur and Epema, "Priorities among Multiple Queues for Processor Co-Allocation in Multicluster
Systems" (2003): its figures 3 to 18. Its claims are in `bucur_epema_2003_claims`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .bucur_epema_2003_claims import CLAIMS, SIX
from .evidence import Check
from .experiment import METRICS, Experiment, Point, size_note
from .four_clusters import (
    ALL_FOUR,
    BOTH,
    EQ,
    EVEN,
    HALF_FOUR,
    HALF_TWO,
    HALF_TWO_THREE,
    LOCAL_80,
    LOCAL_90,
    LP,
    LS,
    MIXED,
    NEAR,
    SINGLE,
    TWO_THREE,
    UNBALANCED_80,
    WITH_GLOBAL,
    Case,
    level,
    run,
)
from .scale import Scale

TOTAL = ("total",)
SEPARATE = ("total", "local", "global")
"""Policies with local queues and a global one: "beside the total average response time, the
average response times for the local queues and the global queue" (BE03 3)."""

UNBALANCED_FIVE = ("LS-OR", "GP", "LP-LF", "EQ-LF", "LQ")
"""Figure 18: "the policies defining local queues"; "LS-OR, LP-LF and EQ-LF are represented"."""

NOTE = (
    "utilizations are ours: the paper's are not in its text (they are close to the maximum of one "
    "of the policies)"
)


def kinds_of(policy: str) -> Sequence[str]:
    """What is shown of a policy: separate means where it has local queues and a global one."""
    return TOTAL if policy == "GS" or policy.startswith("LS") else SEPARATE


def bar_chart(
    name: str,
    title: str,
    source: str,
    cases: Sequence[Case],
    policies: Sequence[str],
    levels: Sequence[int] = (NEAR,),
) -> Experiment:
    """Mean response times of policies at one utilization per panel: a panel for each case and each
    of `levels` (see `level`), in it a group of bars for each policy."""

    def points(scale: Scale) -> list[Point]:
        return [
            Point(f"{case}, utilization {utilization:g}", name, kind, name, played, METRICS[kind])
            for case in cases
            for utilization in (level(case, policies, number) for number in levels)
            for name in policies
            for played in [run(case, name, utilization, scale.jobs, scale.seed)]
            for kind in kinds_of(name)
        ]

    return Experiment(
        name,
        title,
        source,
        "bars",
        "policy",
        "mean response time (mean service times)",
        points,
        notes=(NOTE,),
        remarks=lambda _, scale: [size_note(scale.replications, scale.jobs, scale)],
    )


def _chart(
    number: int,
    section: str,
    title: str,
    cases: Sequence[Case],
    policies: Sequence[str],
    levels: Sequence[int] = (NEAR,),
) -> Experiment:
    source = f"Bucur and Epema 2003, {section}, Figure {number}"
    return bar_chart(f"be03-fig{number}", title, source, cases, policies, levels)


def _compared(number: int, section: str, case: Case, policies: Sequence[str] = SIX) -> Experiment:
    title = f"Response times for the scheduling policies for job-stream composition {case.percent}"
    queues = "balanced" if case.balanced else "unbalanced"
    return _chart(number, section, f"{title} and {queues} local queues", (case,), policies, BOTH)


def experiments() -> list[Experiment]:
    """Figures 3 to 18 (1 and 2 show the log of the DAS, which is not public)."""
    several = "several job-stream compositions, and balanced local queues"
    unbalanced = "job-stream composition (80, 0, 0, 20) and unbalanced local queues"
    one = (UNBALANCED_80,)
    pair = ("GS", "LS-DO")
    title = "Response times for the {} versions of {}, {}"
    return [
        # 3.1 Policies with multiple versions
        _chart(3, "3.1.1", title.format("four", "LS", several), WITH_GLOBAL, LS),
        _chart(4, "3.1.1", title.format("four", "LS", unbalanced), one, LS),
        _chart(5, "3.1.2", title.format("three", "LP", several), MIXED, LP),
        _chart(6, "3.1.2", title.format("three", "LP", unbalanced), one, LP),
        _chart(7, "3.1.3", title.format("three", "EQ", several), MIXED, EQ),
        _chart(8, "3.1.3", title.format("three", "EQ", unbalanced), one, EQ),
        # 3.2.1 Dealing with both single- and multi-component jobs
        _compared(9, "3.2.1", EVEN),
        _compared(10, "3.2.1", HALF_FOUR),
        _compared(11, "3.2.1", HALF_TWO_THREE),
        _compared(12, "3.2.1", HALF_TWO),
        _compared(13, "3.2.1", LOCAL_80),
        _compared(14, "3.2.1", LOCAL_90),
        # 3.2.2 Dealing with only single- or multi-component jobs
        _compared(15, "3.2.2", SINGLE, pair),
        _compared(16, "3.2.2", ALL_FOUR, pair),
        _compared(17, "3.2.2", TWO_THREE, pair),
        # 3.2.3 The unbalanced case
        _compared(18, "3.2.3", UNBALANCED_80, UNBALANCED_FIVE),
    ]


def checks() -> Mapping[str, Check]:
    """How the claims BE-... are decided, by id."""
    return CLAIMS
