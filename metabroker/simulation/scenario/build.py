"""The run that a scenario stands for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from metabroker.config.keys import Key
from metabroker.config.problems import Problem
from metabroker.policy import Limits, Options, Request, largest_sets
from metabroker.simulation.local_users import JobStream, Line, LocalUsers
from metabroker.simulation.measure import SHORT
from metabroker.simulation.planned import Plan
from metabroker.simulation.system import Run, System
from metabroker.simulation.workloads import distributions as laws
from metabroker.simulation.workloads.batch import alternating
from metabroker.simulation.workloads.inputs import Files
from metabroker.simulation.workloads.job_mix import JobMixStream
from metabroker.simulation.workloads.latency import Groups
from metabroker.simulation.workloads.replay import Replay
from metabroker.simulation.workloads.runtimes import Runtimes, admitted, work
from metabroker.simulation.workloads.shapes import Composition, Shapes, SplitRule
from metabroker.simulation.workloads.synthetic import Synthetic, rate_for

from .checks import problems
from .defaults import filled
from .errors import Wrong, blamed
from .files import ScenarioFiles
from .fits import Room
from .local import alone, placed
from .model import RuntimesWorkload, Scenario, ServiceTime, SwfWorkload, SyntheticWorkload


class _Made(NamedTuple):
    """A workload, and how many jobs there are to play."""

    workload: JobStream
    jobs: int


MOST_LOCAL = 10_000
"""Jobs of local users for one of the broker's; more are a slip in the units of time."""


def build(scenario: Scenario, files: ScenarioFiles | None = None) -> Run:
    """The run of a scenario. Reads the files that it names, each once for the same `files`.

    Raises Wrong for a scenario that cannot be played.
    """
    found = problems(scenario)
    if found:
        raise Wrong(found)
    scenario = filled(scenario)
    files = files or ScenarioFiles()
    local, line, plan = _local(scenario, files), _line(scenario), _plan(scenario)
    system = replace(_system(scenario), local=local, line=line, plan=plan)
    near = _near(scenario)
    room = Room(system, scenario.clusters, _limits(scenario), near)
    made = _workload(scenario, room, files)
    _check_rates(scenario, system, made)
    extension, synthetic = 1.0, scenario.workload.synthetic
    if synthetic is not None:
        extension = synthetic.extension_factor
    return Run(
        system,
        made.workload,
        made.jobs,
        seed=scenario.seed,
        warmup="none" if scenario.warmup is None else scenario.warmup,
        extension=extension,
        gangs=scenario.workload.job_mix is not None,
        short=SHORT if synthetic is None else min(SHORT, synthetic.service.mean / 10),
        files=_files(scenario),
        near=near,
    )


def complete(scenario: Scenario, run: Run) -> Scenario:
    """The scenario with all its defaults, now that its run is known."""
    return filled(scenario).model_copy(update={"jobs": run.jobs})


def _system(scenario: Scenario) -> System:
    readings = scenario.options
    return System(
        tuple(scenario.processors.values()),
        scenario.policy,
        placement=scenario.placement,
        discipline=scenario.discipline,
        overhead=scenario.overhead,
        options=Options(ls_do=readings.ls_do, gp=readings.gp, lq=readings.lq, ties=readings.ties),
        event_order=scenario.event_order,
    )


def _local(scenario: Scenario, files: ScenarioFiles) -> tuple[LocalUsers | None, ...]:
    """The local users of each cluster; empty if no cluster has any."""
    users = {name: _users(scenario, name, files) for name in scenario.local}
    return tuple(users.get(name) for name in scenario.clusters) if users else ()


def _line(scenario: Scenario) -> Line | None:
    given = scenario.line
    return None if given is None or not scenario.local else Line(given.depth, given.siblings)


def _plan(scenario: Scenario) -> Plan | None:
    given = scenario.plan
    if given is None or not scenario.local:
        return None
    return Plan(given.jobs, given.share, given.ahead, given.again)


def _files(scenario: Scenario) -> Files | None:
    given, names = scenario.inputs, list(scenario.clusters)
    if given is None:
        return None
    links = _links(given.links, names)
    with blamed(("inputs", "size")):
        size = _law(given.size)
    with blamed(("inputs", "copies")):
        return Files(given.share, size, given.homes or (), given.copies, given.bandwidth, links)


def _links(
    given: Mapping[str, Mapping[str, float]], names: list[str]
) -> dict[tuple[int, int], float]:
    """What is said of each two clusters, by these in increasing order."""
    found = {}
    for one, others in given.items():
        for other, value in others.items():
            first, second = sorted((names.index(one), names.index(other)))
            found[first, second] = value
    return found


def _near(scenario: Scenario) -> Groups:
    given = scenario.latency
    if given is None:
        return ()
    links = _links(given.links, list(scenario.clusters))
    most = given.most
    return largest_sets(
        len(scenario.clusters), lambda a, b: links.get((min(a, b), max(a, b)), math.inf) <= most
    )


def _users(scenario: Scenario, name: str, files: ScenarioFiles) -> LocalUsers:
    local = scenario.local[name]
    own = filled(alone(name, scenario.processors[name], local))
    try:
        made = _workload(own, Room(_system(own), own.clusters, Limits()), files)
    except Wrong as error:
        raise Wrong(placed(name, error.problems)) from error
    return LocalUsers(made.workload, local.scheduler)


def _check_rates(scenario: Scenario, system: System, made: _Made) -> None:
    """See that a run has an end: local users submit as long as the broker's jobs do."""
    for name, users in zip(scenario.clusters, system.local, strict=False):
        if users is None or not isinstance(users.workload, Synthetic):
            continue
        each = users.workload.arrival_rate * _gap(made)
        if each > MOST_LOCAL:
            message = f"submits {each:.3g} jobs for each of the broker's"
            key: Key = ("clusters", name, "local", "workload", "synthetic")
            advice = "give both workloads times in the same unit"
            raise Wrong([Problem(key, message, advice)])


def _gap(made: _Made) -> float:
    """The mean time between two submissions."""
    workload = made.workload
    if isinstance(workload, Synthetic | Runtimes):
        return 1 / workload.arrival_rate
    assert isinstance(workload, Replay), "checked"
    played = workload.extract[: made.jobs]
    return (played[-1].submit - played[0].submit) / len(played)


def _limits(scenario: Scenario) -> Limits:
    """The limits that jobs are refused by. What is split by a limit may be beyond it (BE07 4.2:
    with as many components as clusters there is none)."""
    synthetic = scenario.workload.synthetic
    split = synthetic is not None and synthetic.total_sizes is not None
    return Limits() if split else _given_limits(scenario)


def _given_limits(scenario: Scenario) -> Limits:
    given = scenario.limits
    return Limits(given.component, given.components, given.total)


def _workload(scenario: Scenario, room: Room, files: ScenarioFiles) -> _Made:
    given = scenario.workload
    jobs = math.inf if scenario.jobs is None else scenario.jobs
    if given.synthetic is not None:
        return _Made(_synthetic(scenario, given.synthetic, room, files), int(jobs))
    if given.runtimes is not None:
        return _Made(_runtimes(scenario, given.runtimes, room, files), int(jobs))
    if given.job_mix is not None:
        mix = given.job_mix
        with blamed(("workload", "job_mix")):
            (processors,) = scenario.processors.values()
            times = mix.mean_interarrival, mix.mean_service
            return _Made(JobMixStream(mix.nmax, processors, *times), int(jobs))
    if given.swf is not None:
        replay = _replay(scenario, given.swf, files)
        count = int(min(jobs, len(replay.extract)))
        room.check_log(replay, count, ("workload", "swf", "file"))
        return _Made(replay, count)
    return _batch(scenario, room, jobs)


def _synthetic(
    scenario: Scenario, given: SyntheticWorkload, room: Room, files: ScenarioFiles
) -> Synthetic:
    key: Key = ("workload", "synthetic")
    shapes, blame = _shapes(scenario, given, files)
    with blamed((*key, "service")):
        service = _law(given.service)
    with blamed((*key, "local_shares")):
        queues = laws.shares(given.local_shares or ())
    room.check(_largest(shapes), queues.probabilities, blame)
    extension = given.extension_factor
    with blamed((*key, "utilization" if given.arrival_rate is None else "arrival_rate")):
        rate = given.arrival_rate
        if rate is None:
            processors = sum(scenario.processors.values())
            offered = given.utilization or 0.0
            rate = rate_for(offered, shapes, service, processors, extension)
        _reasonable(rate)
        return Synthetic(shapes, service, queues, rate, extension)


def _shapes(
    scenario: Scenario, given: SyntheticWorkload, files: ScenarioFiles
) -> tuple[Shapes, Key]:
    """What jobs ask for, and the key that says so."""
    key: Key = ("workload", "synthetic")
    if given.total_sizes is not None:
        blame: Key = (*key, "total_sizes")
        with blamed(blame, "take such sizes out of the table, or change `limits`"):
            sizes = files.sizes(given.total_sizes)
            return SplitRule(
                sizes, _given_limits(scenario), tuple(scenario.processors.values())
            ), blame
    assert given.component_sizes is not None, "filled in"
    one = given.component_sizes
    with blamed((*key, "component_sizes")):
        law = laws.power_law(one.q, one.min, one.max)
    with blamed((*key, "composition")):
        return Composition(given.composition or (), law), (*key, "component_sizes", "max")


def _largest(shapes: Shapes) -> list[Request]:
    """Requests that all others fit where these do."""
    if isinstance(shapes, SplitRule):
        return list(shapes.all)
    assert isinstance(shapes, Composition)
    largest = max(shapes.sizes.values)
    return [Request((largest,) * n) for n, part in enumerate(shapes.percent, 1) if part]


def _law(service: ServiceTime) -> laws.Law:
    if service.distribution == "exponential":
        return laws.Exponential(service.mean)
    if service.distribution == "constant":
        return laws.Constant(service.mean)
    cv = service.cv or 0.0
    if service.distribution == "hyperexponential":
        return laws.Hyperexponential(service.mean, cv)
    return laws.Lognormal(service.mean, cv, math.inf if service.cut is None else service.cut)


def _reasonable(rate: float) -> None:
    if not 0 < 1 / rate < math.inf or not rate < math.inf:
        raise ValueError(f"gives an arrival rate of {rate:g}, which is beyond what can be computed")


def _runtimes(
    scenario: Scenario, given: RuntimesWorkload, room: Room, files: ScenarioFiles
) -> Runtimes:
    key: Key = ("workload", "runtimes")
    clusters = tuple(scenario.processors.values())
    with blamed((*key, "table"), "widen `limits` or the clusters, or add lines to the table"):
        table = tuple(admitted(files.runtimes(given.table), _given_limits(scenario), clusters))
        if not table:
            raise ValueError("no line of the table is admitted by the limits and the clusters")
    with blamed((*key, "local_shares")):
        queues = laws.shares(given.local_shares or ())
    room.check([Request(m.sizes) for m in table], queues.probabilities, (*key, "table"))
    with blamed((*key, "utilization" if given.arrival_rate is None else "arrival_rate")):
        rate = given.arrival_rate
        if rate is None:
            rate = (given.utilization or 0.0) * sum(clusters) / work(table)
        _reasonable(rate)
        return Runtimes(table, queues, rate)


def _replay(scenario: Scenario, given: SwfWorkload, files: ScenarioFiles) -> Replay:
    key: Key = ("workload", "swf")
    with blamed((*key, "file")):
        trace = files.trace(given.file, strict=given.strict)
    with blamed((*key, "first" if given.first is not None else "last"), "correct first or last"):
        return Replay(
            trace,
            len(scenario.clusters),
            given.first,
            given.last,
            given.max_size,
            given.sites,
            tuple(scenario.clusters),
            given.components == "merge",
        )


def _batch(scenario: Scenario, room: Room, jobs: float) -> _Made:
    assert scenario.workload.batch is not None, "checked"
    batch, names = scenario.workload.batch, list(scenario.clusters)
    kinds = []
    for index, kind in enumerate(batch.kinds):
        where = None if kind.on is None else tuple(names.index(name) for name in kind.on)
        request = Request(kind.components, where)
        room.check([request], [1.0], ("workload", "batch", "kinds", index, "components"))
        kinds.append((request, float(kind.time)))
    count = int(min(jobs, batch.count))
    return _Made(alternating(kinds, count), count)
