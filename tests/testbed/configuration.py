"""slurm.conf for clusters of many claimed processors on one small machine."""

from __future__ import annotations

import os
import pwd
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.testbed.packages import Installation


@dataclass(frozen=True)
class ClusterSpec:
    """A cluster to start: `nodes` of `cores` each (or of `uneven` ones); `extra` is
    added to slurm.conf, `partition` to its partition's line, `node` to each node's. A core has so
    many `threads` (or those of `mixed`, node by node); each is a processor if they are `counted`,
    as where `CPUs` in slurm.conf is not the number of cores."""

    name: str
    nodes: int
    cores: int
    extra: Mapping[str, str] = field(default_factory=dict)
    uneven: tuple[int, ...] = ()
    partition: str = ""
    threads: int = 1
    counted: bool = False
    mixed: tuple[int, ...] = ()
    node: str = ""

    @property
    def node_cores(self) -> tuple[int, ...]:
        return tuple(self.uneven) or (self.cores,) * self.nodes

    @property
    def node_threads(self) -> tuple[int, ...]:
        return self.mixed or (self.threads,) * len(self.node_cores)

    @property
    def node_processors(self) -> list[int]:
        each = zip(self.node_cores, self.node_threads, strict=True)
        return [cores * (threads if self.counted else 1) for cores, threads in each]

    @property
    def processors(self) -> int:
        return sum(self.node_processors)

    @property
    def node_names(self) -> list[str]:
        return [f"{self.name}{number}" for number in range(1, self.nodes + 1)]


def settings(
    spec: ClusterSpec,
    installation: Installation,
    folder: Path,
    munge_socket: Path,
    controller_port: int,
) -> dict[str, str]:
    """The global settings; those of speed serve tests, where a launch shall take no seconds."""
    user = pwd.getpwuid(os.geteuid()).pw_name
    return {
        "ClusterName": spec.name,
        "SlurmctldHost": f"{socket.gethostname()}(127.0.0.1)",
        "SlurmctldPort": str(controller_port),
        "SlurmUser": user,
        "SlurmdUser": user,
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={munge_socket}",
        "PluginDir": str(installation.plugins),
        "StateSaveLocation": str(folder / "state"),
        "SlurmdSpoolDir": str(folder / "spool" / "%n"),
        "SlurmctldPidFile": str(folder / "run" / "slurmctld.pid"),
        "SlurmdPidFile": str(folder / "run" / "%n.pid"),
        "SlurmctldLogFile": str(folder / "log" / "slurmctld.log"),
        "SlurmdLogFile": str(folder / "log" / "%n.log"),
        "SlurmctldDebug": "info",
        "SlurmdDebug": "info",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "MpiDefault": "none",
        "MailProg": "/bin/true",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core",
        "SlurmdParameters": "config_overrides",
        "ReturnToService": "2",
        "AccountingStorageType": "accounting_storage/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "JobCompType": "jobcomp/filetxt",
        "JobCompLoc": str(folder / "log" / "jobs.txt"),
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": "batch_sched_delay=0,sched_min_interval=0,bf_interval=1",
        "MinJobAge": "300",
        "KillWait": "1",
        "CompleteWait": "0",
        "SlurmctldTimeout": "120",
        "SlurmdTimeout": "300",
        "MessageTimeout": "10",
        **spec.extra,
    }


def write(spec: ClusterSpec, values: Mapping[str, str], node_ports: Sequence[int]) -> str:
    """The text of slurm.conf."""
    lines = [f"{key}={value}" for key, value in values.items()]
    sizes = zip(spec.node_cores, spec.node_threads, spec.node_processors, strict=True)
    for name, port, (cores, threads, cpus) in zip(spec.node_names, node_ports, sizes, strict=True):
        lines.append(
            f"NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} "
            f"CPUs={cpus} Sockets=1 CoresPerSocket={cores} ThreadsPerCore={threads} "
            f"RealMemory=65536 State=UNKNOWN {spec.node}".rstrip()
        )
    nodes = ",".join(spec.node_names)
    lines.append(
        f"PartitionName=batch Nodes={nodes} Default=YES MaxTime=INFINITE State=UP "
        f"{spec.partition}".rstrip()
    )
    return "\n".join(lines) + "\n"
