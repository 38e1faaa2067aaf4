"""The configuration (contract C6) as frozen models: every key, its type, default and meaning.

`metabroker.config.loader` makes one from a file, with errors that name file, line and key. Times
are in seconds, sizes in processors.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    PlainSerializer,
    ValidationInfo,
)

from metabroker import paths
from metabroker.config import values
from metabroker.config.errors import ConfigRefusal
from metabroker.config.section import (
    ClusterName,
    Count,
    Section,
    SizeLimits,
    as_tuple,
    empty,
    folder,
)
from metabroker.config.users import table as user_table
from metabroker.submission.checks import LARGEST_SCRIPT

Policy = Literal[
    "GS",
    "LS-OR",
    "LS-RD",
    "LS-RO",
    "LS-DO",
    "GP",
    "LP-LF",
    "LP-GF",
    "LP-RD",
    "EQ-LF",
    "EQ-GF",
    "EQ-RD",
    "LQ",
    "FCFS",
    "FPFS",
]
Discipline = Literal["FCFS", "FPFS"]
Placement = Literal["worst-fit", "worst-fit-reuse"]
RunAs = Literal["self", "sudo", "root-uid"]


def _path(value: object, info: ValidationInfo) -> Path:
    return values.absolute_path(value, folder(info))


def _optional_path(value: object, info: ValidationInfo) -> Path | None:
    return None if value is None else _path(value, info)


def _socket(value: object, info: ValidationInfo) -> Path:
    return values.socket_path(value, folder(info))


_SHORTEST_LEASE = 2.0  # seconds: a busy database answers in less than half of it


def _lease(seconds: float) -> float:
    if seconds < _SHORTEST_LEASE:
        raise ConfigRefusal(f"{seconds:g} seconds are too few", "write 2s or more; 10s is usual")
    return seconds


def _store(value: object, info: ValidationInfo) -> str:
    return values.store_url(value, folder(info))


_Text = PlainSerializer(str, return_type=str)
_DurationText = PlainSerializer(values.duration_text, return_type=str)
_Optional = PlainSerializer(lambda value: None if value is None else str(value))

Seconds = Annotated[float, BeforeValidator(values.seconds), _DurationText]
WholeSeconds = Annotated[int, BeforeValidator(values.whole_seconds), _DurationText]
Retries = Annotated[int, Field(ge=0, le=1000)]
PathOrNone = Annotated[Path | None, BeforeValidator(_optional_path), _Optional]
User = Annotated[str, AfterValidator(values.user_name)]
Users = Annotated[tuple[User, ...], BeforeValidator(as_tuple)]
Host = Annotated[str, AfterValidator(values.host_name)]
JumpHost = Annotated[values.JumpHost, BeforeValidator(values.jump_host), _Text]
SomeWords = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
Word = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[A-Za-z0-9_.,:@/+-]+$")]
Chunk = Annotated[str, AfterValidator(values.chunk)]
PerSecond = Annotated[float, BeforeValidator(values.per_second)]


class AgingConfig(Section):
    """When a waiting job is no longer overtaken; null: never by this measure."""

    overtaken: Count | None = 20
    """how many younger jobs may overtake it"""
    wait: WholeSeconds | None = 86400
    """how long it may have waited"""


class RetryLimits(Section):
    """How often a job goes back to its queue's tail before it is given up."""

    submission: Retries = 3
    """after a failure before its script has started"""
    completion: Retries = 0
    """after its script has failed"""


class Timeouts(Section):
    """How long the broker waits for a cluster before it takes an answer as not given."""

    command: Seconds = 30.0
    """one command of a cluster's client tools"""
    reserve: Seconds = 30.0
    """all reservations of a job"""
    submit: Seconds = 60.0
    """all component jobs submitted"""
    barrier: Seconds = 120.0
    """all components at the barrier, from the first one's arrival"""
    stage: Seconds = 3600.0
    """a job's files sent to its clusters, and again its results brought back"""


class ResourceLimitConfig(Section):
    """How much may be had at a time; null: no limit."""

    waiting: Count | None = None
    """jobs that wait or are held; more are refused"""
    processors: Count | None = None
    """processors in use; jobs beyond wait"""
    coallocated: Count | None = None
    """co-allocated jobs under way; more of them wait"""


class RequestLimits(SizeLimits):
    """What may be asked for, and had at a time; null: no limit."""

    script: Annotated[int, Field(ge=1, le=LARGEST_SCRIPT)] = LARGEST_SCRIPT
    """bytes of a script"""
    per_user: Annotated[ResourceLimitConfig, BeforeValidator(empty)] = ResourceLimitConfig()
    """what one user may have at a time"""
    per_queue: Annotated[ResourceLimitConfig, BeforeValidator(empty)] = ResourceLimitConfig()
    """what the jobs of one queue may have at a time"""


class ListenConfig(Section):
    """The API over TLS, for login nodes elsewhere, by tokens."""

    address: Annotated[values.Address, BeforeValidator(values.some_address), _Text]
    """HOST:PORT to listen at"""
    certificate: Annotated[Path, BeforeValidator(_path), _Text]
    """file of the certificate and its chain, in PEM"""
    key: Annotated[Path, BeforeValidator(_path), _Text]
    """file of its private key, in PEM, without a passphrase, that no others may read"""


class RatesConfig(Section):
    """How often one user may ask; null: no limit. Root on the daemon's host has none."""

    requests: PerSecond | None = 100.0
    """requests of any kind in a second"""
    submissions: PerSecond | None = 20.0
    """submissions in a second"""
    burst: Annotated[int, Field(ge=1, le=3600)] = 30
    """seconds' worth of them that may come at once after a pause"""


class _Cluster(Section):
    """What any kind of cluster has."""

    system: str
    """its resource manager"""
    processors: Count | None = None
    """how many processors its twin has under `serve --offline` before the cluster was ever seen"""
    nodes: Count | None = None
    """how many equal nodes these processors are in; null: one"""
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
    whole_nodes: Count | None = None
    """for a cluster that gives jobs whole nodes: processors of a node (of the largest one); what a
    component asks for is rounded up to them; null: processors are given one by one"""
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


Cluster = Annotated[SlurmConfig | OpenPBSConfig | SimulatedConfig, Discriminator("system")]


def runs_as_store_owner(cluster: RealCluster | SimulatedConfig) -> bool:
    """Whether its jobs run as the daemon's own account, on the daemon's host as far as is known."""
    if isinstance(cluster, SimulatedConfig):
        return cluster.run
    return cluster.run_as == "self" and cluster.via == "local"


def _default_store() -> str:
    return f"sqlite:///{paths.state_directory()}/metabroker.db"


def _default_discipline(data: dict[str, Any]) -> Discipline:
    return "FPFS" if data.get("policy") == "FPFS" else "FCFS"


def _default_time(data: dict[str, Any]) -> int:
    return min(3600, data.get("max_time") or 3600)


class Config(Section):
    """The whole configuration. `clusters` is the only key without a default."""

    store: Annotated[str, BeforeValidator(_store)] = Field(default_factory=_default_store)
    """database of the jobs, as an SQLAlchemy URL"""
    socket: Annotated[Path, BeforeValidator(_socket), _Text] = Field(
        default_factory=paths.default_socket
    )
    """Unix socket that commands reach the daemon by"""
    listen: ListenConfig | None = None
    """HTTPS address, besides the socket, for commands on other hosts; null: none"""
    audit: PathOrNone = None
    """file of who asked for what; null: audit.log beside the store"""
    audit_size: Annotated[int, Field(ge=16, le=10**6)] = 1024
    """megabytes of the audit log and its 15 former files together; of more the oldest goes"""
    metrics: Annotated[values.Address | None, BeforeValidator(values.address), _Optional] = (
        values.Address("127.0.0.1", 9798)
    )
    """HTTP address of /metrics and of the page; null: none"""
    page: Literal["totals", "jobs"] | None = "totals"
    """what the page at / of that address shows to whoever reaches it; totals: no more than /metrics
    tells; jobs: what any user of the socket may read, names and users too; null: no page"""
    policy: Policy = "LP-GF"
    """which job may start next, and which queue it waits in"""
    discipline: Discipline = Field(default_factory=_default_discipline)
    """order within one queue: first come first served, or first that fits"""
    placement: Placement | None = None
    """how clusters are chosen; null: the policy's own default (worst-fit-reuse for FCFS and FPFS,
    else worst-fit)"""
    limits: Annotated[RequestLimits, BeforeValidator(empty)] = RequestLimits()
    """the largest request that is taken, and what one user or queue may have at a time"""
    rates: Annotated[RatesConfig, BeforeValidator(empty)] = RatesConfig()
    """how often one user may ask"""
    aging: AgingConfig = AgingConfig()
    """when a waiting job is no longer overtaken"""
    retries: Annotated[RetryLimits, BeforeValidator(empty)] = RetryLimits()
    """how often a job that failed is tried again"""
    poll_interval: Seconds = 5.0
    """time between two looks at a cluster"""
    lease: Annotated[Seconds, AfterValidator(_lease)] = 10.0
    """where several brokers share the store: how long one of them leads at a time without asking
    for more, and how long another waits at most before it takes over; needs postgresql"""
    max_time: WholeSeconds | None = None
    """longest time limit that is taken; null: no limit"""
    default_time: WholeSeconds = Field(default_factory=_default_time)
    """time limit of a job that names none; an hour, or `max_time` if that is less"""
    timeouts: Annotated[Timeouts, BeforeValidator(empty)] = Timeouts()
    """how long the broker waits for a cluster"""
    allow_root: bool = False
    """whether the daemon may run as root; with `run_as: root-uid` it may anyway"""
    admins: Users = ()
    """users who may change any job"""
    submitters: Users = ()
    """users who may submit, besides the daemon's own account, while jobs run as `self`"""
    submitters_share_everything: bool = False
    """needed for `submitters` where such jobs run on the daemon's own host, as its account: each of
    these users can then read all that it can (the store, keys, others' scripts), and act as any"""
    homes: Annotated[Mapping[User, ClusterName], BeforeValidator(empty)] = {}
    """home cluster of a user, whose local queue the user's jobs wait in under LS and LP policies"""
    seed: int = 0
    """seed of the policies that choose at random"""
    clusters: Annotated[Mapping[ClusterName, Cluster], Field(min_length=1)]
    """the clusters, by name"""

    @property
    def placement_in_force(self) -> Placement:
        """The placement: the one given, else the policy's own default."""
        if self.placement is not None:
            return self.placement
        return "worst-fit-reuse" if self.policy in ("FCFS", "FPFS") else "worst-fit"

    @property
    def shared_with_submitters(self) -> tuple[str, ...]:
        """The clusters in which a job of any submitter has all that the daemon's account has."""
        return tuple(
            name
            for name, cluster in self.clusters.items()
            if self.submitters and runs_as_store_owner(cluster)
        )

    def state_file(self, name: str) -> Path:
        """The file that keeps the state of simulated cluster `name` over a restart."""
        cluster = self.clusters[name]
        if isinstance(cluster, SimulatedConfig) and cluster.state is not None:
            return cluster.state
        return self._beside_store(f"{name}.simulated")

    @property
    def audit_file(self) -> Path:
        """The audit log's file."""
        return self.audit or self._beside_store("audit.log")

    def _beside_store(self, name: str) -> Path:
        if self.store.startswith("sqlite:///"):
            return Path(self.store.removeprefix("sqlite:///")).parent / name
        return paths.state_directory() / name
