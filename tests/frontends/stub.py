"""A daemon that front ends ask in tests: it keeps what it was told, and tells given jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]
NOW = 1_700_000_000.0


def job(number: int, state: str = "RUNNING", **more: Any) -> Json:
    """A job as `GET /v1/records` tells it."""
    started = None if state in ("QUEUED", "HELD") else NOW - 90
    ended = NOW - 10 if state in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT") else None
    part = {"cluster": "delft", "hosts": ["n1", "n2"] if started else []}
    plain = {
        "job": number, "name": f"job{number}", "user": "anna", "state": state, "reason": "",
        "processors": 4, "shape": {}, "time_limit": 3600, "submit_time": NOW - 100,
        "start_time": started, "end_time": ended, "attempts": 1, "position": None,
        "completion_failures": 0, "submission_failures": 0,
        "plan": None, "expected_start": None, "earliest_start": None,
        "exit_code": 0 if state == "COMPLETED" else None, "components": [part],
        "spec": {"chdir": "/w", "output": None, "error": None, "script_name": "s", "asked": []},
    }  # fmt: skip
    return {**plain, **more}


NODES = [{"count": 4, "processors": 16, "memory": 65536, "gpus": 0}]
CLUSTERS = [
    {"name": "delft", "processors": 64, "idle": 64, "down": 0, "drained": None, "nodes": NODES},
    {"name": "lab", "processors": 8, "idle": None, "down": None, "drained": None,
     "nodes": [{"count": 1, "processors": 8, "memory": 1000, "gpus": 2}]},
]  # fmt: skip
NAMES: Json = {
    "partitions": [
        {"name": "batch", "clusters": ["delft", "lab"]}, {"name": "short", "clusters": ["delft"]}
    ],
    "accounts": ["chem", "phys"], "default_time": 3600, "max_time": None,
}  # fmt: skip


class StubClient:
    """In the place of `api.client.Client`."""

    def __init__(
        self, *jobs: Json, names: Json = NAMES, clusters: Sequence[Json] = CLUSTERS
    ) -> None:
        self.jobs = jobs
        self.clusters = clusters
        self.plan: Json = {}  # what a dry run answers
        self.names = names
        self.user = "anna"  # whom the daemon takes the caller for
        self.queries: list[Json] = []
        self.submitted: list[Json] = []
        self.changed: list[tuple[int | str, str]] = []

    def get(self, path: str, **query: Any) -> Json:
        """Jobs by their numbers, as the daemon chooses them; and its clusters and names."""
        if path == "whoami":
            return {"user": self.user, "uid": 1000, "token": None}
        self.queries.append(query)
        if path in ("clusters", "names"):
            return {"clusters": self.clusters, **self.names}
        wanted = query.get("jobs")
        numbers = None if wanted is None else {int(n) for n in wanted.split(",")}
        found = [
            j for j in self.jobs if numbers is None or {j["job"], j.get("array_job")} & numbers
        ]
        return {"jobs": found, "time": NOW, "partition": "batch", "instance": "abc"}

    def submit(self, wire: Mapping[str, Any]) -> Json:
        """The next job."""
        self.submitted.append(dict(wire))
        return {"job": 17, "state": "QUEUED"}

    def wait(self, job: int, _seen: Any, **_how: Any) -> Json:
        """The job, which has ended."""
        return next(each for each in self.jobs if each["job"] == job)

    def dry_run(self, _wire: Mapping[str, Any]) -> Json:
        """The plan."""
        return self.plan

    def change(self, job: int | str, verb: str, **body: int) -> Json:
        """What was asked is kept."""
        self.changed.append((job, f"{verb} {body}" if body else verb))
        return {}
