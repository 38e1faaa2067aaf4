"""The clusters of a configuration as frozen models: every key, its type, default and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field

from metabroker.config import values
from metabroker.config.fields import (
    Chunk,
    Host,
    JumpHost,
    PathOrNone,
    RunAs,
    Seconds,
    SomeWords,
    User,
    Word,
)
from metabroker.config.names import AnyNames, PBSNames, SlurmNames
from metabroker.config.section import Count, Section, as_tuple, empty
from metabroker.config.users import table as user_table
from metabroker.submission.native.asked import KINDS, ClusterWords


class _Cluster(Section):
    """What any kind of cluster has."""

    system: str
    """its resource manager"""
    processors: Count | None = None
    """how many processors its twin has under `serve --offline` before the cluster was ever seen"""
    nodes: Count | None = None
    """how many equal nodes these processors are in, for a twin or a simulated cluster; null: where
    it does not give whole nodes, it has none"""
    whole_nodes: Count | None = None
    """for a cluster that gives jobs whole nodes: processors of a node (of the largest one); what a
    component asks for is rounded up to them; null: processors are given one by one"""
    claim: Literal["reservation", "placeholder"] = "reservation"
    """placeholder: where there is no right to reserve, the component job itself is the claim"""
    run_as: RunAs = "self"
    """whose jobs its jobs are; self: the daemon's own; sudo: their submitters', by sudo; root-uid:
    the same by a daemon that is root, `via: local`"""
    shared_dir: PathOrNone = None
    """a folder that its nodes and the daemon (or its login host) share, for the barrier; null: the
    job's own folder"""
    commands_at_once: Annotated[int, Field(ge=1, le=64)] = 4
    """how many of its commands run at the same time"""


class RealCluster(_Cluster):
    """What any cluster has that is reached by its own client commands."""

    users: Annotated[Literal["same"] | Mapping[str, str] | None, BeforeValidator(user_table)] = None
    """accounts there by users' names, for `run_as: sudo` and root-uid: who has none may not submit
    there; same: of the users' own names, but for system accounts"""
    users_file: PathOrNone = None
    """YAML file of such a table, in the place of `users`; read again on SIGHUP"""
    sftp_server: PathOrNone = None
    """program by which users' files are reached, where commands run; null:
    /usr/lib/openssh/sftp-server"""

    via: Literal["local", "ssh", "openssh"] = "local"
    """where its client commands run; local: on this host; ssh: on its login host, over one kept
    connection; openssh: the same by this host's own ssh, for Kerberos and the like"""
    host: Host | None = None
    """its login host; ssh and openssh need it"""
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """port of its sshd; null: 22, or what an ssh_config says"""
    user: User | None = None
    """account there, whose jobs they are; null: of the same name as the daemon's own"""
    key: PathOrNone = None
    """file of the private key to log in by; it must need no passphrase"""
    certificate: PathOrNone = None
    """file of the certificate that belongs to the key; null: KEY-cert.pub, if that is there"""
    agent: bool | None = None
    """whether the keys of an agent (SSH_AUTH_SOCK) are offered; null: where no `key` is given"""
    known_hosts: PathOrNone = None
    """file of the keys that hosts are known by, which is only read; null: ~/.ssh/known_hosts, and
    for openssh what its ssh_config says"""
    jump: Annotated[tuple[JumpHost, ...], BeforeValidator(as_tuple)] = ()
    """hosts to go through, as [USER@]HOST[:PORT], the nearest first"""
    ssh_config: PathOrNone = None
    """for openssh: its configuration file; null: the account's own"""
    connect_timeout: Seconds = 10.0
    """how long a connection may take to be made"""
    keepalive: Seconds = 15.0
    """how often a silent connection is tried; one that does not answer as long again is dropped"""
    reconnect_pause: Seconds = 1.0
    """least time between two connections; it doubles with each that fails, up to a minute"""
    env: Annotated[Mapping[str, str], BeforeValidator(values.variables)] = {}
    """environment of its client commands, for example SLURM_CONF or PBS_CONF_FILE"""
    bin: PathOrNone = None
    """folder of its client commands, where they run; null: they are found on PATH"""


class SlurmConfig(RealCluster):
    """A cluster under Slurm."""

    system: Literal["slurm"] = "slurm"
    """its resource manager"""
    partition: Word | None = None
    """partition that jobs go to; null: the cluster's default one"""
    account: Word | None = None
    """account that jobs are charged to; null: the user's default one"""
    qos: Word | None = None
    """quality of service of the jobs; null: the default one"""
    native: Annotated[SomeWords, AfterValidator(values.sbatch_options)] = ()
    """options of sbatch that every job is given before its user's own: ["--gres=gpu:1"]"""
    names: Annotated[SlurmNames, BeforeValidator(empty)] = SlurmNames()
    """what partitions, accounts and the like of `#SBATCH` and `#PBS` lines are called there"""
    access: Literal["commands", "pyslurm", "pyslurm-or-commands"] = "commands"
    """pyslurm: it is looked at, and jobs are cancelled, through a pyslurm of its Slurm's release;
    pyslurm-or-commands: by its commands where there is none"""
    pyslurm_python: PathOrNone = None
    """the Python interpreter that has its pyslurm; null: the daemon's own"""


class OpenPBSConfig(RealCluster):
    """A cluster under OpenPBS or PBS Professional."""

    system: Literal["openpbs"] = "openpbs"
    """its resource manager"""
    queue: Word | None = None
    """queue that jobs go to; null: the server's default one"""
    account: Word | None = None
    """account string of the jobs; null: none"""
    project: Word | None = None
    """project of the jobs; null: the default one"""
    chunk: Chunk | None = None
    """what each processor needs besides itself, as in a chunk of `select`: mem=2gb:Qlist=fast"""
    native: Annotated[SomeWords, AfterValidator(values.qsub_options)] = ()
    """options of qsub that every job is given before its user's own: ["-lsoftware=matlab"]"""
    names: Annotated[PBSNames, BeforeValidator(empty)] = PBSNames()
    """what queues, accounts and the like of `#SBATCH` and `#PBS` lines are called there"""


class SimulatedConfig(_Cluster):
    """A cluster that the daemon simulates, in real time."""

    system: Literal["simulated"] = "simulated"
    """its resource manager"""
    run_as: Literal["self"] = "self"
    """whose jobs its jobs are; self: the daemon's own"""
    processors: Count
    """how many processors it has"""
    run: bool = True
    """whether scripts really run, as processes of this host"""
    state: PathOrNone = None
    """file that keeps its state over a restart; null: NAME.simulated beside the store"""
    names: Annotated[AnyNames, BeforeValidator(empty)] = AnyNames()
    """what partitions, accounts and the like of `#SBATCH` and `#PBS` lines are called there"""

    @property
    def node(self) -> int:
        """Processors of one of its nodes; 1: it has none that are known."""
        return self.whole_nodes or (max(1, self.processors // self.nodes) if self.nodes else 1)


class TwinConfig(SimulatedConfig):
    """A cluster that takes a real one's place under `serve --offline`; no file can name one."""

    twin_of: str
    """the resource manager of that cluster"""


Cluster = Annotated[SlurmConfig | OpenPBSConfig | SimulatedConfig, Discriminator("system")]


def words_of(cluster: SlurmConfig | OpenPBSConfig | SimulatedConfig) -> ClusterWords:
    """How it is asked for what users ask in the words of sbatch or qsub."""
    tables, queue = cluster.names.model_dump(), "queue"
    own = (
        {} if isinstance(cluster, SimulatedConfig) else cluster.model_dump(include={*KINDS, queue})
    )
    if isinstance(cluster, OpenPBSConfig):
        tables["partition"], own["partition"] = tables.pop(queue), own.pop(queue)
    own = {kind: name for kind, name in own.items() if name}
    return ClusterWords(cluster.system, tables, own, cluster.whole_nodes or 1)


def gives_own_nodes(cluster: SlurmConfig | OpenPBSConfig | SimulatedConfig) -> bool:
    """Whether it gives each job nodes of its own, whatever their size: by an option of every job
    there."""
    return isinstance(cluster, SlurmConfig) and "--exclusive" in cluster.native


def runs_as_store_owner(cluster: RealCluster | SimulatedConfig) -> bool:
    """Whether its jobs run as the daemon's own account, on the daemon's host as far as is known."""
    if isinstance(cluster, SimulatedConfig):
        return cluster.run
    return cluster.run_as == "self" and cluster.via == "local"
