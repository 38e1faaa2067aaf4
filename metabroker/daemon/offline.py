"""`serve --offline`: the same configuration with simulated twins in the place of all clusters.

Twins have the names and sizes of the real ones (as last seen, else as configured, else made up,
which the log says), their own state and their own store: nothing real is contacted, and no real
job is taken for lost. They give whole nodes where the real ones do, and those of Slurm clusters
reserve whole ones for memory and GPUs. Scripts run on this host, so that a job takes as long as its
script does.
"""

from __future__ import annotations

import logging

from metabroker.about import about
from metabroker.config.clusters import (
    Cluster,
    TwinConfig,
    gives_own_nodes,
    words_of,
)
from metabroker.config.model import Config
from metabroker.config.names import AnyNames
from metabroker.store.read_only import last_sizes

log = logging.getLogger(__name__)

_SIZE = 64  # processors of a twin of which nothing is known
_SUFFIX = ".offline"


def twins(config: Config) -> Config:
    """The configuration to try things with."""
    log.warning(
        "offline: each cluster is replaced by a simulated twin, no real cluster is contacted, "
        "and scripts "
        "run on this host"
    )
    known = last_sizes(config.store)
    clusters = {}
    for name, cluster in config.clusters.items():
        seen = known.get(name)
        size = seen or _configured(cluster) or _guessed(cluster)
        unit = _unit(name, cluster, size)
        _tell_size(name, size, unit, seen=bool(seen), configured=bool(_configured(cluster)))
        _tell_nodes(name, cluster)
        state = config.state_file(name)
        clusters[name] = TwinConfig(
            twin_of=cluster.system,
            processors=size,
            nodes=cluster.nodes if unit is None else max(1, size // unit),
            whole_nodes=unit,
            claim=cluster.claim,
            commands_at_once=cluster.commands_at_once,
            run=True,
            state=state.with_name(state.name + _SUFFIX),
            shared_dir=state.parent,
            names=_names(cluster),
        )
    store = config.store + _SUFFIX if config.store.startswith("sqlite") else None
    if store is None:
        store = f"sqlite:///{config.state_file('metabroker').with_name('metabroker.db')}{_SUFFIX}"
    audit = config.audit_file.with_name(config.audit_file.name + _SUFFIX)
    archive = config.archive_folder.with_name(config.archive_folder.name + _SUFFIX)
    history = config.history.model_copy(update={"archive": archive})
    apart = {"store": store, "audit": audit, "history": history}
    return config.model_copy(update={"clusters": clusters, "listen": None, **apart})


def _names(cluster: Cluster) -> AnyNames:
    """The twin knows the same names, so that jobs go to the same clusters."""
    words = words_of(cluster)
    own = {kind: {name: name} for kind, name in words.own.items() if words.tables[kind] is None}
    return AnyNames(**{**words.tables, **own})


def _configured(cluster: Cluster) -> int | None:
    """Processors by the configuration."""
    if cluster.processors is None and cluster.nodes and cluster.whole_nodes:
        return cluster.nodes * cluster.whole_nodes
    return cluster.processors


def _guessed(cluster: Cluster) -> int:
    """Processors of a twin of which nothing is known, but perhaps how large a node is."""
    return -(-_SIZE // (cluster.whole_nodes or 1)) * (cluster.whole_nodes or 1)


def _unit(name: str, cluster: Cluster, processors: int) -> int | None:
    """Processors of a node, where the twin gives whole nodes; they are all alike there."""
    if cluster.whole_nodes or not gives_own_nodes(cluster):
        return cluster.whole_nodes
    if cluster.nodes is None:
        log.warning(
            "%s: its jobs are given nodes of their own, but its twin gives them processors one by "
            "one, as nothing tells how large its nodes are; write `nodes` (how many) or "
            "`whole_nodes` (processors of one) into its configuration",
            name,
            extra=about(cluster=name),
        )
        return None
    return max(1, processors // cluster.nodes)


def _tell_nodes(name: str, cluster: Cluster) -> None:
    """What a twin without nodes does otherwise, where `_unit` has not told more."""
    slurm = cluster.system == "slurm" and cluster.claim == "reservation"
    if not slurm or cluster.whole_nodes or cluster.nodes or gives_own_nodes(cluster):
        return
    log.warning(
        "%s: whole nodes are reserved there for components that ask for memory or GPUs, but by its "
        "twin processors alone, as nothing tells how large its nodes are; write `nodes` (how many) "
        "into its configuration",
        name,
        extra=about(cluster=name),
    )


def _tell_size(name: str, size: int, unit: int | None, *, seen: bool, configured: bool) -> None:
    """Where the twin's size comes from: what is tried on made-up sizes tells little."""
    more = about(cluster=name)
    whole = f", in whole nodes of {unit}" if unit else ""
    if seen:
        log.info(
            "%s: its twin has %d processors%s, as the cluster was last seen",
            *(name, size, whole),
            extra=more,
        )
    elif configured:
        log.info("%s: its twin has %d processors%s, as configured", name, size, whole, extra=more)
    else:
        log.warning(
            "%s: its twin has %d processors%s, a guess, as the cluster was never seen; write "
            "`processors` into its configuration",
            *(name, size, whole),
            extra=more,
        )
