"""Things to write into a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metabroker.broker.job import Component, Job
from metabroker.broker.outbox import OutboxEntry, Ready
from metabroker.broker.states import JobState, Phase, Step
from metabroker.broker.tokens import Ref
from metabroker.policy import Request
from metabroker.store import Accepted, Transaction
from metabroker.store.rows import ClusterNames

NAMES = ClusterNames(["delft", "leiden", "lab"])


class Time:
    """The database's clock, in the hands of the test."""

    now = 1000.0

    def __call__(self, _connection: object) -> float:
        return self.now


def job(number: int, state: JobState = JobState.QUEUED, **given: Any) -> Job:
    """A job."""
    plain: dict[str, Any] = {
        "user": "anna",
        "name": "job",
        "request": Request((16, 8)),
        "time_limit": 600,
        "submit_time": 1000.0 + number,
        "queue": 3,
        "seq": number,
    }
    return Job(id=number, state=state, **(plain | given))


def component(job: int, index: int = 0, attempt: int = 1, **given: Any) -> Component:
    """A component that was placed, and is owed its submission."""
    plain: dict[str, Any] = {"cluster": index, "processors": 16, "reserves": True}
    made = Component(ref=Ref(job, attempt, index), **(plain | given))
    made.phase = given.get("phase", Phase.PLACED)
    made.step = given.get("step", Step.SUBMIT)
    return made


def accepted(job: int, request_id: str | None = None, user: str = "anna") -> Accepted:
    """A submission that has become a job."""
    spec: Mapping[str, Any] = {"chdir": f"/home/{user}", "args": ["a b", "'\n"]}
    return Accepted(job, user, request_id, b"#!/bin/sh\n\xff\0", spec)


def entry(job: int, what: str = "submitted", time: float = 1.0, **detail: Any) -> OutboxEntry:
    """A line of a job's history."""
    return OutboxEntry(time, job, 0, what, detail)


def batch(
    *jobs: Job,
    components: list[Component] | None = None,
    journal: list[OutboxEntry] | None = None,
    **others: Any,
) -> Transaction:
    """One transaction."""
    return Transaction(Ready(list(jobs), components or [], journal or [], []), **others)
