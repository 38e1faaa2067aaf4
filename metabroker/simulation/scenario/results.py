"""What is told of a scenario that was played: the JSON object of contract C5.

Nothing in it is nan: what is not known is null. A kind of jobs that did not occur has a mean of
null; one replication alone has no interval, so its `ci95` is null.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from metabroker.simulation.local_users import KINDS
from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.rounds import Played, Stop
from metabroker.simulation.workloads.job_mix import JobMixStream
from metabroker.simulation.workloads.replay import Replay
from metabroker.simulation.workloads.runtimes import Runtimes, work
from metabroker.simulation.workloads.synthetic import Synthetic

from .loader import Plan

Json = dict[str, Any]
Figure = Callable[[JobOutcome], float | None]

BACKLOG = 2.0
"""A log's system has fallen behind if it has more than so many longest run times to catch up."""

STAND_IN = "run times from a stand-in: the table of BE07 section 5 is lost"


def stop_of(plan: Plan) -> Stop | None:
    """When the scenario has had enough replications."""
    precision = plan.scenario.precision
    return None if precision is None else Stop(precision.relative, precision.most)


def as_data(plan: Plan, played: Played) -> Json:
    """The JSON object of a run. Times in the workload's unit, shares and utilizations up to 1."""
    outcomes = played.summary.outcomes
    of_runtimes = plan.scenario.workload.runtimes is not None
    result: Json = {
        "scenario": scenario_data(plan),
        "jobs": outcomes[0].jobs,
        "replications": len(outcomes),
        "warmup": round(sum(outcome.warmup for outcome in outcomes) / len(outcomes)),
        "saturated": is_saturated(plan, played),
        "response_time": _responses(plan, played),
        "waiting_time": _figure(played, lambda o: o.wait),
        "utilization": {
            "gross": _mean(played, lambda o: o.gross),
            # Measured run times have all that wide-area communication costs in them (BE07 5).
            "net": None if of_runtimes else _mean(played, lambda o: o.net),
        },
        "jobs_per_second": _number(played.jobs_per_second),
        "engine": _engine(played),
    }
    if plan.swept:
        result = {"set": plan.swept, **result}
    if plan.scenario.workload.swf is not None:
        result |= _of_a_log(plan, played)
    if plan.scenario.workload.job_mix is not None:
        result["classes"] = _classes(played)
    if plan.scenario.workload.batch is not None:
        result["makespan"] = _mean(played, lambda o: o.makespan)
    if plan.scenario.local:
        result["by_kind"] = {kind: _kind(played, kind) for kind in KINDS}
        if plan.scenario.plan is not None:
            result["idle_for_plans"] = _mean(played, lambda o: o.idle_for_plans)
    if plan.scenario.inputs is not None:
        result["transfer_time"] = _figure(played, lambda o: o.transfer)
    if plan.scenario.precision is not None:
        result["precision"] = _precision(plan, played)
    notes = _notes(plan)
    return result | ({"notes": notes} if notes else {})


def scenario_data(plan: Plan) -> Json:
    """The scenario with all its defaults, as a file could say it."""
    data = plan.scenario.model_dump(mode="json")
    for key in ("line", "plan", "inputs", "latency"):
        if data[key] is None:
            del data[key]
    locals_ = [data["clusters"][name]["local"] for name in plan.scenario.local]
    for workload in [data["workload"], *(local["workload"] for local in locals_)]:
        for name in [name for name in workload if workload[name] is None]:
            del workload[name]
    return data


def is_saturated(plan: Plan, played: Played) -> bool:
    """Could the system not keep up?

    Offered more work than there are processors, no system can. A batch is done some time. A log
    has busy and quiet times, and is one run only: its response times must grow, and what is left
    to do when its last job is submitted must take longer than a few of its longest jobs.
    """
    if offered(plan) >= 1:
        return True
    if plan.scenario.workload.batch is not None or not played.summary.saturated:
        return False
    replay = plan.run.workload
    if not isinstance(replay, Replay):
        return True
    played_jobs = replay.extract[: plan.run.jobs]
    span = played_jobs[-1].submit - played_jobs[0].submit
    longest = max(entry.run for entry in played_jobs)
    left = min(outcome.makespan for outcome in played.summary.outcomes) - span
    return left > BACKLOG * longest


def offered(plan: Plan) -> float:
    """The gross utilization that is offered, local users' included, where jobs are drawn for
    ever; else 0."""
    workload, processors = plan.run.workload, sum(plan.run.system.processors)
    local = sum(
        users.workload.utilization(processors)[0]
        for users in plan.run.system.local
        if users is not None and isinstance(users.workload, Synthetic)
    )
    if isinstance(workload, Synthetic):
        return local + workload.utilization(processors)[0]
    if isinstance(workload, Runtimes):
        return local + workload.arrival_rate * work(workload.table) / processors
    return workload.utilization if isinstance(workload, JobMixStream) else local


def _responses(plan: Plan, played: Played) -> Json:
    total = _figure(played, lambda o: o.response)
    if plan.scenario.workload.job_mix is not None:  # all its jobs have one component
        return {"total": total, "local": total, "global": _figure(played, lambda _: None)}
    return {
        "total": total,
        "local": _figure(played, lambda o: o.response_first),
        "global": _figure(played, lambda o: o.response_others),
    }


def _of_a_log(plan: Plan, played: Played) -> Json:
    assert isinstance(plan.run.workload, Replay)
    skipped = plan.run.workload.trace.skipped.values()
    return {
        "mean_wait": _mean(played, lambda o: o.wait),
        "mean_response": _mean(played, lambda o: o.response),
        "bounded_slowdown": _mean(played, lambda o: o.slowdown),
        "awrt": _mean(played, lambda o: o.awrt),
        "awwt": _mean(played, lambda o: o.awwt),
        "makespan": _mean(played, lambda o: o.makespan),
        "multi_site": {
            "jobs": played.summary.outcomes[0].split_jobs,
            "area_share": _mean(played, lambda o: o.split_share),
        },
        "skipped": [
            {"reason": s.why, "count": s.count, "first_line": s.first_line} for s in skipped
        ],
    }


def _classes(played: Played) -> Json:
    """The jobs of a job mix; `max_response` is the largest of all replications."""
    outcomes = played.summary.outcomes
    sequential = _mean(played, lambda o: o.response_first)
    gang = _mean(played, lambda o: o.response_others)
    longest_first = max(outcome.max_first for outcome in outcomes)
    longest_gang = max(outcome.max_others for outcome in outcomes)
    return {
        "sequential": {
            "mean_response": sequential,
            "max_response": None if sequential is None else longest_first,
        },
        "gang": {
            "mean_response": gang,
            "max_response": None if gang is None else longest_gang,
        },
    }


def _kind(played: Played, kind: str) -> Json:
    """The jobs of local users, of one component, or of several."""

    def of(figure: Callable[[JobOutcome], float]) -> Figure:
        return lambda o: figure(o.kinds[kind]) if kind in o.kinds else None

    return {
        "jobs": _mean(played, of(lambda o: o.jobs)),
        "response_time": _figure(played, of(lambda o: o.response)),
        "waiting_time": _figure(played, of(lambda o: o.wait)),
        "bounded_slowdown": _figure(played, of(lambda o: o.slowdown)),
        "utilization": _mean(played, of(lambda o: o.gross)),
    }


def _engine(played: Played) -> str:
    """What has played it: the kernel, the readable policies, or both, each some replications."""
    found = {outcome.kernel for outcome in played.summary.outcomes}
    return "both" if len(found) > 1 else "kernel" if True in found else "readable"


def _precision(plan: Plan, played: Played) -> Json:
    assert plan.scenario.precision is not None
    asked = plan.scenario.precision
    return {
        "asked": asked.relative,
        "found": _number(played.summary.response.relative),
        "reached": bool(played.reached),
        "maximum_hit": not played.reached and len(played.summary.outcomes) >= asked.most,
    }


def _notes(plan: Plan) -> list[str]:
    runtimes = plan.scenario.workload.runtimes
    if runtimes is not None and runtimes.table in ("ensflow", "poisson", "mix"):
        return [STAND_IN]
    return []


def _figure(played: Played, what: Figure) -> Json:
    found = played.summary.interval(what)
    if found is None:
        return {"mean": None, "ci95": None}
    return {"mean": _number(found.mean), "ci95": _number(found.half)}


def _mean(played: Played, what: Figure) -> float | None:
    found = played.summary.mean(what)
    return None if found is None else _number(found)


def _number(value: float) -> float | None:
    """A number that JSON has."""
    return value if math.isfinite(value) else None
