"""What the page is told, of the daemon's overview (`Service.overview`). Pure.

There are two measures: `totals`, which say no more than /metrics does, and `jobs`, which adds what
every user of the daemon's socket may read: jobs with their names, users and reasons, and the
clusters' own words. Times are moments in Unix seconds, never ages, so that what has not changed is
not told again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]

MOST_ROWS = 200  # of the timeline

_IN_QUEUE = ("QUEUED", "HELD")


def totals(overview: Mapping[str, Any]) -> Json:
    """What whoever reaches /metrics may know anyway."""
    now, status = overview["time"], overview["status"]
    return {
        "version": status["version"],
        "policy": status["policy"],
        "since": round(now - status["uptime_seconds"]),
        "trouble": "" if status["store"] == "ok" else "the store cannot be written",
        "owed": status["owed_effects"],
        "clusters": [_cluster(cluster, now) for cluster in overview["clusters"]],
        "queues": _queues(status),
        "jobs": None,
    }


def everything(overview: Mapping[str, Any]) -> Json:
    """What every user of the socket may know."""
    status = overview["status"]
    told = totals(overview)
    told["offline"] = status["offline"]
    told["trouble"] = "" if status["store"] == "ok" else f"the store: {status['store']}"
    for shown, cluster in zip(told["clusters"], overview["clusters"], strict=True):
        shown["system"] = _system(cluster)
        shown["note"] = cluster["error"] or _drained(cluster["drained"])
    told["jobs"] = [_waiting(job) for job in overview["jobs"] if job["state"] in _IN_QUEUE]
    rows = _timeline(overview["jobs"], overview["reservations"])
    told["timeline"] = rows[:MOST_ROWS]
    told["more_rows"] = len(rows[MOST_ROWS:]) + _untold(overview)
    return told


def one_job(job: Mapping[str, Any]) -> Json:
    """A job's own view: what it is, its components, and all that has happened to it."""
    plain = (
        *("job", "name", "user", "queue", "state", "reason", "attempts", "time_limit"),
        *("submit_time", "start_time", "end_time", "exit_code"),
    )
    of_part = ("index", "cluster", "processors", "state", "start_time", "end_time", "detail")
    return {
        **{key: job[key] for key in plain},
        "where": _where(job),
        "components": [{key: part[key] for key in of_part} for part in job["components"]],
        "events": [_happened(event) for event in job["events"]],
        "events_left_out": job.get("events_left_out", 0),
    }


def _happened(event: Mapping[str, Any]) -> Json:
    known = ("time", "event", "attempt")
    more = {key: value for key, value in event.items() if key not in known}
    said = ", ".join(f"{key} {value}" for key, value in more.items() if value not in (None, "", []))
    return {**{key: event[key] for key in known}, "detail": said}


def _cluster(cluster: Mapping[str, Any], now: float) -> Json:
    """One bar: parts that add up to its processors, as far as they are known."""
    age = cluster["age_seconds"]
    return {
        "name": cluster["name"],
        "processors": cluster["processors"],
        "health": _health(cluster),
        "seen": None if age is None else round(now - age, 1),
        "parts": _parts(cluster),
    }


def _system(cluster: Mapping[str, Any]) -> str:
    """What manages it, and its version where that is known and says more."""
    system, version = cluster["system"], cluster["version"] or ""
    return system if version == system else f"{system} {version}".rstrip()


def _health(cluster: Mapping[str, Any]) -> str:
    """In the words of `metabroker clusters`."""
    if not cluster["reachable"]:
        return "unreachable"
    if not cluster["fresh"]:
        return "stale"
    return "ok" if cluster["drained"] is None else "drained"


def _drained(told: Mapping[str, Any] | None) -> str:
    """By whom, and why."""
    if told is None:
        return ""
    return f"drained by {told['by']}" + (f": {told['reason']}" if told["reason"] else "")


def _parts(cluster: Mapping[str, Any]) -> Json:
    """What its processors are. What is not known is no idle one (promise P6)."""
    ours, total = cluster["claimed"], cluster["processors"]
    if cluster["idle"] is None:
        return {"ours": ours, "unknown": max(0, total - ours)}
    known = {
        "ours": ours,
        "others": cluster["others"],
        "free": cluster["idle"],
        "down": cluster["down"],
    }
    # Free at the last poll, but refused since, or less than a whole node.
    return {**known, "unsure": max(0, total - sum(known.values()))}


def _queues(status: Mapping[str, Any]) -> list[Json]:
    """Every queue with its numbers of jobs, the policy's own ones first."""
    found: dict[str, Json] = {
        name: {"name": name, "waiting": 0, "held": 0, "under_way": 0} for name in status["queues"]
    }
    for entry in status["jobs_by_queue"]:
        empty = {"name": entry["queue"], "waiting": 0, "held": 0, "under_way": 0}
        queue = found.setdefault(entry["queue"], empty)
        kind = {"QUEUED": "waiting", "HELD": "held"}.get(entry["state"], "under_way")
        queue[kind] += entry["jobs"]
    return list(found.values())


def _untold(overview: Mapping[str, Any]) -> int:
    """How many components are under way, at the least, of jobs that the overview leaves out."""
    states: Iterable[tuple[str, int]] = overview["status"]["jobs"].items()
    under_way = sum(count for state, count in states if state not in _IN_QUEUE)
    told = sum(1 for job in overview["jobs"] if job["state"] not in _IN_QUEUE)
    return max(0, under_way - told)


def _waiting(job: Mapping[str, Any]) -> Json:
    """A job in a queue: in the words of `metabroker queue`."""
    plain = ("job", "name", "user", "queue", "state", "position", "reason")
    return {
        **{key: job[key] for key in plain},
        "where": _where(job),
        "since": job["submit_time"],
        "planned": _planned(job),
        "expected": _expected(job.get("expected_start")),
    }


def _expected(start: Mapping[str, Any] | None) -> Json | None:
    """When a job is expected to start, in whole minutes: not told anew every second."""
    if start is None:
        return None
    return {"earliest": start["earliest"] // 60 * 60, "latest": -(-start["latest"] // 60) * 60}


def _planned(job: Mapping[str, Any]) -> float | None:
    """A start that is planned; one that is only expected is none."""
    planned: float | None = None if job.get("expected_start") else job["earliest_start"]
    return planned


def _where(job: Mapping[str, Any]) -> str:
    """`delft:16, leiden:8`; only the sizes where nothing is decided yet."""
    return ", ".join(
        f"{part['cluster']}:{part['processors']}" if part["cluster"] else str(part["processors"])
        for part in job["components"]
    )


def _timeline(
    jobs: Iterable[Mapping[str, Any]], reserved: Iterable[Mapping[str, Any]]
) -> list[Json]:
    """One row for each component that holds processors, and for each planned start.

    `kind`: running; reserved (the cluster showed a reservation, and nothing of it runs yet);
    starting (placed, and not running yet); planned (waits, with a start that its policy plans).
    """
    by_component = {(r["job"], r["component"]): r for r in reserved}
    rows: list[Json] = []
    for job in jobs:
        for part in job["components"]:
            reservation = by_component.get((job["job"], part["index"]))
            kind, start, end = _when(job, part, reservation)
            if kind is None:
                continue
            rows.append(
                {
                    **{key: job[key] for key in ("job", "name", "user")},
                    "component": part["index"],
                    "components": len(job["components"]),
                    "cluster": part["cluster"] or "",
                    "processors": part["processors"],
                    "kind": kind,
                    "start": start,
                    "end": end,
                    "limit": job["time_limit"],
                    "state": part["state"],
                    "reason": "" if kind == "running" else part["detail"] or job["reason"],
                }
            )
    return rows


def _when(
    job: Mapping[str, Any], part: Mapping[str, Any], reservation: Mapping[str, Any] | None
) -> tuple[str | None, float | None, float | None]:
    """What a component's row is, from when, and until when at the latest; None: as of now."""
    limit = job["time_limit"]
    if job["state"] in _IN_QUEUE:
        planned = _planned(job)
        return (None, None, None) if planned is None else ("planned", planned, planned + limit)
    if part["state"] == "RUNNING":
        start = part["start_time"] or job["start_time"]
        return "running", start, None if start is None else start + limit
    if part["state"] not in ("RESERVING", "SUBMITTING", "WAITING"):
        return None, None, None
    if reservation is not None:
        return "reserved", reservation["start_time"], reservation["end_time"]
    return "starting", None, None
