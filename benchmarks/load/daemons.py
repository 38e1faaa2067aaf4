"""What the parts have in common: daemons, submissions, and whether a job was lost."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.federation import Federation, serving
from benchmarks.measures import free_port
from metabroker.api.client import Client
from metabroker.submission.model import Processors

Json = dict[str, Any]
SCRIPT = "#!/bin/sh\ntrue\n"
TAKEN = "c00"  # where jobs wait for the one that runs there
_FREE: Json = {"requests": None, "submissions": None}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A daemon, and the address of its metrics."""

    federation: Federation
    metrics: str

    @property
    def socket(self) -> str:
        return str(self.federation.folder / "metabroker.sock")

    def wire(self, request: str, processors: Processors | None = None, **more: Any) -> Json:
        """A submission with this request id."""
        asked = processors or Processors(single=1, cluster=TAKEN)
        more = {"time_limit": 36_000, "output": "/dev/null", **more}
        return self.federation.submission(SCRIPT, asked, request_id=request, **more)

    def lost(self, jobs: Mapping[str, int]) -> Json:
        """Held against what the daemon knows: nothing may be lost, nothing there twice."""
        client = self.federation.client
        known = {job["job"] for job in client.get("jobs")["jobs"]}
        known |= {job["job"] for job in ended(client)}
        return {
            "acknowledged": len(jobs),
            "lost": len(set(jobs.values()) - known),
            "two_requests_one_job": len(jobs) - len(set(jobs.values())),
            "jobs_nobody_asked_for": len(known - set(jobs.values())),
        }


def ended(client: Client) -> Iterator[Json]:
    """All jobs that have ended."""
    return (job for answer in client.history(limit="all") for job in answer["jobs"])


@contextlib.contextmanager
def loaded(clusters: Json, **config: Any) -> Iterator[Loaded]:
    """A daemon over these clusters, without limits unless they are given."""
    metrics = f"127.0.0.1:{free_port()}"
    with serving(
        {"metrics": metrics, "policy": "GS", "rates": _FREE, "clusters": clusters, **config}
    ) as federation:
        yield Loaded(federation, metrics)


def small(number: int, **more: Any) -> Json:
    """So many simulated clusters of one processor, on which jobs take their whole time limit."""
    cluster = {"system": "simulated", "processors": 1, "run": False, **more}
    return {f"c{index:02d}": cluster for index in range(number)}


def occupied(where: Loaded) -> dict[str, int]:
    """A job in the cluster `TAKEN` that stays: whatever asks for that cluster later waits."""
    wire = where.wire("stays")
    return {"stays": int(where.federation.client.submit(wire)["job"])}
