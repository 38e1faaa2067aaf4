"""The synthetic model of both papers: four clusters of 32 processors (BE03 3, BE07 3).

Component sizes are D(0.9) on [1, 8], service is exponential with mean 1, arrivals are Poisson.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from metabroker.simulation.system import Run, System
from metabroker.simulation.workloads.distributions import Discrete, Exponential, power_law, shares
from metabroker.simulation.workloads.shapes import Composition
from metabroker.simulation.workloads.synthetic import Synthetic, rate_for

CLUSTERS = (32, 32, 32, 32)
BALANCED = shares([1, 1, 1, 1])
UNBALANCED = shares([40, 20, 20, 20])
"""One local queue gets 40 percent of the jobs that are submitted locally, each other one 20."""
_SIZES = power_law(0.9, 1, 8)
_SERVICE = Exponential(1.0)


class Case(NamedTuple):
    """A line of Table 1 (BE07: Table 4): percent of jobs with 1, 2, 3 and 4 components."""

    percent: tuple[int, int, int, int]
    balanced: bool = True

    def __str__(self) -> str:
        text = f"({', '.join(map(str, self.percent))})"
        return text if self.balanced else f"{text} unbalanced"

    @property
    def queues(self) -> Discrete:
        """Which local queue a job joins."""
        return BALANCED if self.balanced else UNBALANCED


EVEN = Case((25, 25, 25, 25))
SINGLE = Case((100, 0, 0, 0))
HALF_FOUR = Case((50, 0, 0, 50))
ALL_FOUR = Case((0, 0, 0, 100))
HALF_TWO_THREE = Case((50, 25, 25, 0))
TWO_THREE = Case((0, 50, 50, 0))
HALF_TWO = Case((50, 50, 0, 0))
LOCAL_80 = Case((80, 0, 0, 20))
LOCAL_90 = Case((90, 0, 0, 10))
UNBALANCED_80 = Case((80, 0, 0, 20), balanced=False)

_NONE = 0.0  # nothing to compare
_SATURATED: dict[Case, tuple[float, float, float, float]] = {
    EVEN: (0.870, 0.855, 0.855, 0.855),
    SINGLE: (_NONE, _NONE, _NONE, 0.885),
    HALF_FOUR: (0.850, 0.845, 0.845, 0.850),
    ALL_FOUR: (0.880, _NONE, _NONE, 0.865),
    HALF_TWO_THREE: (0.885, 0.885, 0.880, 0.880),
    TWO_THREE: (0.895, _NONE, _NONE, 0.880),
    HALF_TWO: (0.885, 0.895, 0.895, 0.885),
    LOCAL_80: (0.820, 0.835, 0.830, 0.855),
    LOCAL_90: (0.800, 0.835, 0.835, 0.850),
    UNBALANCED_80: (0.775, 0.795, 0.795, 0.810),
}
"""Where the first policy of a comparison saturates, found by bisection: of the versions of LS, of
LP, of EQ, and of the policies in their best versions (in the last line without GP and LQ, which
saturate at 0.76 and 0.785). It only says where to look."""
_GROUPS = ("LS", "LP", "EQ", "all")
_OFFSETS = (-0.04, -0.02, 0.01)

WITH_GLOBAL = (
    EVEN, HALF_FOUR, ALL_FOUR, HALF_TWO_THREE, TWO_THREE, HALF_TWO, LOCAL_80, LOCAL_90,
)  # fmt: skip
"""All balanced cases but (100,0,0,0), where the versions of LS agree (BE03 Fig. 3, BE07 Fig. 2)."""
MIXED = (EVEN, HALF_FOUR, HALF_TWO_THREE, HALF_TWO, LOCAL_80, LOCAL_90)
"""The balanced cases with jobs of one and of several components (BE03 Figs. 5, 7 and 9-14)."""

NEAR = 1
"""The level of the figures that show a case once (see `level`)."""
BOTH = (1, 2)
"""The levels of those that show it twice: "at the second value the system is already saturated for
some of the policies" (BE03 3.2.1)."""

LS = ("LS-OR", "LS-RD", "LS-RO", "LS-DO")
LP = ("LP-LF", "LP-RD", "LP-GF")
EQ = ("EQ-LF", "EQ-RD", "EQ-GF")


def level(case: Case, policies: Sequence[str], number: int) -> float:
    """The gross utilization at which policies are compared: 0.04 and 0.02 below that at which the
    first of them saturates, and 0.01 above it.

    "The utilizations are chosen high enough so that at least one of the policies is close to the
    maximum utilization" (BE03 3); which they are, the papers' text does not say.
    """
    families = {policy.split("-")[0] for policy in policies}
    versions = len(families) == 1 and len(set(policies)) > 1
    group = _GROUPS.index(families.pop() if versions else "all")
    return round(_SATURATED[case][group] + _OFFSETS[number], 3)


@cache
def run(case: Case, policy: str, utilization: float, jobs: int, seed: int) -> Run:
    """A policy in a case at a gross utilization."""
    shapes = Composition(case.percent, _SIZES)
    rate = rate_for(utilization, shapes, _SERVICE, sum(CLUSTERS))
    workload = Synthetic(shapes, _SERVICE, case.queues, rate)
    return Run(System(CLUSTERS, policy), workload, jobs, seed)
