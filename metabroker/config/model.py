"""The configuration (contract C6) as frozen models: every key, its type, default and meaning.

`metabroker.config.loader` makes one from a file, with errors that name file, line and key. Times
are in seconds, sizes in processors.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from metabroker import paths
from metabroker.config import values
from metabroker.config.clusters import Cluster, SimulatedConfig, runs_as_store_owner
from metabroker.config.errors import ConfigRefusal
from metabroker.config.fields import (
    AsDuration,
    AsOptionalText,
    AsText,
    Discipline,
    PathOrNone,
    PerSecond,
    Placement,
    Policy,
    Retries,
    Seconds,
    SomeWords,
    Speed,
    User,
    Users,
    WholeSeconds,
    path_of,
)
from metabroker.config.names import droppable
from metabroker.config.section import ClusterName, Count, Section, SizeLimits, empty, folder
from metabroker.submission.checks import LARGEST_SCRIPT


def _socket(value: object, info: ValidationInfo) -> Path:
    return values.socket_path(value, folder(info))


_SHORTEST_LEASE = 2.0  # seconds: a busy database answers in less than half of it


def _lease(seconds: float) -> float:
    if seconds < _SHORTEST_LEASE:
        raise ConfigRefusal(f"{seconds:g} seconds are too few", "write 2s or more; 10s is usual")
    return seconds


def _store(value: object, info: ValidationInfo) -> str:
    return values.store_url(value, folder(info))


class LineConfig(Section):
    """Jobs that stand in line in clusters' own queues, where others want those clusters, too."""

    depth: Annotated[int, Field(ge=0, le=10_000)] = 32
    """jobs of a queue that stand in line at once; 0: none ever does"""
    siblings: Count = 2
    """clusters in which one job stands in line at once"""
    patience: WholeSeconds = 60
    """how long it waits where it has come up, should the broker be away"""


class PlanConfig(Section):
    """Co-allocated jobs that get a time, where others want their clusters, too."""

    ahead: Annotated[int, BeforeValidator(values.whole_seconds_or_0), AsDuration] = 86400
    """how far ahead a job may be planned; 0: none is"""
    share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """of a cluster's processors, how much plans may hold at a time; one alone may hold more"""
    jobs: Count = 20
    """jobs of a queue that have a time at once"""


class TransferConfig(Section):
    """How fast files come to a cluster, in megabytes (10^6 bytes) a second: what a placement close
    to files goes by."""

    bandwidth: Speed = 100.0
    """between two clusters where `metabroker doctor --links` has not measured it"""
    staging: Annotated[Mapping[ClusterName, Speed], BeforeValidator(empty)] = {}
    """from the daemon's host into a cluster (`--stage-in`), by its name; others: `bandwidth`"""


class AgingConfig(Section):
    """When a waiting job is no longer overtaken; null: never by this measure."""

    overtaken: Count | None = 20
    """how many younger jobs may overtake it"""
    wait: WholeSeconds | None = 86400
    """how long it may have waited"""


class RetryLimits(Section):
    """After how many failures a job is given up; until then it goes back to its queue's tail."""

    submission: Retries = 3
    """failed submissions (before its script has started), with the last of which it is given up; 0
    and 1: with the first one"""
    completion: Retries = 0
    """how often it runs again after its script has failed"""


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
    """processors held, of whole nodes all; jobs beyond wait, or are refused if none could start"""
    coallocated: Count | None = None
    """co-allocated jobs under way; more of them wait"""


class UserLimitConfig(ResourceLimitConfig):
    """How much one user may have at a time; null: no limit."""

    dependencies: Count | None = 100_000
    """starts and ends of other jobs that the waiting jobs wait for in all; a job beyond is
    refused"""


class RequestLimits(SizeLimits):
    """What may be asked for, and had at a time; null: no limit."""

    script: Annotated[int, Field(ge=1, le=LARGEST_SCRIPT)] = LARGEST_SCRIPT
    """bytes of a script"""
    per_user: Annotated[UserLimitConfig, BeforeValidator(empty)] = UserLimitConfig()
    """what one user may have at a time"""
    per_queue: Annotated[ResourceLimitConfig, BeforeValidator(empty)] = ResourceLimitConfig()
    """what the jobs of one queue may have at a time"""


_SHORTEST_KEEP = 86400  # seconds


def _keep(seconds: int | None) -> int | None:
    if seconds is not None and seconds < _SHORTEST_KEEP:
        raise ConfigRefusal("a job must be kept for a day at least", "write 1d or more")
    return seconds


class HistoryConfig(Section):
    """For how long ended jobs are kept in the store; then they are archived and removed. null: as
    long as the job, and the job for ever."""

    keep: Annotated[WholeSeconds | None, AfterValidator(_keep)] = 400 * 86400
    """a job, from its end on; at least 1d"""
    events: WholeSeconds | None = 90 * 86400
    """its events, which `show` lists"""
    scripts: WholeSeconds | None = 30 * 86400
    """its script, environment and lists of files"""
    archive: PathOrNone = None
    """folder of the archive; null: `archive` beside the store"""


class ListenConfig(Section):
    """The API over TLS, for login nodes elsewhere, by tokens."""

    address: Annotated[values.Address, BeforeValidator(values.some_address), AsText]
    """HOST:PORT to listen at"""
    certificate: Annotated[Path, BeforeValidator(path_of), AsText]
    """file of the certificate and its chain, in PEM"""
    key: Annotated[Path, BeforeValidator(path_of), AsText]
    """file of its private key, in PEM, without a passphrase, that no others may read"""


class RatesConfig(Section):
    """How often one user may ask; null: no limit. Root on the daemon's host has none."""

    requests: PerSecond | None = 100.0
    """requests of any kind in a second"""
    submissions: PerSecond | None = 20.0
    """submissions in a second"""
    burst: Annotated[int, Field(ge=1, le=3600)] = 30
    """seconds' worth of them that may come at once after a pause"""


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
    socket: Annotated[Path, BeforeValidator(_socket), AsText] = Field(
        default_factory=paths.default_socket
    )
    """Unix socket that commands reach the daemon by"""
    listen: ListenConfig | None = None
    """HTTPS address, besides the socket, for commands on other hosts; null: none"""
    audit: PathOrNone = None
    """file of who asked for what; null: audit.log beside the store"""
    audit_size: Annotated[int, Field(ge=16, le=10**6)] = 1024
    """megabytes of the audit log and its 15 former files together; of more the oldest goes"""
    metrics: Annotated[values.Address | None, BeforeValidator(values.address), AsOptionalText] = (
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
    best-fit for JOB-SHARING, fewest-clusters for MULTI-SITE, else worst-fit)"""
    overhead: Annotated[float, Field(ge=0, le=10)] = 0.0
    """MULTI-SITE: a job that it has split may run (1 + overhead) times as long as its limit says"""
    transfer: Annotated[TransferConfig, BeforeValidator(empty)] = TransferConfig()
    """how fast files come to a cluster, where the placement is close to them"""
    limits: Annotated[RequestLimits, BeforeValidator(empty)] = RequestLimits()
    """the largest request that is taken, and what one user or queue may have at a time"""
    rates: Annotated[RatesConfig, BeforeValidator(empty)] = RatesConfig()
    """how often one user may ask"""
    aging: Annotated[AgingConfig, BeforeValidator(empty)] = AgingConfig()
    """when a waiting job is no longer overtaken"""
    line: Annotated[LineConfig, BeforeValidator(empty)] = LineConfig()
    """standing in line in the own queues of clusters that others want, too"""
    plan: Annotated[PlanConfig, BeforeValidator(empty)] = PlanConfig()
    """a time for co-allocated jobs, held by reservations in clusters that others want, too"""
    retries: Annotated[RetryLimits, BeforeValidator(empty)] = RetryLimits()
    """how often a job that failed is tried again"""
    history: Annotated[HistoryConfig, BeforeValidator(empty)] = HistoryConfig()
    """for how long ended jobs are kept"""
    poll_interval: Seconds = 5.0
    """time between two polls of a cluster"""
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
    drop_options: Annotated[SomeWords, AfterValidator(droppable)] = ()
    """options of `#SBATCH` and `#PBS` lines, and of commands by their names, that are left out of
    users' jobs everywhere: [wckey, mail-type]"""
    seed: int = 0
    """seed of the policies that choose at random"""
    clusters: Annotated[Mapping[ClusterName, Cluster], Field(min_length=1)]
    """the clusters, by name"""

    @property
    def placement_in_force(self) -> str:
        """The placement: the one given, else the policy's own default."""
        if self.placement is not None:
            return self.placement
        if self.policy in ("JOB-SHARING", "MULTI-SITE"):
            return "best-fit" if self.policy == "JOB-SHARING" else "fewest-clusters"
        return "worst-fit-reuse" if self.policy in ("FCFS", "FPFS") else "worst-fit"

    @property
    def close_to_files(self) -> bool:
        """Whether the placement goes by where files lie."""
        return self.placement_in_force.startswith("close-to-files")

    @property
    def shared_with_submitters(self) -> tuple[str, ...]:
        """The clusters in which a job of any submitter has all that the daemon's account has."""
        return tuple(
            name
            for name, cluster in self.clusters.items()
            if self.submitters and runs_as_store_owner(cluster)
        )

    @property
    def closed_to_submitters(self) -> tuple[str, ...]:
        """Clusters whose missing `shared_dir` keeps all submitters from submitting: components of
        jobs of the daemon's account meet in the job's own folder there, which is another user's."""
        return tuple(
            name
            for name, cluster in self.clusters.items()
            if self.submitters and cluster.run_as == "self" and cluster.shared_dir is None
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

    @property
    def archive_folder(self) -> Path:
        """Where removed jobs are archived."""
        return self.history.archive or self._beside_store("archive")

    def _beside_store(self, name: str) -> Path:
        if self.store.startswith("sqlite:///"):
            return Path(self.store.removeprefix("sqlite:///")).parent / name
        return paths.state_directory() / name
