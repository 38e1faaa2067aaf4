"""`serve --offline`: the same configuration with simulated twins in the place of all clusters.

Twins have the names and sizes of the real ones (as last seen, else as configured), their own
state and their own store: nothing real is contacted, and no real job is taken for lost.
"""

from __future__ import annotations

from metabroker.config.model import Config, SimulatedCluster
from metabroker.store.peek import last_sizes

_SIZE = 64  # processors of a twin of which nothing is known
_SUFFIX = ".offline"


def twins(config: Config) -> Config:
    """The configuration to try things with."""
    known = last_sizes(config.store)
    clusters = {}
    for name, cluster in config.clusters.items():
        state = config.state_file(name)
        clusters[name] = SimulatedCluster(
            processors=known.get(name) or cluster.processors or _SIZE,
            claim=cluster.claim,
            commands_at_once=cluster.commands_at_once,
            run=False,
            state=state.with_name(state.name + _SUFFIX),
            shared_dir=state.parent,
        )
    store = config.store + _SUFFIX if config.store.startswith("sqlite") else None
    if store is None:
        store = f"sqlite:///{config.state_file('metabroker').with_name('metabroker.db')}{_SUFFIX}"
    audit = config.audit_file.with_name(config.audit_file.name + _SUFFIX)
    return config.model_copy(
        update={"clusters": clusters, "store": store, "audit": audit, "listen": None}
    )
