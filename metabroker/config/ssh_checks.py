"""What is wrong with how a cluster is reached, between keys that are each right by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .problems import Problem, of_cluster

FAR = ("ssh", "openssh")
OF_SSH = frozenset(
    {"host", "port", "user", "key", "certificate", "agent", "known_hosts", "jump", "ssh_config"}
    | {"connect_timeout", "keepalive", "reconnect_pause"}
)
"""Keys of a cluster that is reached over SSH."""
_WITH_DEFAULTS = frozenset({"connect_timeout", "keepalive", "reconnect_pause"})
_OVER_THERE = ("bin", "shared_dir")
_FILES = ("key", "certificate", "known_hosts")


def problems(name: str, cluster: Mapping[str, Any]) -> Iterator[Problem]:
    """The problems of one cluster's raw data."""
    if cluster.get("system") == "simulated":
        return
    via = cluster.get("via", "local")
    given = {key for key, value in cluster.items() if value not in (None, [], ())}
    if via == "local":
        for key in sorted(OF_SSH - _WITH_DEFAULTS & given):
            message = "is for `via: ssh` and `via: openssh`; this cluster is `via: local`"
            yield of_cluster(name, key, message, "write `via: ssh`, or remove it")
    elif via in FAR:
        yield from _far(name, str(via), cluster, given)
    if cluster.get("system") == "slurm":
        yield from _by_pyslurm(name, via, cluster, given)


def _by_pyslurm(
    name: str, via: object, cluster: Mapping[str, Any], given: set[str]
) -> Iterator[Problem]:
    access = cluster.get("access", "commands")
    if access != "commands" and via in FAR:
        message = f"pyslurm works on this host only, and this cluster is `via: {via}`"
        yield of_cluster(name, "access", message, "write `access: commands`, or `via: local`")
    if access == "commands" and "pyslurm_python" in given:
        message = "is for `access: pyslurm`; this cluster is `access: commands`"
        yield of_cluster(name, "pyslurm_python", message, "write `access: pyslurm`, or remove it")


def _far(name: str, via: str, cluster: Mapping[str, Any], given: set[str]) -> Iterator[Problem]:
    if "host" not in given:
        yield of_cluster(
            name, "host", "is missing", f"`via: {via}` needs the name of the login host"
        )
    for key in _OVER_THERE:
        value = cluster.get(key)
        if isinstance(value, str) and not value.startswith("/"):
            message = f"must be an absolute path: it is on the cluster's side of `via: {via}`"
            yield of_cluster(name, key, message, "write it in full, beginning with /")
    if "certificate" in given and "key" not in given:
        yield of_cluster(
            name, "certificate", "belongs to a `key`, and no `key` is given", "give its `key` too"
        )
    if via == "ssh":
        if "ssh_config" in given:
            message = "applies to `via: openssh` only"
            yield of_cluster(name, "ssh_config", message, "write `via: openssh`, or remove it")
        if cluster.get("agent") is False and "key" not in given:
            message = "is off, and no `key` is given: nothing is left to log in with"
            yield of_cluster(name, "agent", message, "give a `key`, or remove this")
    for key in _FILES if via == "openssh" else ():
        value = cluster.get(key)
        if isinstance(value, str) and ('"' in value or "${" in value):
            message = "ssh's own configuration cannot name a file with \" or ${ in it"
            yield of_cluster(name, key, message, "rename it")
