"""Sizes and versions of clusters, as they are written to the store: what a restart goes by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metabroker.broker.events import Observed
from metabroker.store.rows import ClusterNames


class KnownSizes:
    """Those that were written last."""

    def __init__(self, names: ClusterNames) -> None:
        self._names = names
        self._known: dict[int, tuple[int, str]] = {}

    def rows(self, clusters: Mapping[int, Observed]) -> list[dict[str, Any]]:
        """The rows of those that have changed, by what was seen of them."""
        rows = []
        for cluster, seen in clusters.items():
            snapshot = seen.snapshot
            known = (snapshot.processors, snapshot.version)
            if self._known.get(cluster) != known:
                self._known[cluster] = known
                rows.append(
                    {
                        "name": self._names.names[cluster],
                        "processors": snapshot.processors,
                        "version": snapshot.version,
                        "seen": snapshot.taken_at,
                    }
                )
        return rows
