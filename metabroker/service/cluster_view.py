"""Clusters as users see them: what the broker counts with, and how old it is (promise P6)."""

from __future__ import annotations

from typing import Any

from metabroker.broker import tokens
from metabroker.broker.core import Broker
from metabroker.broker.observation import NativeState, Snapshot

Json = dict[str, Any]


def cluster_views(broker: Broker, now: float) -> list[Json]:
    """All clusters. To be asked in the core's thread."""
    queues = broker.scheduler.waiting()
    to_be_had = broker.ledger.available(now)
    views = []
    for index, cluster in enumerate(broker.settings.clusters):
        account = broker.ledger.accounts[index]
        snapshot = account.snapshot
        known = broker.ledger.known(index, now)
        views.append(
            {
                "name": cluster.name,
                "system": cluster.system,
                "version": snapshot.version if snapshot is not None else None,
                "processors": account.processors,
                "idle": broker.ledger.idle(index, now),
                "available": to_be_had[index] if known else None,
                "avoided": _avoided(broker, index, now),
                "down": account.processors - account.usable if known else None,
                "others": account.others if known else None,
                "claimed": account.claimed,
                "reserved": None
                if snapshot is None
                else sum(r.processors for r in snapshot.reservations.values()),
                "reachable": account.reachable,
                "fresh": known,
                "age_seconds": None if snapshot is None else max(0.0, now - snapshot.taken_at),
                "error": account.detail,
                "components": len(broker.saga.live[index]),
                "unanswered": sum(1 for c in broker.saga.live[index].values() if c.tries),
                "pending": None if snapshot is None else _pending(broker, snapshot),
                "strays": None if snapshot is None else _strays(broker, snapshot),
                "waiting": queues.get(index, 0),
                "clock_offset": snapshot.clock_offset if snapshot is not None else None,
                "commands_per_look": snapshot.commands if snapshot is not None else None,
            }
        )
    return views


def _avoided(broker: Broker, index: int, now: float) -> Json | None:
    """Why fewer processors are available to the broker's jobs than are idle, and for how long."""
    avoided = broker.ledger.avoided(index, now)
    if avoided is None or not broker.ledger.known(index, now):
        return None
    left = None if avoided.until is None else max(0.0, avoided.until - now)
    return {"processors": avoided.most, "seconds": left, "reason": avoided.why}


def _pending(broker: Broker, snapshot: Snapshot) -> int:
    """Jobs of ours that the last look showed waiting in the cluster's own queue."""
    instance = broker.settings.instance
    return sum(
        1
        for token, job in snapshot.jobs.items()
        if job.state is NativeState.PENDING and tokens.parse(instance, token) is not None
    )


def _strays(broker: Broker, snapshot: Snapshot) -> int:
    """Jobs and reservations of ours that the last look showed and no live component explains, nor
    a time of which nothing is known any more."""
    instance = broker.settings.instance
    shown = {t for t, job in snapshot.jobs.items() if job.state is not NativeState.ENDED}
    refs = [tokens.parse(instance, token) for token in shown | snapshot.reservations.keys()]
    unknown = broker.saga.leftovers.history.unknown
    return sum(
        1
        for ref in refs
        if ref is not None and broker.saga.component(ref) is None and not unknown(ref)
    )
