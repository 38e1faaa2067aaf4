"""A scenario with every default written out, as `--json` shows it."""

from __future__ import annotations

from metabroker.policy import PLANNERS, RANDOMISED

from .local import alone, filled_local
from .model import (
    ComponentSizes,
    Placement,
    RuntimesWorkload,
    Scenario,
    SharedCluster,
    SyntheticWorkload,
    Workload,
)

JOBS = 100_000
REPLICATIONS = 10

_PLACEMENTS: dict[str, Placement] = {
    "FCFS": "worst-fit-reuse",
    "FPFS": "worst-fit-reuse",
    "JOB-SHARING": "best-fit",
    "MULTI-SITE": "fewest-clusters",
}


def placement(policy: str) -> Placement:
    """The placement that the policy's paper gives it."""
    return _PLACEMENTS.get(policy, "worst-fit")


def drawn(scenario: Scenario) -> bool:
    """Are the jobs drawn at random? Those of a log or a batch are given."""
    return scenario.workload.swf is None and scenario.workload.batch is None


def random(scenario: Scenario) -> bool:
    """Does anything of a run depend on the seed?"""
    by_chance = scenario.policy in RANDOMISED or scenario.options.ties == "random"
    local = any(local.workload.synthetic is not None for local in scenario.local.values())
    return drawn(scenario) or by_chance or local or scenario.inputs is not None


def filled(scenario: Scenario) -> Scenario:
    """The same with all defaults but `jobs`, which only a log itself can tell."""
    changes: dict[str, object] = {"workload": _workload(scenario)}
    if scenario.local:
        changes["clusters"] = _clusters(scenario)
    if scenario.placement is None:
        changes["placement"] = placement(scenario.policy)
    if scenario.discipline is None and scenario.policy not in PLANNERS:
        changes["discipline"] = "FPFS" if scenario.policy == "FPFS" else "FCFS"
    if scenario.warmup is None:
        changes["warmup"] = "auto" if drawn(scenario) else "none"
    if not random(scenario):
        changes["replications"] = 1
        changes["precision"] = None
    elif scenario.replications is None:
        changes["replications"] = REPLICATIONS if drawn(scenario) else 1
    if scenario.inputs is not None and scenario.inputs.homes is None:
        homes = (1.0,) * len(scenario.clusters)
        changes["inputs"] = scenario.inputs.model_copy(update={"homes": homes})
    if scenario.jobs is None and drawn(scenario):
        changes["jobs"] = JOBS
    return scenario.model_copy(update=changes)


def _workload(scenario: Scenario) -> Workload:
    given, clusters = scenario.workload, len(scenario.clusters)
    if given.synthetic is not None:
        return given.model_copy(update={"synthetic": _synthetic(given.synthetic, clusters)})
    if given.runtimes is not None:
        return given.model_copy(update={"runtimes": _shares(given.runtimes, clusters)})
    return given


def _clusters(scenario: Scenario) -> dict[str, SharedCluster | int]:
    found = dict(scenario.clusters)
    for name, local in scenario.local.items():
        cluster = scenario.clusters[name]
        assert isinstance(cluster, SharedCluster)
        own = filled(alone(name, cluster.processors, local))
        found[name] = filled_local(cluster, own)
    return found


def _shares(given: RuntimesWorkload, clusters: int) -> RuntimesWorkload:
    if given.local_shares is not None:
        return given
    return given.model_copy(update={"local_shares": (1.0,) * clusters})


def _synthetic(given: SyntheticWorkload, clusters: int) -> SyntheticWorkload:
    changes: dict[str, object] = {}
    if given.local_shares is None:
        changes["local_shares"] = (1.0,) * clusters
    if given.total_sizes is None:
        if given.composition is None:
            kinds = min(4, clusters)
            changes["composition"] = (100.0 / kinds,) * kinds
        if given.component_sizes is None:
            changes["component_sizes"] = ComponentSizes()
    return given.model_copy(update=changes)
