"""An administrator suspends jobs of ours that run: they stand still, and so do their time limits.
Their processors stay their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metabroker.broker import tokens
from metabroker.clusters.simulated.model import SimulatedJob, State

if TYPE_CHECKING:
    from .cluster import WorldCluster
    from .world import World

_SINCE = "suspended"


def is_suspended(job: SimulatedJob) -> bool:
    """Whether it stands still."""
    return _SINCE in job.extra and not job.state.ended


_LONG = 200.0  # seconds


def suspend(world: World, cluster: WorldCluster, seconds: float) -> None:
    """One of them, for so long; for long only one whose script has begun: its reservation may be
    over when it goes on."""
    running = (job for job in cluster.ours() if job.state is State.RUNNING)
    jobs = [job for job in running if not {"ending", _SINCE} & job.extra.keys()]
    if seconds > _LONG:
        jobs = [job for job in jobs if job.id in cluster.runs and not cluster.runs[job.id].early]
    if not jobs:
        return
    job = world.rng.choice(jobs)
    job.extra[_SINCE] = cluster.local()
    ref = tokens.parse(world.store.instance, job.name)
    if ref is not None:
        stood = world.step_times.stood_still
        stood[ref.job, ref.attempt] = stood.get((ref.job, ref.attempt), 0.0) + seconds
    world.at(world.now + seconds, lambda: resume(cluster, job))


def resume(cluster: WorldCluster, job: SimulatedJob) -> None:
    """It goes on, if it was suspended."""
    since = job.extra.pop(_SINCE, None)
    if since is not None:
        job.limit += max(0.0, cluster.local() - since)
