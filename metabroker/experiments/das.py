"""The models of BE07 4 and 5: the DAS's job sizes, and two applications measured on it.

The log of the DAS and the table of the applications' run times are not public: both are replaced by
stand-ins of ours, and so is the law of the service times. `NOTES_...` say so in every output.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

from metabroker.policy import Limits
from metabroker.simulation.system import Run, System
from metabroker.simulation.workloads.distributions import Discrete, Lognormal, shares
from metabroker.simulation.workloads.runtimes import STAND_INS, Runtimes, admitted, work
from metabroker.simulation.workloads.shapes import SplitRule
from metabroker.simulation.workloads.synthetic import Synthetic, rate_for
from metabroker.simulation.workloads.tables import sizes

from .four_clusters import BALANCED, CLUSTERS, UNBALANCED
from .scale import Scale
from .search import Search

PROCESSORS = sum(CLUSTERS)

# Section 4: simulations based on traces

SERVICE = Lognormal(356.45, 5.37, 900.0)
"""The stand-in for DAS-t-900: lognormal with the mean and the coefficient of variation of the whole
log, cut at 900 s. Of the uncut law 92.3 % are below 900 s; of the log 94.45 % were."""
EXTENSION = 1.25
"""A job of several components runs that many times as long (BE07 2.2.1)."""
LIMITS = (16, 24, 32)
"""The limits of the component size (BE07 4.2)."""

NOTES_LOG = (
    "job sizes: a stand-in for the DAS's log (DAS-s-128), which is not public; it agrees with all "
    "that the paper says of it",
    "service times: a stand-in for DAS-t-900: lognormal, mean 356.45 s, cv 5.37, cut at 900 s",
    "jobs of several components run 1.25 times as long",
)
NOTES_RUNTIMES = (
    "run times: stand-ins for the paper's Table 5, which is lost; they agree with the speedups "
    "and the largest extension factor (1.23) that its text names",
)


@cache
def total_sizes(most: int) -> Discrete:
    """DAS-s-128 or DAS-s-64: the stand-in without sizes above `most`."""
    with as_file(files("metabroker.experiments") / "data" / "das-s-128-standin.csv") as path:
        return sizes(path).limited(most)


@cache
def traced(
    policy: str, limit: int, jobs: int, seed: int, *, most: int = 128, balanced: bool = True
) -> Run:
    """A policy at a gross utilization of 1; `limit` is that of the component size.

    "SC" is one cluster of 128 processors under GS, where no job is split or extended.
    """
    if policy == "SC":
        clusters, extension = (PROCESSORS,), 1.0
        system, queues = System(clusters, "GS"), shares([1])
        shapes = SplitRule(total_sizes(most), Limits(), clusters)
    else:
        system, extension = System(CLUSTERS, policy), EXTENSION
        queues = BALANCED if balanced else UNBALANCED
        shapes = SplitRule(total_sizes(most), Limits(component=limit), CLUSTERS)
    rate = rate_for(1.0, shapes, SERVICE, PROCESSORS, extension)
    workload = Synthetic(shapes, SERVICE, queues, rate, extension)
    return Run(system, workload, jobs, seed, extension=extension)


# Section 5: simulations based on run-time measurements

RULES = {
    "no": Limits(components=1),
    "co": Limits(),
    "rco": Limits(component=16),
    "fco": Limits(component=16, components=2),
}
"""The coallocation rules (BE07 5.1)."""
WORKLOADS = {
    "Ensflow": ("ensflow",),
    "Poisson": ("poisson",),
    "Ensflow and Poisson": ("ensflow", "poisson"),
}
"""All jobs run the one application, the other, or each half of them (BE07 5.2)."""


@cache
def measured(workload: str, rule: str, policy: str, jobs: int, seed: int) -> Run:
    """A policy under a coallocation rule at a gross utilization of 1."""
    every = [entry for name in WORKLOADS[workload] for entry in STAND_INS[name]]
    table = tuple(admitted(every, RULES[rule], CLUSTERS))
    rate = PROCESSORS / work(table)
    return Run(System(CLUSTERS, policy), Runtimes(table, BALANCED, rate), jobs, seed)


# The maximal utilizations of both


def limit_of_traced(
    policy: str, limit: int, scale: Scale, *, most: int = 128, balanced: bool = True
) -> Search:
    """The search for the maximal utilization of a system of section 4."""
    unit = traced(policy, limit, scale.search_jobs, scale.seed, most=most, balanced=balanced)
    return Search(unit, scale.resolution)


def limit_of_measured(workload: str, rule: str, policy: str, scale: Scale) -> Search:
    """The search for the maximal utilization of a system of section 5."""
    unit = measured(workload, rule, policy, scale.search_jobs, scale.seed)
    return Search(unit, scale.resolution)
