"""What is known of a drained cluster (see `drains`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Drained:
    """Who has drained a cluster, since when (Unix seconds), and why, in that administrator's words.
    Nothing new goes there."""

    by: str
    since: float
    reason: str = ""
