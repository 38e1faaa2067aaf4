"""Worlds in which the policy backfills, or splits jobs, and what must hold there."""

from __future__ import annotations

import random
from dataclasses import replace

from metabroker.broker.core import Broker
from metabroker.broker.effects import Submit
from metabroker.policy import BACKFILLING, SPLITTING

from .oracle import Violation
from .scenario import JobPlan


def of_policy(
    seed: int, policy: str, jobs: tuple[JobPlan, ...]
) -> tuple[str, float, tuple[JobPlan, ...]]:
    """In one world of seven the policy is not this one but one that backfills. In one of twelve it
    is MULTI-SITE: with its overhead, and with jobs most of which it may split."""
    backfills = random.Random(f"{seed} backfilling")
    if backfills.random() < 0.15:
        policy = backfills.choice([name for name in BACKFILLING if name not in SPLITTING])
    rng = random.Random(f"{seed} splitting")
    if rng.random() >= 0.08:
        return policy, 0.0, jobs
    return "MULTI-SITE", rng.choice((0.0, 0.25, 1.0)), tuple(_flexible(rng, job) for job in jobs)


def _flexible(rng: random.Random, job: JobPlan) -> JobPlan:
    if job.form not in ("single", "components") or rng.random() < 0.3:
        return job
    return replace(job, form="total", sizes=(sum(job.sizes),))


class Parts:
    """What jobs have asked for in all, by their numbers, however the policy splits them."""

    def __init__(self) -> None:
        self._asked: dict[int, int] = {}

    def check(self, broker: Broker) -> None:
        """A job that waits is one request. One that was placed holds all that it has asked for, in
        no more components than its user lets the policy have."""
        for job in broker.view.jobs.values():
            asked = self._asked.setdefault(job.id, job.request.total)
            parts = [part.processors for part in job.components]
            if job.split is not None and not parts and not job.single:
                raise Violation(f"job {job.id} waits as {job.request.sizes}")
            if job.request.total != asked or (parts and sum(parts) < asked):
                raise Violation(f"job {job.id} has asked for {asked}, and has {parts}")
            if job.split is not None and len(parts) > job.split.parts:
                raise Violation(f"job {job.id} is split into {parts}")


def long_enough(broker: Broker, effect: Submit) -> None:
    """The cluster leaves a component its user's time; of a job that the policy has split (1 +
    overhead) times that, and besides the way to the barrier."""
    job, settings = broker.view.jobs.get(effect.ref.job), broker.settings
    if job is None or job.attempt != effect.ref.attempt or job.split is None:
        return
    least: float = job.time_limit
    if len(job.components) > 1:
        least = least * (1 + settings.overhead) + settings.barrier_slack
    if effect.seconds < least:
        raise Violation(f"job {job.id} may run for {effect.seconds} s of {least:g} s")
