"""What a world's broker is told: its settings, and what users submit."""

from __future__ import annotations

from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.policy import SPLITTING
from metabroker.submission.model import Processors, Submission
from metabroker.submission.shape import Shape

from .arrays import AHEAD
from .dependencies import SAME
from .home import FOLDER, inputs
from .network import COMMAND_TIMEOUT
from .scenario import JobPlan, Scenario

KEY = "of worlds"  # of the store, by which tokens are proven


def submission_of(
    index: int, plan: JobPlan, dependency: str | None = None, joins: int = 0
) -> Submission:
    """What the user of a plan submits."""
    return Submission(
        script=b"#!/bin/sh\n",
        script_name=f"job{index}",
        processors=processors_of(plan),
        shape=Shape(plan.cpus),
        chdir="/home/u",
        environment={
            "METABROKER_RUN_TIME": str(plan.run_time),
            "METABROKER_APART": str(plan.apart),
            "METABROKER_EXITS": ".".join(map(str, plan.exits)),
            "METABROKER_LONE": str(plan.lone),
            "METABROKER_TRAPS": str(int(plan.traps)),
        },
        hold=plan.hold,
        stage_in=tuple(inputs(index)) if plan.sends else (),
        stage_out=("out",) if plan.fetches else (),
        submit_dir=FOLDER,
        request_id=f"request {index}",
        name=SAME if plan.same else None,
        dependency=dependency,
        array=plan.array or None,
        kill_on_invalid_dep=dependency is not None,
        input_at=plan.reads,
        joins=joins or None,
    )


def processors_of(plan: JobPlan) -> Processors:
    """What a plan asks for."""
    if plan.form == "single":
        return Processors(single=plan.sizes[0])
    if plan.form == "chosen":
        return Processors(single=plan.sizes[0], cluster=plan.clusters[0])
    if plan.form == "total":
        return Processors(total=plan.sizes[0])
    if plan.form == "on":
        return Processors(on=tuple(zip(plan.clusters, plan.sizes, strict=True)))
    return Processors(components=plan.sizes)


def settings_of(scenario: Scenario, instance: str) -> Settings:
    """Short times, so that much happens in a world's few minutes."""
    return Settings(
        instance,
        tuple(
            ClusterSettings(
                *(plan.name, plan.reserves, plan.processors, "slurm", plan.unit),
                acting=bool(plan.acts),
            )
            for plan in scenario.clusters
        ),
        key=KEY,
        completion_retries=scenario.completion_retries,
        stage_timeout=60.0,
        reserve_timeout=10.0,
        submit_timeout=20.0,
        barrier_timeout=40.0,
        stale_after=3 * scenario.poll + COMMAND_TIMEOUT,
        poll_interval=scenario.poll,
        slice=scenario.slice,
        array_ahead=AHEAD,
        plan_ahead=scenario.ahead,
        splits=scenario.policy in SPLITTING,
        overhead=scenario.overhead,
        plan_lead=8.0,
        close_to_files=scenario.close,
    )
