"""The composition root: the one place that names concrete clusters, transports and stores."""

from __future__ import annotations

import logging
import os
import random
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from metabroker import accounts
from metabroker.about import about
from metabroker.access.rates import Rate
from metabroker.api.middleware import RateLimits
from metabroker.api.server import Listen
from metabroker.broker.after_restore import History
from metabroker.broker.core import Broker
from metabroker.broker.identities import UNKNOWN
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.clusters import native_queue
from metabroker.clusters.clocks import EVERY
from metabroker.clusters.openpbs import HostPorts, OpenPBSCluster, OpenPBSOptions
from metabroker.clusters.owners import Owners
from metabroker.clusters.port import Cluster
from metabroker.clusters.simulated import SimulatedCluster, SimulatedOptions
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.slurm.by_pyslurm import PyslurmTransport
from metabroker.clusters.submit_directory import SubmitDirectory
from metabroker.clusters.transports.base import Transport
from metabroker.clusters.transports.fenced import Permit, permitted
from metabroker.clusters.transports.local import LocalTransport
from metabroker.clusters.transports.openssh import OpenSshTransport
from metabroker.clusters.transports.ssh_target import Hop, SshTarget
from metabroker.clusters.unconfigured import UnconfiguredCluster
from metabroker.config.clusters import (
    OpenPBSConfig,
    RealCluster,
    SimulatedConfig,
    SlurmConfig,
    TwinConfig,
    gives_own_nodes,
)
from metabroker.config.host_checks import part_of
from metabroker.config.model import Config
from metabroker.policy import ALL_PLACEMENTS, SPLITTING, Aging, Limits, Place, make
from metabroker.runtime.cluster_accounts import OwnersOfStore, Users
from metabroker.store import Store

if TYPE_CHECKING:
    from metabroker.clusters.transports.ssh import SshTransport

log = logging.getLogger(__name__)

# Accounts whose files are served at once: processes on this host; or sessions of one connection,
# of which sshd allows ten by default, four of them for commands and our own files.
_SERVERS_NEAR, _SERVERS_FAR = 32, 5


def settings(config: Config, store: Store) -> Settings:
    """What the core goes by. Clusters that the configuration does not name any more, but that
    unfinished work refers to, come last: they cannot be reached, and nothing of theirs is lost."""
    known, systems = store.known_clusters(), store.systems.all()
    named = [
        ClusterSettings(
            name,
            reserves=cluster.claim == "reservation",
            processors=known.get(name) or cluster.processors or 0,
            system=cluster.system,
            unit=cluster.whole_nodes or 1,
            acting=cluster.run_as != "self",
            part=part_of(cluster) if isinstance(cluster, RealCluster) else None,
            identity=systems.get(name, UNKNOWN)[0],
            whole=gives_own_nodes(cluster),
            twin_of=cluster.twin_of if isinstance(cluster, TwinConfig) else "",
        )
        for name, cluster in config.clusters.items()
    ]
    absent = [
        ClusterSettings(
            name,
            reserves=False,
            system="absent",
            identity=systems.get(name, UNKNOWN)[0],
            part=systems.get(name, UNKNOWN)[1],
            configured=False,
        )
        for name in sorted(store.referred_clusters() - config.clusters.keys())
    ]
    for cluster in absent:
        log.warning(
            "%s: no longer configured, but unfinished work refers to it",
            cluster.name,
            extra=about(cluster=cluster.name),
        )
    return Settings(
        instance=store.instance,
        key=store.key,
        clusters=(*named, *absent),
        term=store.leadership.term() if store.term is None else store.term,
        submission_retries=config.retries.submission,
        completion_retries=config.retries.completion,
        stage_timeout=config.timeouts.stage,
        reserve_timeout=config.timeouts.reserve,
        submit_timeout=config.timeouts.submit,
        barrier_timeout=config.timeouts.barrier,
        line_depth=config.line.depth,
        line_siblings=config.line.siblings,
        line_patience=int(config.line.patience),
        plan_ahead=config.plan.ahead,
        plan_share=config.plan.share,
        plan_jobs=config.plan.jobs,
        splits=config.policy in SPLITTING,
        overhead=config.overhead,
        close_to_files=config.close_to_files,
        bandwidth=config.transfer.bandwidth,
        staging=config.transfer.staging,
        stale_after=3 * config.poll_interval + config.timeouts.command,
        poll_interval=config.poll_interval,
    )


def broker(config: Config, made: Settings, history: History) -> Broker:
    """The core with the configured policy; `history`: the store's returns from backups."""
    aging = Aging(overtaken=config.aging.overtaken, wait=config.aging.wait)
    scheduler = make(
        config.policy,
        len(made.clusters),
        placement=config.placement,
        discipline=config.discipline,
        aging=aging,
        rng=random.Random(config.seed),
        overhead=config.overhead,
    )
    core = Broker(made, scheduler, history)
    core.limit(shares(config))
    return core


def limits(config: Config) -> Limits:
    """The configured limits of requests."""
    given = config.limits
    return Limits(component=given.component, components=given.components, total=given.total)


def shares(config: Config) -> ResourceLimits:
    """What each user and queue may have at a time."""
    user, queue = config.limits.per_user, config.limits.per_queue
    return ResourceLimits(
        ResourceLimit(user.waiting, user.processors, user.coallocated),
        ResourceLimit(queue.waiting, queue.processors, queue.coallocated),
        user.dependencies,
    )


def rates(config: Config) -> RateLimits:
    """How often one user may ask."""
    given = config.rates

    def rate(per_second: float | None) -> Rate | None:
        if per_second is None:
            return None
        return Rate(per_second, max(1, round(per_second * given.burst)))

    return RateLimits(rate(given.requests), rate(given.submissions))


def listen(config: Config) -> Listen | None:
    """Where the API is served over TLS."""
    given = config.listen
    if given is None:
        return None
    return Listen(given.address.host, given.address.port, given.certificate, given.key)


def place(config: Config) -> Place:
    """The placement rule in force."""
    return ALL_PLACEMENTS[config.placement_in_force]


def clusters(
    config: Config, made: Settings, store: Store, users: Users, permit: Permit | None = None
) -> list[Cluster]:
    """The clusters, in the order of the settings. `users`: of those that act for users; `permit`:
    asked before each step in a real one, where several brokers share the store."""
    found: list[Cluster] = []
    ports: dict[str | None, HostPorts] = {}
    for entry in made.clusters:
        configured = config.clusters.get(entry.name)
        if configured is None:
            found.append(UnconfiguredCluster(entry.name))
        elif isinstance(configured, SimulatedConfig):
            found.append(_simulated(entry, made, configured, config.state_file(entry.name)))
        else:
            owners = None
            if entry.name in users:
                table, own = users[entry.name].table, _account(configured)
                restored = store.restorations.history().latest
                before = () if restored is None else store.jobs.all_accounts(entry.name)
                owners = OwnersOfStore(
                    store.jobs, made.instance, entry.name, own, table, before=before
                )
            its = ports.setdefault(configured.host, HostPorts())
            found.append(real(config, configured, entry.name, made.instance, owners, permit, its))
    return found


def real(
    config: Config,
    configured: SlurmConfig | OpenPBSConfig,
    name: str,
    instance: str,
    owners: Owners | None = None,
    permit: Permit | None = None,
    ports: HostPorts | None = None,
) -> SlurmCluster | OpenPBSCluster:
    """A cluster that is not simulated, for the broker `instance`; `owners`: of its jobs there,
    where it acts for users; `permit`: asked before each step; `ports`: of the host on which its
    commands run, shared by all clusters whose commands do."""
    transport = _transport(configured, config.timeouts.command)
    if isinstance(configured, SlurmConfig) and configured.access != "commands":
        transport = _by_pyslurm(configured, name, transport, config.timeouts.command)
    if permit is not None:
        transport = permitted(transport, permit)
    user = _account(configured)
    waiting = native_queue.EVERY if config.line.depth or config.plan.ahead else None
    if isinstance(configured, OpenPBSConfig):
        return OpenPBSCluster(
            OpenPBSOptions(
                name=name,
                instance=instance,
                user=user,
                queue=configured.queue,
                account=configured.account,
                project=configured.project,
                unit=configured.whole_nodes or 1,
                native=configured.native,
                chunk=configured.chunk,
                clock_every=EVERY,
                queue_every=waiting,
                lines_every=3 * native_queue.EVERY if config.plan.ahead else None,
                owners=owners,
                ports=ports,
            ),
            transport,
        )
    return SlurmCluster(
        SlurmOptions(
            name=name,
            instance=instance,
            user=user,
            partition=configured.partition,
            account=configured.account,
            qos=configured.qos,
            unit=configured.whole_nodes or 1,
            native=configured.native,
            clock_every=EVERY,
            cores_every=EVERY,
            queue_every=waiting,
            owners=owners,
        ),
        transport,
    )


def _simulated(
    entry: ClusterSettings, made: Settings, configured: SimulatedConfig, state: Path
) -> SimulatedCluster:
    return SimulatedCluster(
        SimulatedOptions(
            name=entry.name,
            instance=made.instance,
            processors=configured.processors,
            state=state,
            run=configured.run,
            node=configured.node,
            sole=entry.unit > 1,
            reserves_nodes=entry.twin_of == "slurm",
        )
    )


def _transport(cluster: RealCluster, timeout: float) -> Transport:
    """How the cluster's commands are run, and as whom."""
    if cluster.run_as == "self":
        return _own_transport(cluster, timeout)
    # Where no cluster needs it, its libraries take no memory.
    from metabroker.clusters.transports.run_as import SFTP_SERVER, RunAsTransport, by_ids, by_sudo

    sudo = partial(by_sudo, folder=_text(cluster.bin))
    return RunAsTransport(
        _own_transport(cluster, timeout),
        sudo if cluster.run_as == "sudo" else by_ids,
        sftp_server=_text(cluster.sftp_server) or SFTP_SERVER,
        command_timeout=timeout,
        most=_SERVERS_NEAR if cluster.via == "local" else _SERVERS_FAR,
    )


def homes(config: Config) -> Callable[[str], SubmitDirectory] | None:
    """The files of users on this host; None: the daemon acts for nobody."""
    real = [c for c in config.clusters.values() if isinstance(c, RealCluster)]
    ways = {cluster.run_as for cluster in real} - {"self"}
    if not ways:
        return None
    from metabroker.clusters.transports.run_as import SFTP_SERVER, RunAsTransport, by_ids, by_sudo
    from metabroker.clusters.transports.user_directory import UserDirectory

    near = (_text(c.sftp_server) for c in real if c.via == "local" and c.run_as != "self")
    transport = RunAsTransport(
        LocalTransport({}),
        by_ids if "root-uid" in ways else by_sudo,
        sftp_server=next((path for path in near if path), SFTP_SERVER),
        command_timeout=config.timeouts.command,
        most=_SERVERS_NEAR,
    )
    return partial(UserDirectory, transport)


def _own_transport(
    cluster: RealCluster, timeout: float
) -> LocalTransport | SshTransport | OpenSshTransport:
    """How the cluster's commands are run as the account that the daemon has there."""
    if cluster.via == "local":
        return LocalTransport(cluster.env, folder=_text(cluster.bin), command_timeout=timeout)
    folder = _text(cluster.bin)
    reach = _reach(cluster)
    if cluster.via == "openssh":
        return OpenSshTransport(reach, cluster.env, folder=folder, command_timeout=timeout)
    # Where no cluster needs it, its libraries take no memory.
    from metabroker.clusters.transports.ssh import SshTransport

    return SshTransport(reach, cluster.env, folder=folder, command_timeout=timeout)


def _by_pyslurm(cluster: SlurmConfig, name: str, beside: Transport, timeout: float) -> Transport:
    """What asks the cluster through pyslurm, with its commands beside."""
    return PyslurmTransport(
        beside,
        _environment(cluster.env, cluster.bin),
        name=name,
        python=_text(cluster.pyslurm_python) or sys.executable,
        falls_back=cluster.access == "pyslurm-or-commands",
        command_timeout=timeout,
    )


def _reach(cluster: RealCluster) -> SshTarget:
    """Where the cluster's login host is."""
    assert cluster.host is not None, "the configuration was checked"
    agent = cluster.agent if cluster.agent is not None else cluster.key is None
    return SshTarget(
        Hop(cluster.host, cluster.port, _account(cluster)),
        key=_text(cluster.key),
        certificate=_text(cluster.certificate),
        agent=agent,
        known_hosts=_text(cluster.known_hosts),
        jump=tuple(Hop(hop.host, hop.port, hop.user) for hop in cluster.jump),
        config=_text(cluster.ssh_config),
        connect_timeout=cluster.connect_timeout,
        keepalive=cluster.keepalive,
        pause=cluster.reconnect_pause,
    )


def _account(cluster: RealCluster) -> str:
    """The account that the cluster's jobs run under."""
    return cluster.user or accounts.own().name


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _environment(env: Mapping[str, str], folder: Path | None) -> dict[str, str]:
    made = dict(env)
    if folder is not None:
        made["PATH"] = f"{folder}:{made.get('PATH', os.environ.get('PATH', '/usr/bin:/bin'))}"
    return made
