"""What befalls one cluster."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

from .accounts import TROUBLES, UNKNOWN
from .cluster import AGAIN, WorldCluster
from .scenario import (
    ACCOUNT,
    BLIND,
    EMPTY,
    HEIR,
    HIDES_ENDS,
    LEAVE,
    MAINTENANCE,
    RENAME,
    SILENT,
    SUSPEND,
    UNSETTLED,
    Fault,
)
from .suspending import suspend

if TYPE_CHECKING:
    from .world import World


def befall(world: World, cluster: WorldCluster, fault: Fault) -> None:
    """A fault begins there."""
    what, until = fault.what, world.now + fault.lasts
    world.tally.add(f"fault {what}")
    if what in SILENT and not cluster.suffers(what):
        cluster.since[what] = world.now
    if fault.lasts and what != SUSPEND:
        cluster.until[what], cluster.how[what] = until, fault.how
    if what in HIDES_ENDS:
        cluster.hidden += fault.lasts
    if what in _FAULTS:
        _FAULTS[what](world, cluster, fault, until)
    elif what in ("node", "requeue", "kill"):
        cluster.hit_job(what)


def _amnesia(world: World, cluster: WorldCluster, *_given: object) -> None:
    for token in cluster.amnesia():
        world.oracle.forgot(token)


def _drain(world: World, cluster: WorldCluster, _fault: Fault, until: float) -> None:
    cluster.model.down = cluster.model.processors // 2
    world.at(until, lambda: setattr(cluster.model, "down", 0))


def _maintain(_world: World, cluster: WorldCluster, fault: Fault, _until: float) -> None:
    cluster.reserve_ahead(float(fault.how), fault.lasts, half=fault.then == "half")


def _jump(world: World, cluster: WorldCluster, *_given: object) -> None:
    by = world.rng.uniform(-60, 60)
    cluster.offset += by
    cluster.controller.unsettled_until += by  # nodes answer when they do, whatever the clock says
    cluster.jumped = world.now


def _inherit(world: World, cluster: WorldCluster, _fault: Fault, until: float) -> None:
    """Somebody submits jobs by hand under the broker's own account; they get the next ids. Nobody
    could tell one from the lost job that had its id if that one's script began a moment ago."""
    now, began = cluster.local(), world.oracle.began
    starts = [began[ref][0] for ref in world.oracle.lost if ref in began]
    cluster.skip_ids(now, fresh=any(world.now - start < AGAIN for start in starts))
    for _ in range(3):
        extra = {"until": until - world.now + now, "account": True}
        cluster.model.submit("by-hand", 1, 1e9, now, extra=extra)
    cluster.step()


def _blind(world: World, cluster: WorldCluster, fault: Fault, until: float) -> None:
    """Listings leave out the job of ours that came last; or all, just so or of a controller that
    was just started."""
    how, jobs = fault.how, [job.id for job in cluster.ours() if not job.state.ended]
    cluster.controller.unseen = set(jobs if how in (UNSETTLED, EMPTY) else jobs[-1:])
    if how == UNSETTLED:
        cluster.controller.unsettled_until = until - world.now + cluster.local()
    world.at(until, lambda: setattr(cluster.controller, "unseen", set()))


def _trouble_account(world: World, cluster: WorldCluster, fault: Fault, until: float) -> None:
    how = fault.how if fault.how in TROUBLES else UNKNOWN
    ends = random.Random(f"{fault.at} {fault.then}").random() < 0.5
    cluster.accounts.befalls(fault.then, how, until, ends=ends)
    world.others_wait.begins(fault)


_FAULTS: dict[str, Callable[[World, WorldCluster, Fault, float], object]] = {
    "full": lambda _world, cluster, _fault, until: cluster.fill(until),
    "drained": _drain,
    "amnesia": _amnesia,
    "vanish": lambda _world, cluster, _fault, _until: cluster.vanish(),
    "jump": _jump,
    ACCOUNT: _trouble_account,
    BLIND: _blind,
    HEIR: _inherit,
    LEAVE: lambda _world, cluster, _fault, _until: cluster.leave(),
    MAINTENANCE: _maintain,
    SUSPEND: lambda world, cluster, fault, _until: suspend(world, cluster, fault.lasts),
    RENAME: lambda _world, cluster, _fault, _until: cluster.rename(),
}
