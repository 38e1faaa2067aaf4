"""Jobs, clusters and plans as people read them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from metabroker.api.client import ENDED, Json
from metabroker.cli.errors import one_line
from metabroker.cli.table import age, clock, duration, interval, print_pages, print_table


def processors(job: Json) -> int:
    """All processors of the job; a flexible one that is not split yet has one component."""
    given = job.get("processors")
    return given if isinstance(given, int) else sum(c["processors"] for c in job["components"])


def places(job: Json) -> str:
    """Where its components are or go: `delft:16,leiden:8`; `?` where that is not decided."""
    if job.get("array") and not any(c["cluster"] for c in job["components"]):
        return "-"  # where its tasks are, they say themselves
    return ",".join(f"{c['cluster'] or '?'}:{c['processors']}" for c in job["components"])


def print_queue(jobs: Iterable[Json]) -> None:
    """Waiting and running jobs, one line each."""
    heads = ("JOB", "NAME", "USER", "STATE", "PROCS", "WHERE", "AGE", "POSITION", "START", "REASON")
    rows = (
        (
            *(job[key] for key in ("job", "name", "user", "state")),
            processors(job),
            places(job),
            age(job["start_time"] or job["submit_time"]),
            job.get("position"),
            _start(job),
            job["reason"],
        )
        for job in jobs
    )
    print_table(heads, rows, right=("JOB", "PROCS", "AGE", "POSITION"))


def _start(job: Json) -> str:
    """When it started, or is expected to: the interval, or a planned moment."""
    expected = job.get("expected_start")
    if job["start_time"] or not expected:
        return clock(job["start_time"] or job.get("earliest_start"))
    return interval(expected["earliest"], expected["latest"])


def print_history(pages: Iterable[Sequence[Json]]) -> None:
    """Ended jobs, one line each, with what they used in processor-hours; some at a time."""
    heads = (
        "JOB", "NAME", "USER", "STATE", "CODE", "PROCS", "WHERE", "WAITED", "RAN", "CPUH", "ENDED",
    )  # fmt: skip
    rows = ([_ended_row(job) for job in jobs] for jobs in pages)
    print_pages(heads, rows, right=("JOB", "CODE", "PROCS", "WAITED", "RAN", "CPUH"))


def _ended_row(job: Json) -> tuple[object, ...]:
    began, ended = job["start_time"], job["end_time"]
    ran = None if began is None or ended is None else ended - began
    first = began if began is not None else ended
    return (
        *(job[key] for key in ("job", "name", "user", "state", "exit_code")),
        processors(job),
        places(job),
        duration(None if first is None else first - job["submit_time"]),
        duration(ran),
        None if ran is None else f"{ran * processors(job) / 3600:.2f}",
        clock(ended),
    )


def print_job(job: Json) -> None:
    """One job in full."""
    _fields(
        ("job", job["job"]),
        ("name", job["name"]),
        ("user", job["user"]),
        ("state", job["state"]),
        ("reason", job["reason"]),
        ("exit code", job["exit_code"]),
        ("submitted", _moment(job["submit_time"])),
        ("started", _moment(job["start_time"])),
        ("ended", _moment(job["end_time"])),
        ("time limit", _limit(job)),
        ("may be split", _split(job)),
        ("each task", _shape(job.get("shape") or {})),
        ("input", _inputs(job.get("inputs") or {})),
        ("queue", job.get("queue")),
        ("place", None if job["state"] in ENDED else job.get("position")),
        *_expected(job, waits=job["state"] == "QUEUED"),
        ("joins", job.get("joins")),
        ("joined by", _joined_by(job.get("joined_by") or ())),
        ("attempts", _attempts(job)),
        ("directory", job.get("chdir")),
    )
    print()
    _print_components(job["components"])
    _print_left_behind(job.get("left_behind") or ())
    _print_events(job.get("events") or ())
    if job.get("events_left_out"):
        print()
        print(
            f"{job['events_left_out']} events between the first ones and the newest are left out."
        )
    if not job.get("events_kept", True):
        print()
        print(
            "Its events are no longer kept (history.events in the configuration): they are in the"
        )
        print("archive.")


def _limit(job: Json) -> str:
    """Its time limit, and what it has beyond that, since it is split."""
    limit, extra = job.get("time_limit"), (job.get("split") or {}).get("extra_time")
    if not extra or limit is None:
        return duration(limit)
    return f"{duration(limit)}, and {duration(extra)} more since it is split"


def _split(job: Json) -> str | None:
    """How the policy may split it when it starts; nothing of one that has ended."""
    split = job.get("split")
    if not split or job["state"] in ENDED:
        return None
    most = "" if split["component"] is None else f" of at most {split['component']} processors"
    return f"into at most {split['parts']} components{most}, when it starts"


def _joined_by(jobs: Sequence[Json]) -> str | None:
    """Its optional components, the newest first."""
    found = []
    for each in jobs:
        where = f", {each['cluster']}" if each["cluster"] else ""
        found.append(f"{each['job']} ({each['state']}{where})")
    return ", ".join(found) or None


def _shape(shape: Json) -> str | None:
    """What each task needs of its node, if the job has said so."""
    return ", ".join(f"{name.replace('_', ' ')} {shape[name]}" for name in shape) or None


def _inputs(inputs: Json) -> str | None:
    """What the job reads, and where that lies."""
    found = [
        f"{_bytes(each['size'])} in {' or '.join(each['clusters'])}"
        for each in inputs.get("files", ())
    ]
    if inputs.get("staged"):
        found.append(f"{_bytes(inputs['staged'])} sent with it")
    return ", ".join(found) or None


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.4g} {unit}"
        size /= 1000
    return f"{size:.6g} TB"


def print_clusters(clusters: Sequence[Json]) -> None:
    """The clusters, one line each; `?` is unknown, and never idle.

    IDLE is what nobody holds; NOTE tells where the broker sends less than that, and why. RESERVED
    is what the broker holds itself, OTHERS what anybody else does, QUEUED the jobs in
    the cluster's local queue.
    """
    counted = ("processors", "idle", "down", "claimed", "others", "waiting")
    heads = ("PROCS", "IDLE", "DOWN", "RESERVED", "OTHERS", "QUEUED")
    rows = [
        (
            cluster["name"],
            cluster["system"],
            cluster["version"],
            *(_known(cluster.get(key)) for key in counted),
            _health(cluster),
            duration(cluster["age_seconds"]),
            _note(cluster),
        )
        for cluster in clusters
    ]
    all_heads = ("NAME", "SYSTEM", "VERSION", *heads, "HEALTH", "AGE", "NOTE")
    print_table(all_heads, rows, right=(*heads, "AGE"))


def print_plan(plan: Json) -> None:
    """What a dry run says."""
    _fields(
        ("starts now", "yes" if plan["starts_now"] else "no"),
        ("queue", plan["queue"]),
        ("place", plan["position"]),
        *_expected(plan, waits=not plan["starts_now"]),
        ("reason", plan["reason"]),
    )
    if plan["components"]:
        print()
        heads: tuple[str, ...] = ("COMPONENT", "CLUSTER", "PROCS")
        rows: list[tuple[Any, ...]] = [
            (c["index"], c["cluster"], c["processors"]) for c in plan["components"]
        ]
        held = [c.get("held", c["processors"]) for c in plan["components"]]
        if held != [c["processors"] for c in plan["components"]]:
            # Whole nodes are given there: more than was asked for.
            heads = (*heads, "HOLDS")
            rows = [(*row, holds) for row, holds in zip(rows, held)]
        print_table(heads, rows, right=("COMPONENT", "PROCS", "HOLDS"))


def _print_components(components: Sequence[Json]) -> None:
    heads = (
        "COMPONENT", "CLUSTER", "PROCS", "STATE", "NATIVE", "RESERVATION", "STARTED", "ENDED",
        "CODE", "HOSTS", "NOTE",
    )  # fmt: skip
    rows = [
        (
            *(part[key] for key in ("index", "cluster", "processors", "state", "native_id")),
            part["reservation"],
            clock(part["start_time"]),
            clock(part["end_time"]),
            part["exit_code"],
            _hosts(part["hosts"]),
            part.get("detail"),
        )
        for part in components
    ]
    print_table(heads, rows, right=("COMPONENT", "PROCS", "CODE"))


def _fields(*fields: tuple[str, object]) -> None:
    for name, value in fields:
        if value not in (None, "", "-"):
            print(f"{name + ':':<16}{one_line(str(value))}")


def _expected(job: Json, *, waits: bool) -> list[tuple[str, str | None]]:
    """When a job starts that `waits`."""
    expected = job.get("expected_start")
    if not expected:
        known = _moment(job.get("earliest_start"))
        return [("earliest start", known or ("not known" if waits else None))]
    told = interval(expected["earliest"], expected["latest"])
    sure = f"{told} ({expected['confidence']:.0%} sure)"
    return [("starts", sure), ("likely", _moment(expected["likely"]))]


def _moment(moment: float | None) -> str | None:
    if moment is None:
        return None
    away = moment - time.time()
    return f"{clock(moment)} ({f'in {duration(away)}' if away >= 1 else f'{age(moment)} ago'})"


def _attempts(job: Json) -> str:
    """How many there were, and how many of them failed before and after the script's start."""
    kinds = (("before", "submission_failures"), ("after", "completion_failures"))
    failed = [f"{job[key]} failed {when} the start" for when, key in kinds if job.get(key)]
    return ", ".join([str(job["attempts"]), *failed])


def _known(value: object) -> object:
    return "?" if value is None else value


def _hosts(hosts: Any) -> object:
    return ",".join(map(str, hosts)) if isinstance(hosts, list) else hosts


def _note(cluster: Json) -> str:
    avoided = cluster.get("avoided")
    drained = cluster.get("drained")
    if drained and not cluster.get("error"):
        why = f": {drained['reason']}" if drained["reason"] else ""
        return f"drained by {drained['by']} since {clock(drained['since'])}{why}"
    if cluster.get("error") or not avoided:
        return str(cluster.get("error") or _maintenance(cluster.get("coming") or ()))
    later = "" if avoided["seconds"] is None else f" for {duration(avoided['seconds'])}"
    if not avoided["processors"]:
        return f"nothing is sent there{later}: {avoided['reason']}"
    return f"at most {avoided['processors']} processors at a time{later}: {avoided['reason']}"


def _maintenance(coming: Sequence[Json]) -> str:
    """The first that keeps jobs away which would not be over by then."""
    found = next((each for each in coming if each["maintenance"]), None)
    if found is None:
        return ""
    return f"maintenance (reservation {found['name']}) from {clock(found['start'])}"


def _health(cluster: Json) -> str:
    if cluster["reachable"] is None:
        return "unknown"
    if not cluster["reachable"]:
        return "unreachable"
    if not cluster.get("fresh", True):
        return "stale"
    return "drained" if cluster.get("drained") else "ok"


def _print_left_behind(left: Sequence[Json]) -> None:
    """What former attempts may still hold in a cluster that cannot be reached."""
    if left:
        rows = [(p["cluster"], p["name"], p["attempt"], p["detail"]) for p in left]
        print()
        print_table(("LEFT IN", "NAME", "ATTEMPT", "WHY"), rows, right=("ATTEMPT",))


def _print_events(events: Sequence[Json]) -> None:
    if events:
        rows = [(clock(e["time"]), e["attempt"], e["event"], _detail(e)) for e in events]
        print()
        print_table(("TIME", "ATTEMPT", "EVENT", "DETAIL"), rows, right=("ATTEMPT",))


def _detail(event: Json) -> str:
    """What an event says besides its time, attempt and name."""
    words = []
    for key, value in event.items():
        if key not in ("time", "attempt", "event") and value not in (None, "", []):
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            words.append(f"{key.replace('_', ' ')} {text}")
    return ", ".join(words)
