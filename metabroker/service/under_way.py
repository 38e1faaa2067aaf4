"""Why a job that has been placed does not run yet, in words."""

from __future__ import annotations

from time import localtime, strftime
from typing import Any

from metabroker.broker.states import JobState

from .job_view import plan_of


def why_not_yet(row: dict[str, Any]) -> str:
    """What its components wait for."""
    if row["reason"]:
        return str(row["reason"])
    plan = plan_of(row)
    if plan is not None and row["state"] == JobState.RESERVING.value:
        word = "starts" if plan["held"] else "is to start"
        return f"{word} {_clock(plan['start'])} in {' and '.join(dict.fromkeys(plan['clusters']))}"
    parts = [p for p in row["components"] if p["attempt"] == row["attempt"] and p["processors"]]
    waits = [
        f"{p['cluster']}: {p['detail'] or p['step'] or p['phase']}"
        for p in parts
        if p["phase"] not in ("arrived", "armed", "started", "ended", "gone")
    ]
    return "waits for " + ", ".join(waits) if waits else ""


def _clock(moment: float) -> str:
    """A moment to come by the local time; with its date, if that may be another day's."""
    then = localtime(moment)
    return strftime("%H:%M:%S" if then[:3] == localtime()[:3] else "%Y-%m-%d %H:%M:%S", then)
