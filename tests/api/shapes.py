"""Objects of the API's answers, as tests make them up."""

from __future__ import annotations

from metabroker.api.service import Json

NOW = 1_000_000.0


def cluster(name: str = "delft", **given: object) -> Json:
    return {
        "name": name,
        "system": "slurm",
        "version": "22.05.8",
        "processors": 144,
        "idle": 100,
        "down": 4,
        "others": 20,
        "claimed": 20,
        "waiting": 0,
        "reachable": True,
        "fresh": True,
        "age_seconds": 2.0,
        "error": "",
        "drained": None,
        **given,
    }


def part(index: int, state: str, **given: object) -> Json:
    return {
        "index": index,
        "cluster": "delft",
        "processors": 8,
        "state": state,
        "native_id": None,
        "reservation": None,
        "hosts": [],
        "detail": "",
        "start_time": None,
        "end_time": None,
        "exit_code": None,
        **given,
    }


def job(number: int, state: str, *parts: Json, **given: object) -> Json:
    return {
        "job": number,
        "name": "secret-project",
        "user": "anna",
        "uid": 1001,
        "state": state,
        "reason": "asks for 8 processors; idle: delft 0",
        "queue": "global",
        "position": 0,
        "earliest_start": None,
        "expected_start": None,
        "processors": sum(each["processors"] for each in parts),
        "time_limit": 600,
        "submit_time": NOW - 60,
        "start_time": None,
        "end_time": None,
        "exit_code": None,
        "attempts": 0,
        "components": list(parts),
        "submission_failures": 0,
        "completion_failures": 0,
        "left_behind": [],
        **given,
    }
