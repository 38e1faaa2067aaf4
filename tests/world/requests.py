"""The requests of a world's jobs."""

from __future__ import annotations

from metabroker.submission.model import Processors, Submission

from .home import FOLDER, inputs
from .scenario import JobPlan


def submission_of(index: int, plan: JobPlan) -> Submission:
    """What the user of a plan submits."""
    return Submission(
        script=b"#!/bin/sh\n",
        script_name=f"job{index}",
        processors=processors_of(plan),
        chdir="/home/u",
        environment={
            "METABROKER_RUN_TIME": str(plan.run_time),
            "METABROKER_EXITS": ".".join(map(str, plan.exits)),
            "METABROKER_TRAPS": str(int(plan.traps)),
        },
        hold=plan.hold,
        stage_in=tuple(inputs(index)) if plan.sends else (),
        stage_out=("out",) if plan.fetches else (),
        submit_dir=FOLDER,
        request_id=f"request {index}",
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
