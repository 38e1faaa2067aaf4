"""The scenario of a simulation (contract C5) as frozen models: every key, its type and meaning.

Sizes are in processors, percentages and weights are plain numbers, and times are in the unit of
the workload: that of `service.mean` for drawn jobs, seconds for logs and measured run times.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, ValidationInfo

from metabroker.config import values
from metabroker.config.errors import ConfigRefusal
from metabroker.config.fields import AsText, Discipline, PathOrNone, path_of
from metabroker.config.fields import Policy as DaemonPolicy
from metabroker.config.section import ClusterName, Count, Section, SizeLimits, as_tuple, empty

Policy = Literal[
    DaemonPolicy,
    "EASY", "CONSERVATIVE", "AFCFS", "AFCFS-BS", "LG-SS", "LG-SS-BS", "JOB-SHARING", "MULTI-SITE",
]  # fmt: skip
Placement = Literal[
    "worst-fit", "worst-fit-reuse", "close-to-files", "close-to-files-reuse", "best-fit",
    "fewest-clusters",
]  # fmt: skip

TABLES = ("ensflow", "poisson", "mix")
"""The tables of run times that are there by name; all are stand-ins (see `workloads.runtimes`)."""


def _table(value: object, info: ValidationInfo) -> object:
    return value if value in TABLES else str(path_of(value, info))


def warm_up(value: object) -> object:
    """`auto`, `none`, or the fraction of the jobs that is cut. Raises ConfigRefusal."""
    if value in ("auto", "none"):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1:
        return float(value)
    message = f"must be auto, none, or a fraction below 1, not {values.shown(value)}"
    raise ConfigRefusal(message, "write auto, none, or for example 0.1")


def _optional_warm_up(value: object) -> object:
    return None if value is None else warm_up(value)


File = Annotated[Path, BeforeValidator(path_of), AsText]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Weights = Annotated[tuple[NotNegative, ...], BeforeValidator(as_tuple)]
Sizes = Annotated[tuple[Count, ...], BeforeValidator(as_tuple)]
WarmUp = Annotated[str | float | None, BeforeValidator(_optional_warm_up)]
Names = Annotated[tuple[ClusterName, ...], BeforeValidator(as_tuple)]


class ComponentSizes(Section):
    """D(q) on [min, max] (BE03 2.4): powers of two are three times as likely."""

    q: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] = 0.9
    """each size is q times as likely as the one below it"""
    min: Annotated[int, Field(ge=1, le=100_000)] = 1
    """the smallest component"""
    max: Annotated[int, Field(ge=1, le=100_000)] = 8
    """the largest component"""


class ServiceTime(Section):
    """The law of service times."""

    distribution: Literal["exponential", "lognormal", "hyperexponential", "constant"] = (
        "exponential"
    )
    """lognormal and hyperexponential take `cv`, lognormal also `cut`"""
    mean: Positive = 1.0
    """the mean; of a lognormal with `cut`: of the law before it is cut"""
    cv: Positive | None = None
    """the coefficient of variation"""
    cut: Positive | None = None
    """longer times do not occur; null: any may"""


class SyntheticWorkload(Section):
    """Poisson arrivals, drawn sizes and service times (BE03, BE07)."""

    utilization: Positive | None = None
    """gross, offered; this or `arrival_rate`"""
    arrival_rate: Positive | None = None
    """jobs per unit of time"""
    composition: Weights | None = None
    """percent of jobs with 1, 2, ... components; null: 25 each for up to four clusters"""
    component_sizes: Annotated[ComponentSizes, BeforeValidator(empty)] | None = None
    """the size of each component; null: D(0.9) on [1, 8], unless there are `total_sizes`"""
    total_sizes: PathOrNone = None
    """table of total sizes (columns size, prob), split by `limits` into as few as possible"""
    service: Annotated[ServiceTime, BeforeValidator(empty)] = ServiceTime()
    """how long jobs run"""
    local_shares: Weights | None = None
    """weights of the local queues, one per cluster; null: equal"""
    extension_factor: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 1.0
    """jobs of several components run this many times as long"""


class JobMixWorkload(Section):
    """Sequential jobs and gangs (KH), on one cluster."""

    nmax: Annotated[int, Field(ge=0, le=10**9)] = 8
    """jobs of up to so many tasks are sequential"""
    mean_interarrival: Positive = 0.280
    """the mean time between two arrivals"""
    mean_service: Positive = 1.0
    """the mean time of one task"""


class SwfWorkload(Section):
    """A log in the Standard Workload Format, plain or gzip, replayed."""

    file: File
    """the log"""
    first: Count | None = None
    """the first job that is replayed, counted from 1; null: 1"""
    last: Count | None = None
    """the last one; null: the log's last"""
    max_size: Count | None = None
    """wider jobs are replaced by parts of at most this many processors; null: none is"""
    sites: Literal["round-robin", "partition", "first"] = "round-robin"
    """which cluster's local queue a job joins: in turn, by the log's partition, or the first's"""
    components: Literal["keep", "merge"] = "keep"
    """keep: co-allocated jobs have the components that the log tells; merge: each is one"""
    strict: bool = False
    """a line that is not right is an error; else it is left out and reported"""


class Kind(Section):
    """One kind of the jobs of a batch."""

    components: Sizes
    """the sizes of its components"""
    on: Names | None = None
    """an ordered request: the cluster of each component; null: unordered"""
    time: NotNegative
    """how long it runs"""


class BatchWorkload(Section):
    """Jobs that are all submitted at the same moment (DCS 4)."""

    kinds: Annotated[tuple[Kind, ...], BeforeValidator(as_tuple)]
    """the kinds of jobs, which take turns"""
    count: Count = 40
    """the number of jobs"""


class RuntimesWorkload(Section):
    """Poisson arrivals of jobs whose run times come from a table (BE07 5)."""

    table: Annotated[str, BeforeValidator(_table)]
    """ensflow, poisson or mix (stand-ins of ours: the paper's table is lost), or a CSV file with
    the columns application, total, components, run_time"""
    utilization: Positive | None = None
    """gross, offered; this or `arrival_rate`"""
    arrival_rate: Positive | None = None
    """jobs per second"""
    local_shares: Weights | None = None
    """weights of the local queues, one per cluster; null: equal"""


class Workload(Section):
    """What jobs there are: exactly one of these."""

    synthetic: Annotated[SyntheticWorkload | None, BeforeValidator(empty)] = None
    """drawn jobs"""
    job_mix: Annotated[JobMixWorkload | None, BeforeValidator(empty)] = None
    """sequential jobs and gangs"""
    swf: Annotated[SwfWorkload | None, BeforeValidator(empty)] = None
    """a log"""
    batch: Annotated[BatchWorkload | None, BeforeValidator(empty)] = None
    """all at once"""
    runtimes: Annotated[RuntimesWorkload | None, BeforeValidator(empty)] = None
    """measured run times"""


class LocalWorkload(Section):
    """What jobs local users submit: exactly one of these. Each job has one component."""

    synthetic: Annotated[SyntheticWorkload | None, BeforeValidator(empty)] = None
    """drawn jobs; `utilization` is that of this cluster"""
    swf: Annotated[SwfWorkload | None, BeforeValidator(empty)] = None
    """a log"""


class Local(Section):
    """The users of a cluster who do not come through the broker, and its own scheduler."""

    workload: LocalWorkload
    """what jobs they submit, until the broker's last job is submitted"""
    scheduler: Literal["FCFS", "EASY"] = "EASY"
    """in which order the cluster starts jobs"""


class InputFiles(Section):
    """A file that jobs of the broker read. It lies in clusters that are drawn for each job. It
    comes to the others while the job holds its processors, before it starts."""

    share: Annotated[float, Field(ge=0, le=1)] = 1.0
    """the part of the jobs that have one"""
    size: Annotated[ServiceTime, BeforeValidator(empty)] = ServiceTime()
    """megabytes; a law as that of service times"""
    homes: Weights | None = None
    """weights of the clusters in which it may lie; null: equal"""
    copies: Count = 1
    """in how many clusters it lies"""
    bandwidth: Positive = 100.0
    """megabytes in a unit of time, from one cluster to another"""
    links: Annotated[
        Mapping[ClusterName, Annotated[Mapping[ClusterName, Positive], BeforeValidator(empty)]],
        BeforeValidator(empty),
    ] = {}
    """the same between two clusters, where it is another: {c1: {c2: 500}}"""


class Latency(Section):
    """Jobs of several components go only into clusters that are near to each other, as with
    `submit --max-latency`."""

    most: Positive
    """milliseconds between any two of a job's clusters"""
    links: Annotated[
        Mapping[ClusterName, Annotated[Mapping[ClusterName, NotNegative], BeforeValidator(empty)]],
        BeforeValidator(empty),
    ] = {}
    """milliseconds between two clusters: {c1: {c2: 0.5}}; what is not known is not near"""


class SharedCluster(Section):
    """A cluster that may have users of its own."""

    processors: Count
    """processors of the cluster"""
    local: Local | None = None
    """its local users; null: there are none"""


FORMS = ("[processors]", "[shared]")
"""The two forms of a cluster, as they stand in pydantic's places of errors."""


def _form(value: object) -> str:
    return FORMS[isinstance(value, dict | SharedCluster)]


Cluster = Annotated[
    Annotated[SharedCluster, Tag(FORMS[1])] | Annotated[Count, Tag(FORMS[0])],
    Discriminator(_form),
]


class Readings(Section):
    """Where the papers leave a choice open: ours is the default (see `policy.Options`)."""

    ls_do: Literal["all", "departures"] = "all"
    """LS-DO: which disablings count for the order"""
    gp: Literal["same-pass", "next-departure"] = "same-pass"
    """GP: when local queues are enabled after the global one became empty"""
    lq: Literal["start", "departure", "arrival"] = "start"
    """LQ: when the rule is evaluated"""
    ties: Literal["lowest", "random"] = "lowest"
    """Worst Fit: which of two equally idle clusters is taken"""


class Precision(Section):
    """When there have been enough replications."""

    relative: Annotated[float, Field(gt=0, lt=1)]
    """the interval's half-width, as a part of the mean response time, that is small enough"""
    most: Annotated[int, Field(ge=2, le=100_000)] = 100
    """no more replications than this"""


class Line(Section):
    """Standing in line in contested clusters: those in whose own queues others wait."""

    depth: Annotated[int, Field(ge=0, le=10**9)] = 8
    """up to so many jobs of each of the broker's queues; 0: none"""
    siblings: Count = 2
    """in the queues of up to so many clusters at once; the first that starts wins"""


class Ahead(Section):
    """Planning co-allocated jobs that wait for contested clusters. The workload's times must be in
    seconds."""

    ahead: Positive = 86400.0
    """for a start at most so many seconds from now"""
    share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """plans that have not begun hold no more of a cluster at a time, unless one alone does"""
    jobs: Annotated[int, Field(ge=1, le=1000)] = 20
    """up to so many jobs of each of the broker's queues at once"""
    again: Positive = 15.0
    """seconds between two looks at who waits, and at who could start earlier"""


class Scenario(Section):
    """The whole scenario. Only `clusters` and `workload` have no default."""

    clusters: Annotated[Mapping[ClusterName, Cluster], Field(min_length=1)]
    """processors of each cluster, by name, or {processors: ..., local: ...}; may be left out where
    a log tells them"""
    policy: Policy = "LP-GF"
    """which job may start next, and which queue it waits in"""
    discipline: Discipline | None = None
    """order within one queue; null: FCFS (the policy FPFS: FPFS); EASY and all after it: none"""
    placement: Placement | None = None
    """how clusters are chosen; null: as in the policy's paper"""
    workload: Workload
    """what jobs there are"""
    limits: Annotated[SizeLimits, BeforeValidator(empty)] = SizeLimits()
    """the largest request; a larger one is split (`total_sizes`), left out (`runtimes`) or wrong"""
    inputs: InputFiles | None = None
    """files that jobs read; null: none"""
    latency: Latency | None = None
    """how near to each other a job's clusters are; null: that does not matter"""
    line: Line | None = None
    """how jobs of one component stand in line in clusters with local users; null: they do not"""
    plan: Ahead | None = None
    """how co-allocated jobs get a time in clusters with local users; null: they do not"""
    overhead: NotNegative = 0.0
    """a job that MULTI-SITE splits runs (1 + overhead) times as long"""
    options: Annotated[Readings, BeforeValidator(empty)] = Readings()
    """readings of the papers"""
    event_order: Literal["batch", "pyss"] = "batch"
    """order of events at one instant"""
    jobs: Count | None = None
    """jobs per replication; null: 100000, or all of a log or batch"""
    warmup: WarmUp = None
    """what is cut from the beginning: auto (MSER-5), none, or a fraction; null: auto, or none for
    a log or batch"""
    replications: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """independent runs; null: 10. Where nothing is drawn there is one"""
    precision: Precision | None = None
    """go on, in rounds of `replications`, until the interval is small enough; null: one round"""
    seed: Annotated[int, Field(ge=0, le=2**63)] = 1
    """of all that is drawn"""

    @property
    def processors(self) -> dict[str, int]:
        """The processors of each cluster, by name."""
        return {
            name: of.processors if isinstance(of, SharedCluster) else of
            for name, of in self.clusters.items()
        }

    @property
    def local(self) -> dict[str, Local]:
        """The local users of the clusters that have some, by name."""
        found = {}
        for name, of in self.clusters.items():
            if isinstance(of, SharedCluster) and of.local is not None:
                found[name] = of.local
        return found
