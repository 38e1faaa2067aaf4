"""What people read: jobs, clusters and plans in every state."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from metabroker.cli import common, table, views
from metabroker.cli.table import duration, print_table
from tests.api import shapes

PART = {
    "index": 0, "cluster": "delft", "processors": 16, "state": "RUNNING", "native_id": "41",
    "reservation": "mb-ab12cd-17-2-0", "hosts": ["n1", "n2"], "start_time": 1e9, "end_time": None,
    "exit_code": None, "detail": "a note",
}  # fmt: skip
JOB: dict[str, Any] = {
    "job": 17, "name": "big", "user": "alice", "state": "RUNNING", "reason": "", "queue": "global",
    "processors": 24, "time_limit": 600, "submit_time": 1e9, "start_time": 1e9, "end_time": None,
    "exit_code": None, "attempts": 2, "submission_failures": 1, "completion_failures": 0,
    "components": [PART, {**PART, "index": 1, "cluster": "leiden", "processors": 8}],
    "left_behind": [{"attempt": 1, "component": 0, "cluster": "lab", "name": "mb-ab12cd-17-1-0",
                     "detail": "lab does not answer"}],
    "events": [{"time": 1e9, "attempt": 1, "event": "placed", "clusters": ["delft", "lab"]}],
}  # fmt: skip

Out = pytest.CaptureFixture[str]


def test_a_job_in_full(capsys: Out) -> None:
    views.print_job(JOB)
    out = capsys.readouterr().out
    for part in (
        "2, 1 failed before the start", "mb-ab12cd-17-2-0", "n1,n2", "LEFT IN",
        "lab does not answer", "placed", "clusters delft,lab", "a note",
    ):  # fmt: skip
        assert part in out
    assert "left out" not in out
    views.print_job({**JOB, "events_left_out": 70_000})
    assert (
        "70000 events between the first ones and the newest are left out."
        in capsys.readouterr().out
    )


def test_what_a_job_reads_and_where_that_lies(capsys: Out) -> None:
    files = [
        {"size": 20 * 10**9, "clusters": ["delft", "lab"]},
        {"size": 999_960, "clusters": ["lab"]},
    ]
    views.print_job({**JOB, "inputs": {"staged": 5, "files": files}})
    out = capsys.readouterr().out
    assert "20 GB in delft or lab, 1000 kB in lab, 5 B sent with it" in out
    views.print_job({**JOB, "inputs": None})
    assert "input" not in capsys.readouterr().out


def test_who_has_joined_it_and_what_it_joins(capsys: Out) -> None:
    joined = [
        {"job": 19, "state": "QUEUED", "cluster": None},
        {"job": 18, "state": "RUNNING", "cluster": "leiden"},
    ]
    views.print_job({**JOB, "joins": None, "joined_by": joined})
    out = capsys.readouterr().out
    assert "19 (QUEUED), 18 (RUNNING, leiden)" in out and "joins:" not in out
    views.print_job({**JOB, "joins": 12, "joined_by": []})
    out = capsys.readouterr().out
    assert "joins:" in out and "12" in out and "joined by" not in out


def test_a_time_to_come_is_told_as_such(capsys: Out) -> None:
    views.print_job({**JOB, "state": "QUEUED", "earliest_start": time.time() + 3630.0})
    assert "(in 1h00m)" in capsys.readouterr().out


def test_an_expected_start_is_an_interval(capsys: Out) -> None:
    now = time.time()
    start = {"earliest": now + 60, "likely": now + 630, "latest": now + 900, "confidence": 0.9}
    waits = {**JOB, "state": "QUEUED", "start_time": None, "earliest_start": now + 60}
    views.print_job({**waits, "expected_start": start})
    told = capsys.readouterr().out
    shown = table.interval(start["earliest"], start["latest"])
    assert f"{shown} (90% sure)" in told and "(in 10m)" in told
    views.print_queue([{**waits, "expected_start": start}, {**waits, "earliest_start": None}])
    known, unknown = capsys.readouterr().out.splitlines()[1:]
    assert shown in known and " to " not in unknown
    views.print_job({**waits, "earliest_start": None})
    assert "not known" in capsys.readouterr().out
    dry = {
        "queue": "global",
        "position": 0,
        "earliest_start": now + 60,
        "reason": "",
        "components": [],
    }
    views.print_plan({**dry, "starts_now": False, "expected_start": start})
    assert "90% sure" in capsys.readouterr().out
    views.print_plan({**dry, "starts_now": True, "expected_start": None})
    assert "not known" not in capsys.readouterr().out


def test_an_interval_is_short() -> None:
    day = time.mktime((2026, 5, 4, 14, 5, 7, 0, 0, -1))
    assert table.interval(day, day + 2100) == "2026-05-04 14:05 to 14:40"
    assert table.interval(day, day + 9) == "2026-05-04 14:05:07 to 14:05:16"
    assert table.interval(day, day + 86400) == "2026-05-04 14:05 to 2026-05-05 14:05"


def test_clusters_in_every_health(capsys: Out) -> None:
    cluster = {
        "name": "delft", "system": "slurm", "version": None, "processors": 144, "idle": None,
        "down": None, "claimed": 8, "others": None, "waiting": 2, "reachable": True, "fresh": False,
        "age_seconds": None, "error": "",
    }  # fmt: skip
    gone = {**cluster, "name": "leiden", "reachable": False, "age_seconds": 4000.0,
            "error": "silence"}  # fmt: skip
    views.print_clusters([cluster, gone])
    stale, unreachable = (line.split() for line in capsys.readouterr().out.splitlines()[1:])
    assert stale == ["delft", "slurm", "-", "144", "?", "?", "8", "?", "2", "stale", "-", "-"]
    assert unreachable[-3:] == ["unreachable", "1h06m", "silence"]


def test_an_empty_table_has_its_heads(capsys: Out) -> None:
    views.print_queue([])
    assert capsys.readouterr().out.startswith("JOB")


def test_a_table_fits_the_terminal_and_is_whole_elsewhere(
    capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [("x" * 200, "y" * 100, 1)]
    print_table(("A", "B", "N"), rows)
    assert "x" * 200 in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    print_table(("A", "B", "N"), rows)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" in lines[1]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"), (-5, "0s"), (0.4, "0s"), (99, "99s"), (100, "1m"), (3599, "59m"),
        (3600, "1h00m"), (86399, "23h59m"), (86400, "1d00h"), (10 * 86400 + 3700, "10d01h"),
    ],
)  # fmt: skip
def test_spans_of_time(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_a_long_list_in_json_is_one_document(capsys: Out) -> None:
    for pages in ([], [[JOB]], [[JOB], [JOB, JOB]], [[JOB], [JOB], [JOB]]):
        common.print_json_pages("jobs", iter(pages))
        jobs = json.loads(capsys.readouterr().out)["jobs"]
        assert jobs == [job for page in pages for job in page]


def test_a_long_table_is_printed_as_it_comes(capsys: Out) -> None:
    def rows() -> Iterator[tuple[int]]:
        for number in range(5000):
            if number == 4500:
                assert len(capsys.readouterr().out.splitlines()) == 4001
            yield (number,)

    print_table(("N",), rows(), right=("N",))
    assert capsys.readouterr().out.splitlines()[-1] == "4999"


def test_a_drained_cluster_and_one_that_will_be_under_maintenance(capsys: Out) -> None:
    drained = shapes.cluster(drained={"by": "root", "since": 1e9, "reason": "new cables"})
    cables = {"name": "cables", "start": 1e9, "end": 2e9, "processors": 8, "maintenance": True}
    views.print_clusters([drained, shapes.cluster("leiden", coming=[cables])])
    _heads, first, second = capsys.readouterr().out.splitlines()
    assert " drained " in first and "drained by root since" in first and "new cables" in first
    assert " ok " in second and "maintenance (reservation cables) from" in second
