"""Jobs that a cluster ends since their reservation does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metabroker.broker import tokens
from metabroker.clusters.simulated.model import SimulatedJob

from .adapters import CLOCK_EVERY
from .cluster import WorldCluster
from .oracle import Violation

if TYPE_CHECKING:
    from .world import World

_NEARLY = 25.0  # seconds: clocks differ, and go at different rates
_AT_ONCE = 15.0  # seconds from the commit to a start where nothing stands in the way


def ends_with_its_reservation(world: World, cluster: WorldCluster, job: SimulatedJob) -> None:
    """A cluster ends a job with its reservation: its script had its whole time limit, unless it was
    begun late after the commit, or somebody has set the cluster's clock since, or shortly before;
    or it was suspended meanwhile.

    Raises:
        Violation: it had not.
    """
    ref = tokens.parse(world.store.instance, job.name)
    if ref is None or ref not in world.oracle.running or world.back.happened:
        return
    if ref[:2] in world.step_times.stood_still:
        cluster.stood.add(job.name)
    rows = world.store.jobs.rows(ids=[ref.job])
    if not world.clocks_right or world.database_ahead or not rows:
        return
    began, opened = world.oracle.began[ref][0], rows[0]["start_time"]
    known = opened is not None and cluster.jumped + CLOCK_EVERY * 2 < opened
    if not known or not opened <= began < opened + _AT_ONCE:
        return
    ran, limit = world.now - began, rows[0]["time_limit"]
    if ran < limit - _NEARLY:
        raise Violation(f"{ref} ends with its reservation, after {ran:.0f} s of {limit}")


def stood_too_long(world: World, row: Mapping[str, Any]) -> bool:
    """Whether a cluster has ended a component of it with its reservation, since an administrator
    had suspended one."""
    stood = [name for cluster in world.clusters for name in cluster.stood]
    refs = [tokens.parse(world.store.instance, name) for name in stood]
    return any(ref is not None and ref[:2] == (row["id"], row["attempt"]) for ref in refs)
