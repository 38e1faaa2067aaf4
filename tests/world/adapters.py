"""The daemon's own adapters over a world's clusters."""

from __future__ import annotations

from metabroker.broker.settings import Settings
from metabroker.clusters.openpbs import HostPorts, OpenPBSCluster, OpenPBSOptions
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.transports.base import Transport
from metabroker.runtime.cluster_accounts import OwnersOfStore

from .cluster import WorldCluster
from .gates import SeenGates
from .stores import WorldStore

Adapter = SlurmCluster | OpenPBSCluster

CLOCK_EVERY = 30.0  # seconds


def adapter(
    cluster: WorldCluster, settings: Settings, transport: Transport, store: WorldStore
) -> Adapter:
    """A broker's adapter for a cluster; a new one after each of the broker's crashes."""
    plan, instance, owners = cluster.plan, settings.instance, None
    made: Adapter
    if cluster.accounts.acts:
        table = cluster.accounts.table
        owners = OwnersOfStore(store.jobs, instance, plan.name, "root", table)
    if plan.system == "slurm":
        slurm = SlurmOptions(
            "root",
            name=plan.name,
            instance=instance,
            clock_every=CLOCK_EVERY,
            cores_every=CLOCK_EVERY,
            queue_every=plan.queue_every,
            owners=owners,
        )
        made = SlurmCluster(slurm, transport)
    else:
        options = OpenPBSOptions(
            "root",
            name=plan.name,
            instance=instance,
            ports=HostPorts(clock=cluster.now),
            clock_every=CLOCK_EVERY,
            queue_every=plan.queue_every,
            lines_every=plan.queue_every if settings.plan_ahead else None,
            owners=owners,
        )
        made = OpenPBSCluster(options, transport)
    made.part = 4
    made._gates = SeenGates(transport.files, cluster.files)
    if owners is not None:
        _see_all_gates(made, cluster)
    return made


def _see_all_gates(made: Adapter, cluster: WorldCluster) -> None:
    """The oracle sees the gates of users' jobs too."""
    before = made.acting_for

    def acting_for(account: str) -> Adapter:
        view = before(account)
        view._gates = SeenGates(view.files, cluster.files)
        return view

    made.acting_for = acting_for  # type: ignore[method-assign,assignment]
