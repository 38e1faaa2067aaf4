"""What the broker has to undo in clusters, while it can: within a minute nothing is left of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from metabroker.broker import tokens
from metabroker.broker.states import Step
from metabroker.broker.tokens import Ref
from metabroker.clusters.simulated.model import SimulatedJob, State

from .cluster import WorldCluster
from .controller import is_ours
from .oracle import Violation
from .scenario import BLIND, CLINGS, DENIES, HIDES_ENDS

if TYPE_CHECKING:
    from .life import Life

_BOUND = 60.0  # seconds, beside those between two polls
_DISTURBED = (*HIDES_ENDS, DENIES, CLINGS, BLIND)
_LATE = 100.0  # seconds by which an answer comes late, where answers get lost


class Overdue:
    """What one broker has to undo, since when (by the world's clock)."""

    def __init__(self) -> None:
        self._since: dict[tuple[str, str], float] = {}

    def check(self, life: Life) -> None:
        """To be asked now and then.

        Raises:
            Violation: something was to be gone for long.
        """
        world = life.world
        if world.back.happened or life.engine.broker.view.starting:
            self._since.clear()
            return
        since: dict[tuple[str, str], float] = {}
        for cluster in world.clusters:
            quiet = max(life.able_since, _disturbed_until(cluster))
            for what in _to_be_gone(life, cluster):
                key = cluster.plan.name, what
                since[key] = self._since.get(key, world.now)
                if world.now - max(since[key], quiet) > _BOUND + world.scenario.poll:
                    raise Violation(f"P4: {what} is left in {cluster.plan.name} since {since[key]}")
            _none_cancelled(life, cluster, quiet)
        self._since = since


def _disturbed_until(cluster: WorldCluster) -> float:
    late = cluster.until.get("lossy", 0.0) + _LATE
    until = (cluster.until.get(fault, 0.0) for fault in _DISTURBED)
    return max(late, cluster.struck, cluster.accounts.troubled_until, *until)


def _to_be_gone(life: Life, cluster: WorldCluster) -> Iterator[str]:
    """The reservations and native jobs that no component needs any more, by name."""
    view, instance = life.engine.broker.view, life.world.store.instance
    found = [(name, name.partition("#")[0]) for name in cluster.model.reservations if is_ours(name)]
    found += [(f"job {job.id} {job.name}", job.name) for job in _living(cluster)]
    for name, token in found:
        ref = tokens.parse(instance, token)
        if ref is not None:
            component = view.component(ref)
            if component is None or component.step is Step.CLEAN:
                yield name


def _living(cluster: WorldCluster) -> list[SimulatedJob]:
    """Native jobs of ours under their names that nobody has told to end."""
    every = (job for job in cluster.model.jobs.values() if is_ours(job.name))
    gone = ("ending", "renamed")
    return [job for job in every if not job.state.ended and not any(w in job.extra for w in gone)]


def _none_cancelled(life: Life, cluster: WorldCluster, quiet: float) -> None:
    """No script runs on whose user was told that it will be ended."""
    world = life.world
    for job in _living(cluster):
        ref = tokens.parse(world.store.instance, job.name)
        if ref is None or job.state is not State.RUNNING or not _runs(life, ref):
            continue
        told = world.users.cancelled_at.get(ref.job)
        if told is not None:
            since = max(told, quiet, world.oracle.began[ref][0])
            if world.now > since + _BOUND:
                raise Violation(f"P4: {ref} was cancelled at {told}, and runs on")


def _runs(life: Life, ref: Ref) -> bool:
    return ref in life.world.oracle.running - life.world.oracle.lost
