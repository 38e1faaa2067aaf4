"""What is wrong between keys that are each right by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from metabroker.config.keys import Key
from metabroker.config.problems import Problem, nearest
from metabroker.policy import PLANNERS

from .defaults import placement
from .local import alone, placed
from .model import (
    LocalWorkload,
    RuntimesWorkload,
    Scenario,
    ServiceTime,
    SyntheticWorkload,
    Workload,
)

ONE_CLUSTER = ("AFCFS", "AFCFS-BS", "LG-SS", "LG-SS-BS")
"""The policies of a job mix: one cluster, one queue."""

_FOR_A_MIX = (*ONE_CLUSTER, "GS", "FCFS", "FPFS", "EASY", "CONSERVATIVE", "JOB-SHARING")


def problems(scenario: Scenario) -> list[Problem]:
    """Everything that can be said without opening a file."""
    checks: Sequence[Callable[[Scenario], Iterator[Problem]]] = (
        _policy,
        _placement,
        _workloads,
        _job_mix,
        _batch,
        _limits,
        _precision,
        _local,
        _inputs,
        _latency,
    )
    found = [problem for check in checks for problem in check(scenario)]
    synthetic, runtimes = scenario.workload.synthetic, scenario.workload.runtimes
    if synthetic is not None:
        found += _synthetic(scenario, synthetic)
    if runtimes is not None:
        found += _rates(runtimes, ("workload", "runtimes"))
        found += _shares(runtimes.local_shares, scenario, ("workload", "runtimes"))
    return found


def given_workloads(workload: Workload | LocalWorkload) -> list[str]:
    """The names of the kinds of workload that are given."""
    return [name for name in type(workload).model_fields if getattr(workload, name) is not None]


def _policy(scenario: Scenario) -> Iterator[Problem]:
    policy, discipline, clusters = scenario.policy, scenario.discipline, len(scenario.clusters)
    if policy in ONE_CLUSTER and clusters > 1:
        message = f"{policy} runs on one cluster, not on {clusters}"
        yield Problem(("policy",), message, "name one cluster under `clusters`")
    if policy in PLANNERS and discipline is not None:
        message = f"{policy} has no queues that need a discipline"
        yield Problem(("discipline",), message, "leave `discipline` out")
    elif policy in ("FCFS", "FPFS") and discipline not in (None, policy):
        message = f"policy {policy} is itself a discipline, so {discipline} cannot apply"
        yield Problem(("discipline",), message, "leave `discipline` out")


def _placement(scenario: Scenario) -> Iterator[Problem]:
    policy, given = scenario.policy, scenario.placement
    usual = placement(policy)
    if policy in (*ONE_CLUSTER, "MULTI-SITE") and given not in (None, usual):
        message = f"policy {policy} cannot have the placement {given}, only {usual}"
        yield Problem(("placement",), message, "leave `placement` out")
    ties = scenario.options.ties
    if ties == "random" and (policy in PLANNERS or (given or usual) != "worst-fit"):
        message = "random ties are an option of the placement worst-fit"
        advice = "write `ties: lowest`, or `placement: worst-fit` and a policy that has it"
        yield Problem(("options", "ties"), f"{message}, not of {given or usual} here", advice)


def _workloads(scenario: Scenario) -> Iterator[Problem]:
    yield from _one_workload(scenario.workload)


def _one_workload(workload: Workload | LocalWorkload) -> Iterator[Problem]:
    given = given_workloads(workload)
    if not given:
        known = ", ".join(type(workload).model_fields)
        yield Problem(("workload",), "names no workload", f"write one of {known}")
    elif len(given) > 1:
        message = f"names several workloads: {', '.join(given)}"
        yield Problem(("workload", given[1]), message, "leave one of them")


def _job_mix(scenario: Scenario) -> Iterator[Problem]:
    if scenario.workload.job_mix is None:
        return
    if len(scenario.clusters) > 1:
        message = f"a job mix runs on one cluster, not on {len(scenario.clusters)}"
        yield Problem(("clusters",), message, "name one cluster under `clusters`")
    for name, processors in scenario.processors.items():
        if processors & (processors - 1):
            message = f"a job mix needs a power of two of processors, not {processors}"
            yield Problem(("clusters", name), message, "write for example 128")
    if scenario.policy not in _FOR_A_MIX:
        message = f"policy {scenario.policy} cannot run a job mix: it is for several queues"
        yield Problem(("policy",), message, f"write one of {', '.join(_FOR_A_MIX)}")


def _batch(scenario: Scenario) -> Iterator[Problem]:
    if scenario.workload.batch is None:
        return
    key: Key = ("workload", "batch", "kinds")
    if not scenario.workload.batch.kinds:
        yield Problem(key, "is empty", "write at least one kind of jobs")
    for index, kind in enumerate(scenario.workload.batch.kinds):
        if not kind.components:
            yield Problem((*key, index, "components"), "is empty", "write at least one size")
        if kind.on is None:
            continue
        if len(kind.on) != len(kind.components):
            message = f"names {len(kind.on)} clusters for {len(kind.components)} components"
            yield Problem((*key, index, "on"), message, "name one cluster per component")
        for place, name in enumerate(kind.on):
            if name not in scenario.clusters:
                advice = nearest(name, scenario.clusters) or "name one of `clusters`"
                yield Problem((*key, index, "on", place), f"there is no cluster {name!r}", advice)


def _local(scenario: Scenario) -> Iterator[Problem]:
    for name, local in scenario.local.items():
        found = list(_one_workload(local.workload))
        yield from placed(name, found or problems(alone(name, scenario.processors[name], local)))
    if not scenario.local:
        return
    shared = f"and {', '.join(scenario.local)} has local users"
    if scenario.policy in PLANNERS:
        message = f"{scenario.policy} plans clusters that only the broker uses, {shared}"
        yield Problem(("policy",), message, "write a policy with queues, such as LP-GF or FPFS")
    if scenario.event_order != "batch":
        message = f"{scenario.event_order} is for clusters that only the broker uses, {shared}"
        yield Problem(("event_order",), message, "write batch")
    for kind in ("batch", "job_mix"):
        if kind in given_workloads(scenario.workload):
            message = f"is for clusters that only the broker uses, {shared}"
            yield Problem(("workload", kind), message, "write synthetic, runtimes or swf")


def _inputs(scenario: Scenario) -> Iterator[Problem]:
    given = scenario.inputs
    if given is None:
        return
    yield from _service(given.size, ("inputs", "size"))
    yield from _shares(given.homes, scenario, ("inputs",), "homes")
    if given.copies > len(scenario.clusters):
        message = f"there are {len(scenario.clusters)} clusters for {given.copies} copies"
        yield Problem(("inputs", "copies"), message, "write a smaller number")
    yield from _links(given.links, scenario, "inputs")
    yield from _unshared(scenario, "inputs")
    if scenario.event_order != "batch":
        message = f"files are not for the event order {scenario.event_order}"
        yield Problem(("event_order",), message, "write batch")
    if scenario.workload.job_mix is not None:
        yield Problem(("inputs",), "a job mix has no files", "leave `inputs` out")


def _latency(scenario: Scenario) -> Iterator[Problem]:
    if scenario.latency is None:
        return
    yield from _links(scenario.latency.links, scenario, "latency")
    yield from _unshared(scenario, "latency")
    if scenario.policy == "MULTI-SITE":
        message = "MULTI-SITE splits jobs over any clusters"
        yield Problem(("latency",), message, "leave `latency` out, or choose another policy")


def _links(
    links: Mapping[str, Mapping[str, float]], scenario: Scenario, section: str
) -> Iterator[Problem]:
    pairs: set[frozenset[str]] = set()
    for one, other in [(one, other) for one, others in links.items() for other in others]:
        key: Key = (section, "links", one, other)
        unknown = [name for name in (one, other) if name not in scenario.clusters]
        if unknown:
            advice = nearest(unknown[0], scenario.clusters) or "name two of `clusters`"
            yield Problem(key, f"there is no cluster {unknown[0]!r}", advice)
        elif one == other or frozenset((one, other)) in pairs:
            message = "is no link between two clusters, or is given twice"
            yield Problem(key, message, "name each two clusters once")
        pairs.add(frozenset((one, other)))


def _unshared(scenario: Scenario, section: str) -> Iterator[Problem]:
    if scenario.local:
        message = f"is for clusters that only the broker uses, and {', '.join(scenario.local)} has"
        yield Problem((section,), f"{message} local users", "leave one of the two out")


def _precision(scenario: Scenario) -> Iterator[Problem]:
    precision, first = scenario.precision, scenario.replications
    if precision is not None and first is not None and precision.most < first:
        message = f"must be at least `replications` ({first}), not {precision.most}"
        yield Problem(("precision", "most"), message, "correct one of the two")


def _limits(scenario: Scenario) -> Iterator[Problem]:
    if scenario.workload.job_mix is not None and scenario.limits != type(scenario.limits)():
        yield Problem(("limits",), "a job mix has no limits", "leave `limits` out")


def _rates(given: SyntheticWorkload | RuntimesWorkload, key: Key) -> Iterator[Problem]:
    if given.utilization is not None and given.arrival_rate is not None:
        message = "both utilization and arrival_rate are given"
        yield Problem((*key, "arrival_rate"), message, "leave one of the two out")
    elif given.utilization is None and given.arrival_rate is None:
        message = "neither utilization nor arrival_rate is given"
        yield Problem(key, message, "write for example `utilization: 0.85`")


def _shares(
    shares: Sequence[float] | None, scenario: Scenario, key: Key, name: str = "local_shares"
) -> Iterator[Problem]:
    if shares is None:
        return
    clusters = len(scenario.clusters)
    if len(shares) != clusters:
        message = f"has {len(shares)} weights for {clusters} clusters"
        yield Problem((*key, name), message, "write one weight per cluster")
    elif not sum(shares) > 0:
        message = "has no weight above 0"
        yield Problem((*key, name), message, "write for example [1, 1, 1, 1]")


def _synthetic(scenario: Scenario, given: SyntheticWorkload) -> Iterator[Problem]:
    key: Key = ("workload", "synthetic")
    yield from _rates(given, key)
    yield from _shares(given.local_shares, scenario, key)
    yield from _service(given.service, (*key, "service"))
    if given.total_sizes is not None:
        for name in ("composition", "component_sizes"):
            if getattr(given, name) is not None:
                message = "is not for `total_sizes`, which are split by `limits`"
                yield Problem((*key, name), message, "leave one of the two out")
        return
    if given.composition is not None:
        yield from _composition(scenario, given.composition, (*key, "composition"))
    sizes = given.component_sizes
    if sizes is not None and sizes.min > sizes.max:
        message = f"must be at most `max` ({sizes.max}), not {sizes.min}"
        yield Problem((*key, "component_sizes", "min"), message, "correct one of the two")


def _composition(scenario: Scenario, percent: Sequence[float], key: Key) -> Iterator[Problem]:
    total = sum(percent)
    if abs(total - 100) > 1e-6:
        message = f"the percentages add up to {total:g}, not 100"
        yield Problem(key, message, "correct them")
    most = max((n for n, p in enumerate(percent, 1) if p), default=0)
    reuse = (scenario.placement or placement(scenario.policy)).endswith("-reuse")
    clusters = len(scenario.clusters)
    if most > clusters and scenario.policy != "MULTI-SITE" and not reuse:
        message = f"has jobs of {most} components, and there are {clusters} clusters"
        yield Problem(key, message, "add clusters, or leave such jobs out")


def _service(service: ServiceTime, key: Key) -> Iterator[Problem]:
    law = service.distribution
    if law in ("lognormal", "hyperexponential"):
        if service.cv is None:
            yield Problem((*key, "cv"), "is missing", f"a {law} service has a mean and a cv")
        elif law == "hyperexponential" and service.cv < 1:
            message = f"must be at least 1 for a hyperexponential, not {service.cv:g}"
            yield Problem((*key, "cv"), message, "correct the number")
    elif service.cv is not None:
        yield Problem((*key, "cv"), f"{law} service has no cv of its own", "remove it")
    if service.cut is not None and law != "lognormal":
        yield Problem((*key, "cut"), f"{law} service is not cut", "remove it")
