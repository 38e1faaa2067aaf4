"""Drained clusters in words."""

from __future__ import annotations

import time

from metabroker.broker.drained import Drained


def words(drained: Drained) -> str:
    """Who has drained a cluster, since when by the local time, and why."""
    since = time.strftime("%Y-%m-%d %H:%M", time.localtime(drained.since))
    why = f": {drained.reason}" if drained.reason else ""
    return f"drained by {drained.by} since {since}{why}"
