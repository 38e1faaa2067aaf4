"""The requests of a world's jobs."""

from __future__ import annotations

from metabroker.submission.model import Processors

from .scenario import JobPlan


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
