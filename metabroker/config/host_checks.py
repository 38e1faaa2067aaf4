"""What a configuration says of this host, held against the host. No cluster is contacted."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from metabroker.access.tls import TlsError, server_context

from .clusters import OpenPBSConfig, RealCluster, SlurmConfig
from .model import Config
from .problems import Problem

# By system: the variable that names its configuration file, and where that is by default.
_FILES = {
    "slurm": ("SLURM_CONF", "/etc/slurm/slurm.conf"),
    "openpbs": ("PBS_CONF_FILE", "/etc/pbs.conf"),
}
_COMMANDS = {
    "slurm": ("sbatch", "scancel", "scontrol", "sinfo", "squeue"),
    "openpbs": (
        "pbs_rdel", "pbs_rstat", "pbs_rsub", "pbsnodes", "qdel", "qselect", "qstat", "qsub",
    ),
}  # fmt: skip


def problems(config: Config) -> Iterator[Problem]:
    """What is not there, or is there twice. `clusters.NAME.bin` and the like are only looked at
    where `via: local` makes them paths of this host."""
    if config.listen is not None:
        try:
            listen, root = config.listen, os.geteuid() == 0
            server_context(listen.certificate, listen.key, any_owner=root)
        except TlsError as error:
            yield Problem(("listen", error.key), error.message, error.advice)
    for name, cluster in config.clusters.items():
        if isinstance(cluster, RealCluster) and cluster.via == "local":
            yield from _paths(name, cluster)
    yield from _twice(config)


def unusable(name: str, cluster: RealCluster) -> Problem | None:
    """Why the cluster's commands cannot work, where that is seen on this host: they may try for
    long before they say so."""
    if cluster.via != "local":
        return None
    variable, default = _FILES[cluster.system]
    file = cluster.env.get(variable)
    # Without a slurm.conf Slurm's commands look in the DNS: so only what is written is looked at.
    if file is not None and not os.path.isfile(file):
        return Problem(
            ("clusters", name, "env"),
            f"{variable} names {file}, and there is no such file",
            f"write the path of this cluster's {Path(default).name}",
        )
    if cluster.system == "openpbs" and cluster.run_as == "root-uid":
        return _of_setuid_program(name, Path(file or default))
    return None


def _of_setuid_program(name: str, conf: Path) -> Problem | None:
    """A daemon that acts by ids lets no program have more rights by its file (setuid), and has no
    right to ports below 1024 itself; so pbs_iff cannot prove who asks."""
    try:
        text = conf.read_text(errors="replace")
    except OSError:
        text = ""
    method = re.search(r"^\s*PBS_AUTH_METHOD=[\"']?(\w+)", text, re.MULTILINE)
    if method is not None and method[1].lower() != "resvport":
        return None
    return Problem(
        ("clusters", name, "run_as"),
        f"under root-uid PBS's commands cannot prove who asks by pbs_iff, and {conf} names no "
        "other way",
        "write `run_as: sudo`, or let PBS prove it by munge (PBS_AUTH_METHOD=munge)",
    )


def _paths(name: str, cluster: RealCluster) -> Iterator[Problem]:
    trouble = unusable(name, cluster)
    if trouble is not None:
        yield trouble
    if cluster.bin is not None:
        yield from _folder_of_commands(name, cluster, cluster.bin)


def _folder_of_commands(name: str, cluster: RealCluster, folder: Path) -> Iterator[Problem]:
    key, advice = ("clusters", name, "bin"), "name the folder of this cluster's client commands"
    if not folder.is_dir():
        yield Problem(key, f"there is no folder {folder}", advice)
        return
    wanted = _COMMANDS[cluster.system]
    missing = [command for command in wanted if shutil.which(command, path=str(folder)) is None]
    if missing:
        yield Problem(key, f"{folder} has no {', '.join(missing)}", advice)


def _twice(config: Config) -> Iterator[Problem]:
    """Two entries for the same processors: each would count them as its own."""
    seen: dict[tuple[object, ...], list[tuple[str, RealCluster]]] = {}
    for name, cluster in config.clusters.items():
        if not isinstance(cluster, RealCluster):
            continue
        others = seen.setdefault(_place(cluster), [])
        for other, before in others:
            if overlap(cluster, before):
                key = part_key(cluster)
                yield Problem(
                    ("clusters", name),
                    f"is the same cluster as {other}",
                    f"remove one of them, or give each its own `{key}`",
                )
                break
        others.append((name, cluster))


def _place(cluster: RealCluster) -> tuple[object, ...]:
    """Where its commands run, and what tells them which cluster is meant."""
    variable, default = _FILES[cluster.system]
    file = cluster.env.get(variable, default)
    server = cluster.env.get("PBS_SERVER")
    if cluster.via == "local":
        return cluster.system, os.path.realpath(file), server
    return cluster.system, cluster.host, cluster.port or 22, file, server


def part_key(cluster: RealCluster) -> str:
    """The key that names a part of the cluster."""
    return "partition" if isinstance(cluster, SlurmConfig) else "queue"


def part_of(cluster: RealCluster) -> str | None:
    """The part of its system that it means; None: the default one."""
    if isinstance(cluster, SlurmConfig):
        return cluster.partition
    return cluster.queue if isinstance(cluster, OpenPBSConfig) else None


def overlap(one: RealCluster, other: RealCluster) -> bool:
    """Whether two entries for one cluster may mean the same processors: unless each names a part
    of its own."""
    parts = [part_of(one), part_of(other)]
    return None in parts or len(set(parts)) == 1
