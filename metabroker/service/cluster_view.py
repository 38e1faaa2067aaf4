"""Clusters as users see them: what the broker counts with, and how old it is (promise P6)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from metabroker.broker import tokens
from metabroker.broker.observation import Coming, NativeState, NodeKind, Snapshot
from metabroker.broker.states import Step
from metabroker.broker.view import BrokerView, ViewAt

Json = dict[str, Any]
_MOST_COMING = 20  # reservations that are told of one cluster


def cluster_views(view: BrokerView, now: float) -> list[Json]:
    """All clusters. To be asked in the core's thread."""
    queues, at = view.in_queues.waiting(), view.at(now)
    views = []
    for index, cluster in enumerate(view.settings.clusters):
        entry = view.entries[index]
        snapshot = entry.snapshot
        known = at.known(index)
        components = view.components(index)
        views.append(
            {
                "name": cluster.name,
                "system": cluster.system,
                "version": snapshot.version if snapshot is not None else None,
                "processors": entry.processors,
                "idle": at.idle(index),
                "available": at.available[index] if known else None,
                "avoided": _avoided(at, index),
                "drained": None if entry.drained is None else asdict(entry.drained),
                "coming": [_coming(each) for each in entry.upcoming.items[:_MOST_COMING]],
                "down": entry.processors - entry.usable if known else None,
                "others": entry.others if known else None,
                "claimed": entry.claimed,
                "reserved": None
                if snapshot is None
                else sum(r.processors for r in snapshot.reservations.values()),
                "reachable": entry.reachable,
                "fresh": known,
                "age_seconds": None if snapshot is None else max(0.0, now - snapshot.taken_at),
                "error": entry.detail or view.behind,
                "nodes": [_node_kind(node) for node in entry.nodes],
                "components": len(components),
                "unanswered": sum(1 for c in components if c.tries and c.step is not Step.NONE),
                "pending": None if snapshot is None else _pending(view, snapshot),
                "strays": None if snapshot is None else _strays(view, index, snapshot),
                "waiting": queues.get(index, 0),
                "clock_offset": snapshot.clock_offset if snapshot is not None else None,
                "commands_per_look": snapshot.commands if snapshot is not None else None,
            }
        )
    return views


def _node_kind(node: NodeKind) -> Json:
    """So many nodes that are alike; memory in MB."""
    return {
        "count": node.count,
        "processors": node.processors,
        "memory": node.memory,
        "gpus": node.gpus,
    }


def _coming(coming: Coming) -> Json:
    """A reservation of others that keeps longer jobs away."""
    told = asdict(coming)
    return {key: told[key] for key in ("name", "start", "end", "processors", "maintenance")}


def _avoided(at: ViewAt, index: int) -> Json | None:
    """Why fewer processors are available to the broker's jobs than are idle, and for how long."""
    avoided = at.avoided(index)
    if avoided is None or not at.known(index):
        return None
    left = None if avoided.until is None else max(0.0, avoided.until - at.now)
    return {"processors": avoided.most, "seconds": left, "reason": avoided.why}


def _pending(view: BrokerView, snapshot: Snapshot) -> int:
    """Jobs of ours that the last poll showed waiting in the cluster's own queue."""
    instance = view.settings.instance
    return sum(
        1
        for token, job in snapshot.jobs.items()
        if job.state is NativeState.PENDING and tokens.parse(instance, token) is not None
    )


def _strays(view: BrokerView, cluster: int, snapshot: Snapshot) -> int:
    """Jobs and reservations of ours that the last poll showed and no live component explains; but
    for those that are left alone (`leftovers`)."""
    instance = view.settings.instance
    shown = {t for t, job in snapshot.jobs.items() if job.state is not NativeState.ENDED}
    shown |= snapshot.reservations.keys()
    shown -= {o.token for o in view.unclaimed if o.cluster == cluster and not o.unwanted}
    refs = (tokens.parse(instance, token) for token in shown)
    return sum(1 for ref in refs if ref is not None and view.component(ref) is None)
