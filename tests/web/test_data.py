"""What the page is told: totals say no more than /metrics, and bars add up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from metabroker.web.data import MOST_ROWS, everything, totals
from tests.api.shapes import NOW, cluster, job, part


def overview(*jobs: dict[str, Any], **given: Any) -> dict[str, Any]:
    counted: dict[str, int] = {}
    for each in jobs:
        counted[each["state"]] = counted.get(each["state"], 0) + 1
    by_queue = [{"queue": "global", "state": state, "jobs": n} for state, n in counted.items()]
    return {
        "time": NOW,
        "status": {
            "version": "0.1.0",
            "policy": "GS",
            "offline": False,
            "store": "ok",
            "uptime_seconds": 100.0,
            "owed_effects": 0,
            "jobs": counted,
            "jobs_by_queue": by_queue,
            "queues": {"delft": 0, "global": counted.get("QUEUED", 0)},
            "oldest_wait": {"delft": 0.0, "global": 0.0},
        },
        "clusters": [cluster()],
        "reservations": [],
        "jobs": list(jobs),
        **given,
    }


def test_totals_tell_of_no_job_no_user_and_no_words_of_others() -> None:
    seen = overview(
        job(17, "QUEUED", part(0, "QUEUED")),
        job(18, "RUNNING", part(0, "RUNNING", start_time=NOW)),
        clusters=[cluster(error="ssh: anna@login: /home/anna/.ssh/id: denied")],
    )
    seen["status"]["store"] = "/home/anna/metabroker.db: disk full"
    text = json.dumps(totals(seen))
    for word in ("anna", "secret", "17", "asks for", "22.05.8", "/home"):
        assert word not in text, word
    assert totals(seen)["trouble"] == "the store cannot be written"
    assert totals(seen)["jobs"] is None and "timeline" not in totals(seen)


def test_a_drained_cluster_is_told_and_by_whom_to_users_only() -> None:
    by = {"by": "anna", "since": NOW, "reason": "new cables"}
    seen = overview(clusters=[cluster(drained=by)])
    assert totals(seen)["clusters"][0]["health"] == "drained"
    assert "anna" not in json.dumps(totals(seen))
    assert everything(seen)["clusters"][0]["note"] == "drained by anna: new cables"


def test_totals_count_jobs_by_queue() -> None:
    seen = overview(
        job(1, "QUEUED", part(0, "QUEUED")),
        job(2, "HELD", part(0, "HELD")),
        job(3, "SUBMITTING", part(0, "SUBMITTING")),
        job(4, "RUNNING", part(0, "RUNNING")),
    )
    assert totals(seen)["queues"] == [
        {"name": "delft", "waiting": 0, "held": 0, "under_way": 0},
        {"name": "global", "waiting": 1, "held": 1, "under_way": 2},
    ]


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({}, {"ours": 20, "others": 20, "free": 100, "down": 4, "unsure": 0}),
        ({"idle": 90}, {"ours": 20, "others": 20, "free": 90, "down": 4, "unsure": 10}),
        ({"idle": None, "others": None, "down": None}, {"ours": 20, "unknown": 124}),
        # Claims made since the last look: more than there is, for a moment.
        ({"idle": 0, "claimed": 130}, {"ours": 130, "others": 20, "free": 0, "down": 4,
                                       "unsure": 0}),
        ({"processors": 0, "idle": None, "claimed": 0}, {"ours": 0, "unknown": 0}),
    ],
)  # fmt: skip
def test_the_parts_of_a_bar(given: dict[str, Any], parts: dict[str, int]) -> None:
    (shown,) = totals(overview(clusters=[cluster(**given)]))["clusters"]
    assert shown["parts"] == parts


@pytest.mark.parametrize(
    ("given", "health", "seen"),
    [
        ({}, "ok", NOW - 2),
        ({"fresh": False, "age_seconds": 60.0}, "stale", NOW - 60),
        ({"reachable": False, "age_seconds": 300.0}, "unreachable", NOW - 300),
        ({"reachable": False, "fresh": False, "age_seconds": None}, "unreachable", None),
    ],
)
def test_health_and_since_when(given: dict[str, Any], health: str, seen: float | None) -> None:
    (shown,) = totals(overview(clusters=[cluster(**given)]))["clusters"]
    assert (shown["health"], shown["seen"]) == (health, seen)


def test_nothing_is_told_anew_only_because_time_goes_by() -> None:
    first = overview(job(1, "RUNNING", part(0, "RUNNING", start_time=NOW - 5)))
    later = overview(*first["jobs"], time=NOW + 3, clusters=[cluster(age_seconds=5.0)])
    later["status"]["uptime_seconds"] = 103.0
    assert everything(first) == everything(later)


def test_a_waiting_job_in_the_words_of_the_queue() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    parts = (part(0, "QUEUED"), part(1, "QUEUED", cluster=None))
    (shown,) = everything(overview(job(7, "QUEUED", *parts, name=hostile)))["jobs"]
    assert shown["name"] == hostile
    assert shown["where"] == "delft:8, 8"
    assert shown["reason"] == "asks for 8 processors; idle: delft 0"
    assert (shown["state"], shown["queue"], shown["since"]) == ("QUEUED", "global", NOW - 60)


EXPECTED = {"earliest": 60.0 * 10**6 + 1, "latest": 60.0 * 10**6 + 119}


def test_an_expected_start_is_told_in_minutes_and_not_as_planned() -> None:
    expected = overview(job(7, "QUEUED", part(0, "QUEUED"), expected_start=EXPECTED))
    (shown,) = everything(expected)["jobs"]
    assert shown["expected"] == {"earliest": 60.0 * 10**6, "latest": 60.0 * 10**6 + 120}
    assert shown["planned"] is None


def test_the_timeline_has_what_holds_processors_and_what_is_planned() -> None:
    seen = overview(
        job(1, "RUNNING", part(0, "RUNNING", start_time=NOW - 5), part(1, "COMPLETED")),
        job(2, "WAITING", part(0, "WAITING"), part(1, "SUBMITTING", detail="PENDING: Priority")),
        job(3, "QUEUED", part(0, "QUEUED"), earliest_start=NOW + 50),
        job(4, "QUEUED", part(0, "QUEUED")),
        job(5, "QUEUED", part(0, "QUEUED"), earliest_start=NOW + 50, expected_start=EXPECTED),
        reservations=[
            {"job": 2, "component": 0, "cluster": "delft", "processors": 8,
             "start_time": NOW - 1, "end_time": NOW + 700},
            {"job": 1, "component": 0, "cluster": "delft", "processors": 8,
             "start_time": NOW - 9, "end_time": NOW + 700},
        ],
    )  # fmt: skip
    rows = everything(seen)["timeline"]
    assert [(r["job"], r["component"], r["kind"], r["start"], r["end"]) for r in rows] == [
        (1, 0, "running", NOW - 5, NOW + 595),
        (2, 0, "reserved", NOW - 1, NOW + 700),
        (2, 1, "starting", None, None),
        (3, 0, "planned", NOW + 50, NOW + 650),
    ]
    assert rows[2]["reason"] == "PENDING: Priority"


def test_a_long_timeline_is_cut_and_says_so() -> None:
    many = [
        job(n, "RUNNING", part(0, "RUNNING", start_time=NOW), part(1, "RUNNING", start_time=NOW))
        for n in range(MOST_ROWS)
    ]
    seen = overview(*many)
    seen["status"]["jobs"] = {"RUNNING": MOST_ROWS + 7}
    told = everything(seen)
    assert len(told["timeline"]) == MOST_ROWS
    assert told["more_rows"] == MOST_ROWS + 7
