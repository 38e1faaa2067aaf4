"""Partitions as Slurm's commands speak of them: the names that jobs can give, and what is behind
each in all the clusters that it may mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metabroker.api.client import Client
from metabroker.frontends.main import FrontEndError
from metabroker.frontends.printing import duration

Json = dict[str, Any]


@dataclass(frozen=True)
class Partition:
    """One, over several clusters. `idle`: processors that jobs can be given, `memory`: MB; None:
    not known. `other`: processors that are down, drained or not known of. `usual` and `longest`:
    seconds, of jobs that name no time limit, and of all (None: no limit)."""

    name: str
    default: bool
    processors: int
    idle: int | None
    other: int
    drained: bool
    nodes: int
    memory: int | None
    gpus: int
    usual: int
    longest: int | None

    @property
    def state(self) -> str:
        """Of its nodes taken together."""
        if self.drained:
            return "drain" if self.other == self.processors else "drng"
        if self.idle is None:
            return "unk"
        if self.other == self.processors:
            return "down"
        if self.idle and self.idle == self.processors - self.other:
            return "idle"
        return "mix" if self.idle else "alloc"


def partitions(way: Client, among: str | None = None) -> list[Partition]:
    """What jobs can name; first that of jobs that name none. `among`: of these clusters alone.

    Raises:
        FrontEndError: there is no such cluster.
        ClientError: the daemon does not tell.
    """
    clusters = {cluster["name"]: cluster for cluster in way.get("clusters")["clusters"]}
    names = way.get("names")
    chosen = list(clusters) if among in (None, "all") else (among or "").split(",")
    for name in chosen:
        if name not in clusters:
            told = f"there is no cluster {ascii(name)[1:-1]:.60}"
            raise FrontEndError(told, f"choose some of: {','.join(clusters)}")
    return [
        _over([clusters[c] for c in chosen if c in each["clusters"]], each["name"], not n, names)
        for n, each in enumerate(names["partitions"])
        if not set(chosen).isdisjoint(each["clusters"])
    ]


def _over(clusters: list[Json], name: str, default: bool, names: Json) -> Partition:
    open_to_jobs = [cluster for cluster in clusters if cluster["drained"] is None]
    idle = [cluster["idle"] for cluster in open_to_jobs if cluster["idle"] is not None]
    kinds = [kind for cluster in clusters for kind in cluster["nodes"]]
    return Partition(
        name,
        default,
        processors=sum(cluster["processors"] for cluster in clusters),
        idle=sum(idle) if idle else None,
        other=sum(map(_other, clusters)),
        drained=not open_to_jobs,
        nodes=sum(kind["count"] for kind in kinds),
        memory=_total(kinds, "memory"),
        gpus=_total(kinds, "gpus") or 0,
        usual=names["default_time"],
        longest=names["max_time"],
    )


def _other(cluster: Json) -> int:
    """Processors of a cluster that no job holds, and none is given."""
    if cluster["idle"] is None:
        return int(cluster["processors"])
    idle = 0 if cluster["drained"] is None else cluster["idle"]
    return int(idle + (cluster["down"] or 0))


def _total(kinds: Iterable[Mapping[str, Any]], what: str) -> int | None:
    """Over all nodes; None: not known of all."""
    found = [None if kind[what] is None else kind["count"] * kind[what] for kind in kinds]
    known = [each for each in found if each is not None]
    return sum(known) if known and len(known) == len(found) else None


def lines_of(partition: Partition) -> list[str]:
    """As `scontrol show partition` prints it. Its nodes are those of several clusters, where they
    may be called the same: they have no names here."""
    longest = "UNLIMITED" if partition.longest is None else duration(partition.longest)
    lines = [
        f"PartitionName={partition.name}",
        "AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL",
        f"AllocNodes=ALL Default={'YES' if partition.default else 'NO'} QoS=N/A",
        f"DefaultTime={duration(partition.usual)} DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 "
        "Hidden=NO",
        f"MaxNodes=UNLIMITED MaxTime={longest} MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED",
        "Nodes=(null)",
        "PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO",
        "OverTimeLimit=NONE PreemptMode=OFF",
        f"State=UP TotalCPUs={partition.processors} TotalNodes={partition.nodes} "
        "SelectTypeParameters=NONE",
        "JobDefaults=(null)",
        "DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED",
        f"TRES={_resources(partition)}",
    ]
    return [lines[0], *(f"   {line}" for line in lines[1:])]


def _resources(partition: Partition) -> str:
    """What jobs can be given of it, as Slurm counts."""
    found = [f"cpu={partition.processors}"]
    if partition.memory is not None:
        found.append(f"mem={_megabytes(partition.memory)}")
    found += [f"node={partition.nodes}", f"billing={partition.processors}"]
    return ",".join([*found, f"gres/gpu={partition.gpus}"] if partition.gpus else found)


def _megabytes(number: int) -> str:
    """In the largest unit in which it is whole."""
    units = "MGTP"
    while number > 1024 and number % 1024 == 0 and len(units) > 1:
        number, units = number // 1024, units[1:]
    return f"{number}{units[0]}"
